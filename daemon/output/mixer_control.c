/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixer_control.c - the one control of ALSA's mixer that is the volume.
 *
 * Its volumes are steps, of which each has a level in hundredths of a decibel:
 * as the card tells, or, where it tells nothing, spread evenly over the 50 dB
 * that a volume in percent has. The full level, top, is 0 dB or what is the
 * most; a gain is the step whose level is nearest.
 *
 * ALSA's descriptors tell once (EPOLLONESHOT) and are set up anew when the
 * events have been taken, so that control, which sees them, need not call ALSA
 * to make them quiet. */
#include "daemon/output/mixer_control.h"

#include "daemon/output/alsa_setup.h"
#include "lib/base/text.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	DEVICE_BYTES = 128,
	NAME_BYTES = 256,
	DESCRIPTORS_MAX = 8,
	SPREAD_CDB = 5000,
	/* No gain is as low as this. */
	SILENT_CDB = -20000,
};

struct mixer_control {
	snd_mixer_t *mixer;
	snd_mixer_elem_t *element;
	int epoll_fd;
	long least, most; /* steps */
	bool has_levels;
	long top_cdb;
	char name[NAME_BYTES];
};

void
mixer_device_of(const char *pcm, char *ret_device, size_t size)
{
	char card[DEVICE_BYTES] = "";
	const char *at = strchr(pcm, ':');
	int index;

	snprintf(ret_device, size, "default");
	if (at == NULL)
		return;
	at++;
	if (strncmp(at, "CARD=", 5) == 0)
		at += 5;
	snprintf(card, sizeof(card), "%.*s", (int)strcspn(at, ","), at);
	index = snd_card_get_index(card);
	if (index >= 0)
		snprintf(ret_device, size, "hw:%d", index);
}

/* Finding it. */

static bool
is_volume(snd_mixer_elem_t *element)
{
	return snd_mixer_selem_is_active(element) &&
	       snd_mixer_selem_has_playback_volume(element);
}

static snd_mixer_elem_t *
find_named(snd_mixer_t *mixer, const char *name, unsigned index)
{
	snd_mixer_elem_t *i;

	for (i = snd_mixer_first_elem(mixer); i != NULL;
	     i = snd_mixer_elem_next(i))
		if (is_volume(i) && snd_mixer_selem_get_index(i) == index &&
		    strcmp(snd_mixer_selem_get_name(i), name) == 0)
			return i;
	return NULL;
}

static snd_mixer_elem_t *
find_wanted(snd_mixer_t *mixer, const char *wanted)
{
	char name[NAME_BYTES];
	const char *comma = strrchr(wanted, ',');
	snd_mixer_elem_t *found = find_named(mixer, wanted, 0);
	char *end = NULL;
	unsigned long index;

	if (found != NULL || comma == NULL || comma[1] == '\0')
		return found;
	index = strtoul(comma + 1, &end, 10);
	if (*end != '\0' || index > UINT16_MAX)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(comma - wanted), wanted);
	return find_named(mixer, name, (unsigned)index);
}

static snd_mixer_elem_t *
find_usual(snd_mixer_t *mixer)
{
	static const char *const usual[] = {"Master", "PCM", "Speaker",
					    "Headphone", "Digital"};
	snd_mixer_elem_t *found = NULL;
	size_t i;

	for (i = 0; found == NULL && i < sizeof(usual) / sizeof(usual[0]); i++)
		found = find_named(mixer, usual[i], 0);
	return found;
}

/* What there is instead, so that a user can choose. */
static void
add_names(snd_mixer_t *mixer, struct text *text)
{
	const char *before = "; there is ";
	snd_mixer_elem_t *i;

	for (i = snd_mixer_first_elem(mixer); i != NULL;
	     i = snd_mixer_elem_next(i)) {
		const unsigned index = snd_mixer_selem_get_index(i);

		if (!is_volume(i))
			continue;
		text_printf(text, "%s\"%s", before,
			    snd_mixer_selem_get_name(i));
		if (index > 0)
			text_printf(text, ",%u", index);
		text_add(text, "\"");
		before = ", ";
	}
	if (before[0] == ';')
		text_add(text, "; it has none at all");
}

/* Levels. */

static void
find_range(struct mixer_control *control)
{
	long least_cdb = 0, most_cdb = 0;

	snd_mixer_selem_get_playback_volume_range(
		control->element, &control->least, &control->most);
	control->has_levels =
		snd_mixer_selem_get_playback_dB_range(
			control->element, &least_cdb, &most_cdb) == 0 &&
		least_cdb < most_cdb;
	control->top_cdb = control->has_levels && most_cdb < 0 ? most_cdb : 0;
}

static int
level_of(const struct mixer_control *control, long step, long *ret_cdb)
{
	const long steps = control->most - control->least;

	if (control->has_levels)
		return snd_mixer_selem_ask_playback_vol_dB(control->element,
							   step, ret_cdb);
	*ret_cdb = steps > 0 ? (step - control->most) * SPREAD_CDB / steps : 0;
	return 0;
}

/* Levels rise with their steps. */
static int
find_step(const struct mixer_control *control, long wanted_cdb, long *ret_step)
{
	long low = control->least, high = control->most;
	long below_cdb = 0, above_cdb = 0;
	int error = 0;

	while (high - low > 1 && error >= 0) {
		const long middle = low + (high - low) / 2;
		long cdb = 0;

		error = level_of(control, middle, &cdb);
		if (cdb <= wanted_cdb)
			low = middle;
		else
			high = middle;
	}
	if (error >= 0)
		error = level_of(control, low, &below_cdb);
	if (error >= 0)
		error = level_of(control, high, &above_cdb);
	if (error >= 0)
		*ret_step = wanted_cdb - below_cdb <= above_cdb - wanted_cdb
				    ? low
				    : high;
	return error;
}

/* Descriptors. */

void
mixer_control_listen(struct mixer_control *control)
{
	struct pollfd fds[DESCRIPTORS_MAX];
	const int count = snd_mixer_poll_descriptors(control->mixer, fds,
						     DESCRIPTORS_MAX);
	int i;

	for (i = 0; i < count && i < DESCRIPTORS_MAX; i++) {
		struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT,
					    .data.fd = fds[i].fd};

		/* One that cannot be waited for tells nothing, no more. */
		if (epoll_ctl(control->epoll_fd, EPOLL_CTL_MOD, fds[i].fd,
			      &event) < 0 &&
		    errno == ENOENT)
			(void)epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD,
					fds[i].fd, &event);
	}
}

/* Opening and closing. */

static int
on_element(snd_mixer_elem_t *element, unsigned mask)
{
	struct mixer_control *control =
		snd_mixer_elem_get_callback_private(element);

	if (mask == SND_CTL_EVENT_MASK_REMOVE)
		control->element = NULL;
	return 0;
}

static int
open_mixer(struct mixer_control *control, const char *device)
{
	int error = snd_mixer_open(&control->mixer, 0);

	if (error >= 0)
		error = snd_mixer_attach(control->mixer, device);
	if (error >= 0)
		error = snd_mixer_selem_register(control->mixer, NULL, NULL);
	if (error >= 0)
		error = snd_mixer_load(control->mixer);
	return error;
}

static int
choose(struct mixer_control *control, const struct mixer_config *config,
       const char *device, struct text *ret_error)
{
	control->element =
		config->control != NULL
			? find_wanted(control->mixer, config->control)
			: find_usual(control->mixer);
	if (control->element != NULL) {
		snd_mixer_elem_set_callback(control->element, on_element);
		snd_mixer_elem_set_callback_private(control->element, control);
		find_range(control);
		snprintf(control->name, sizeof(control->name), "%s %s", device,
			 snd_mixer_selem_get_name(control->element));
		return 0;
	}
	if (config->control != NULL)
		text_printf(ret_error,
			    "the mixer of %s has no volume control \"%s\"",
			    device, config->control);
	else
		text_printf(ret_error,
			    "the mixer of %s has none of the usual volume "
			    "controls",
			    device);
	add_names(control->mixer, ret_error);
	return -ENOENT;
}

int
mixer_control_open(const struct mixer_config *config, int epoll_fd,
		   struct mixer_control **ret_control, struct text *ret_error)
{
	char device[DEVICE_BYTES];
	struct mixer_control *control = NULL;
	int error = 0;

	if (config->device != NULL) {
		snprintf(device, sizeof(device), "%s", config->device);
	} else if (config->pcm != NULL) {
		mixer_device_of(config->pcm, device, sizeof(device));
	} else {
		text_add(ret_error, "the output is no sound card, and "
				    "mixer_device names none");
		return -ENODEV;
	}
	control = calloc(1, sizeof(*control));
	if (control == NULL)
		return -ENOMEM;
	control->epoll_fd = epoll_fd;
	alsa_silence();
	error = open_mixer(control, device);
	if (error < 0)
		text_printf(ret_error, "the mixer of %s cannot be opened: %s",
			    device, snd_strerror(error));
	else
		error = choose(control, config, device, ret_error);
	if (error < 0) {
		mixer_control_close(control);
		return error;
	}
	mixer_control_listen(control);
	*ret_control = control;
	return 0;
}

void
mixer_control_close(struct mixer_control *control)
{
	if (control == NULL)
		return;
	if (control->mixer != NULL)
		snd_mixer_close(control->mixer);
	free(control);
}

const char *
mixer_control_name(const struct mixer_control *control)
{
	return control->name;
}

/* Its value. */

/* What ALSA remembers of it is what is true now. */
static int
catch_up(struct mixer_control *control)
{
	const int error = snd_mixer_handle_events(control->mixer);

	if (error >= 0 && control->element == NULL)
		return -ENODEV;
	return error;
}

int
mixer_control_write(struct mixer_control *control, float gain)
{
	const bool silent = !(gain > 0.0F);
	long step = control->least;
	int error = catch_up(control);

	if (error >= 0 && !silent) {
		const double cdb = 2000.0 * log10((double)gain);

		error = find_step(control,
				  control->top_cdb + (cdb < SILENT_CDB
							      ? SILENT_CDB
							      : lround(cdb)),
				  &step);
	}
	if (error >= 0)
		error = snd_mixer_selem_set_playback_volume_all(
			control->element, step);
	/* The switch is the last to be opened, and nothing is heard of the
	 * volume's way up. */
	if (error >= 0 && snd_mixer_selem_has_playback_switch(control->element))
		error = snd_mixer_selem_set_playback_switch_all(
			control->element, !silent);
	return error;
}

/* The loudest channel that is not muted. */
int
mixer_control_read(struct mixer_control *control, float *ret_gain)
{
	bool heard = false, has_switch = false;
	long most = control->least, level_cdb = 0;
	int channel, error = catch_up(control);

	if (error >= 0)
		has_switch =
			snd_mixer_selem_has_playback_switch(control->element);
	for (channel = 0; error >= 0 && channel <= SND_MIXER_SCHN_LAST;
	     channel++) {
		const snd_mixer_selem_channel_id_t id =
			(snd_mixer_selem_channel_id_t)channel;
		int on = 1;
		long step = 0;

		if (!snd_mixer_selem_has_playback_channel(control->element, id))
			continue;
		error = snd_mixer_selem_get_playback_volume(control->element,
							    id, &step);
		if (error >= 0 && has_switch)
			error = snd_mixer_selem_get_playback_switch(
				control->element, id, &on);
		heard = heard || on != 0;
		if (on != 0 && step > most)
			most = step;
	}
	if (error >= 0)
		error = level_of(control, most, &level_cdb);
	if (error < 0)
		return error;
	*ret_gain = heard && level_cdb - control->top_cdb > SILENT_CDB
			    ? (float)pow(10.0, (double)(level_cdb -
							control->top_cdb) /
						       2000.0)
			    : 0.0F;
	return 0;
}

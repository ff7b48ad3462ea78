/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixer.c - the mixer of the test card, used through the real alsa-lib: device
 * "rotarytest" with ALSA_CONFIG_PATH=BUILD/tests/kit/card/asound.conf.
 *
 * It has one control, a stereo volume of 65 steps of 1 dB from -64 dB to 0 and
 * a switch. Its memory is a file, which tests read and write, as two programs
 * share the memory of a card:
 *
 *	DIR/mixer	 "LEFT RIGHT ON ON"; replaced, never written in place
 *	DIR/mixer.log	 for each write by a program "SECONDS" of monotonic time
 *			 and the same
 *	DIR/mixer.fault	 "gone": unplugged; "block": a write hangs until this
 *			 file is another one
 *
 * DIR is $ROTARY_TEST_CARD_DIR, the control's name $ROTARY_TEST_MIXER_CONTROL
 * or Master, its top $ROTARY_TEST_MIXER_TOP_DB or 0. Whatever happens to the
 * file is an event, also to who did it. */
#include <alsa/asoundlib.h>
#include <alsa/control_external.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

enum { VOLUME, SWITCH, ELEMENTS };
enum { CHANNELS = 2, STEPS = 64, PATH_BYTES = 512, NAME_BYTES = 44 };

struct mixer {
	snd_ctl_ext_t ext;
	char dir[PATH_BYTES];
	char names[ELEMENTS][NAME_BYTES];
	unsigned int tlv[4];
	long told[ELEMENTS][CHANNELS]; /* the last that events told of */
	unsigned pending;              /* events, a bit for each element */
};

static FILE *
open_file(const struct mixer *mixer, const char *name, const char *mode)
{
	char path[PATH_BYTES + 32];

	snprintf(path, sizeof path, "%s/%s", mixer->dir, name);
	return fopen(path, mode);
}

static int
has_fault(const struct mixer *mixer, const char *wanted)
{
	char word[16] = "";
	FILE *file = open_file(mixer, "mixer.fault", "re");

	if (file == NULL)
		return 0;
	if (fscanf(file, "%15s", word) != 1)
		word[0] = '\0';
	fclose(file);
	return strcmp(word, wanted) == 0;
}

/* A file that is not there is a card as it is when new: full and on. */
static void
recall(const struct mixer *mixer, long values[ELEMENTS][CHANNELS])
{
	FILE *file = open_file(mixer, "mixer", "re");
	int got = 0;

	if (file != NULL) {
		got = fscanf(file, "%ld %ld %ld %ld", &values[VOLUME][0],
			     &values[VOLUME][1], &values[SWITCH][0],
			     &values[SWITCH][1]);
		fclose(file);
	}
	if (got == ELEMENTS * CHANNELS)
		return;
	values[VOLUME][0] = values[VOLUME][1] = STEPS;
	values[SWITCH][0] = values[SWITCH][1] = 1;
}

static void
print(FILE *file, long values[ELEMENTS][CHANNELS])
{
	fprintf(file, "%ld %ld %ld %ld\n", values[VOLUME][0], values[VOLUME][1],
		values[SWITCH][0], values[SWITCH][1]);
}

static int
keep(const struct mixer *mixer, long values[ELEMENTS][CHANNELS])
{
	char from[PATH_BYTES + 32], to[PATH_BYTES + 32];
	FILE *file = open_file(mixer, "mixer.log", "ae");
	struct timespec now;

	if (file == NULL)
		return -EIO;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(file, "%lld.%09ld ", (long long)now.tv_sec, now.tv_nsec);
	print(file, values);
	fclose(file);
	file = open_file(mixer, "mixer.new", "we");
	if (file == NULL)
		return -EIO;
	print(file, values);
	fclose(file);
	snprintf(from, sizeof from, "%s/mixer.new", mixer->dir);
	snprintf(to, sizeof to, "%s/mixer", mixer->dir);
	return rename(from, to) < 0 ? -errno : 0;
}

/* What alsa-lib asks. */

static void
mixer_close(snd_ctl_ext_t *ext)
{
	struct mixer *mixer = ext->private_data;

	close(ext->poll_fd);
	free(mixer);
}

static int
count_elements(snd_ctl_ext_t *ext)
{
	(void)ext;
	return ELEMENTS;
}

static int
list_element(snd_ctl_ext_t *ext, unsigned int offset, snd_ctl_elem_id_t *id)
{
	const struct mixer *mixer = ext->private_data;

	snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_MIXER);
	snd_ctl_elem_id_set_name(id, mixer->names[offset]);
	return 0;
}

static snd_ctl_ext_key_t
find_element(snd_ctl_ext_t *ext, const snd_ctl_elem_id_t *id)
{
	const struct mixer *mixer = ext->private_data;

	for (snd_ctl_ext_key_t i = 0; i < ELEMENTS; i++)
		if (!strcmp(snd_ctl_elem_id_get_name(id), mixer->names[i]))
			return i;
	return SND_CTL_EXT_KEY_NOT_FOUND;
}

static int
tell_kind(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, int *type,
	  unsigned int *access, unsigned int *count)
{
	(void)ext;
	*type = key == VOLUME ? SND_CTL_ELEM_TYPE_INTEGER
			      : SND_CTL_ELEM_TYPE_BOOLEAN;
	*access = SND_CTL_EXT_ACCESS_READWRITE;
	if (key == VOLUME)
		*access |= SND_CTL_EXT_ACCESS_TLV_READ;
	*count = CHANNELS;
	return 0;
}

static int
tell_range(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *least, long *most,
	   long *step)
{
	(void)ext;
	*least = 0;
	*most = key == VOLUME ? STEPS : 1;
	*step = 0;
	return 0;
}

static int
tell_value(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *value)
{
	const struct mixer *mixer = ext->private_data;
	long values[ELEMENTS][CHANNELS];

	if (has_fault(mixer, "gone"))
		return -ENODEV;
	recall(mixer, values);
	memcpy(value, values[key], sizeof values[key]);
	return 0;
}

static int
take_value(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *value)
{
	const struct mixer *mixer = ext->private_data;
	long values[ELEMENTS][CHANNELS];

	while (has_fault(mixer, "block"))
		usleep(1000);
	if (has_fault(mixer, "gone"))
		return -ENODEV;
	recall(mixer, values);
	if (!memcmp(value, values[key], sizeof values[key]))
		return 0;
	memcpy(values[key], value, sizeof values[key]);
	return keep(mixer, values) < 0 ? -EIO : 1;
}

static void
subscribe(snd_ctl_ext_t *ext, int subscribed)
{
	(void)ext;
	(void)subscribed;
}

/* Compares the file with what was told, since inotify tells less. */
static int
next_event(snd_ctl_ext_t *ext, snd_ctl_elem_id_t *id, unsigned int *mask)
{
	struct mixer *mixer = ext->private_data;
	char notices[1024];
	long values[ELEMENTS][CHANNELS];

	while (read(ext->poll_fd, notices, sizeof notices) > 0)
		continue;
	if (has_fault(mixer, "gone"))
		return -ENODEV;
	recall(mixer, values);
	for (unsigned i = 0; i < ELEMENTS; i++)
		if (memcmp(values[i], mixer->told[i], sizeof values[i]) != 0)
			mixer->pending |= 1U << i;
	memcpy(mixer->told, values, sizeof values);
	for (unsigned i = 0; i < ELEMENTS; i++) {
		if (!(mixer->pending & 1U << i))
			continue;
		mixer->pending &= ~(1U << i);
		list_element(ext, i, id);
		*mask = SND_CTL_EVENT_MASK_VALUE;
		return 1;
	}
	return -EAGAIN;
}

static const snd_ctl_ext_callback_t callbacks = {
	.close = mixer_close,
	.elem_count = count_elements,
	.elem_list = list_element,
	.find_elem = find_element,
	.get_attribute = tell_kind,
	.get_integer_info = tell_range,
	.read_integer = tell_value,
	.write_integer = take_value,
	.subscribe_events = subscribe,
	.read_event = next_event,
};

static const char *
environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && value[0] ? value : otherwise;
}

static void
set_up(struct mixer *mixer)
{
	const char *control =
		environment("ROTARY_TEST_MIXER_CONTROL", "Master");
	const int top_db = atoi(environment("ROTARY_TEST_MIXER_TOP_DB", "0"));

	snprintf(mixer->names[VOLUME], NAME_BYTES, "%.20s Playback Volume",
		 control);
	snprintf(mixer->names[SWITCH], NAME_BYTES, "%.20s Playback Switch",
		 control);
	mixer->tlv[0] = SND_CTL_TLVT_DB_SCALE;
	mixer->tlv[1] = 2 * sizeof mixer->tlv[0];
	mixer->tlv[2] = (unsigned)((top_db - STEPS) * 100);
	mixer->tlv[3] = 100;
	mixer->ext.version = SND_CTL_EXT_VERSION;
	strcpy(mixer->ext.id, "RotaryTest");
	strcpy(mixer->ext.driver, "rotarytest");
	strcpy(mixer->ext.name, "Rotary's test card");
	strcpy(mixer->ext.longname, "Rotary's test card");
	strcpy(mixer->ext.mixername, "Rotary's test mixer");
	mixer->ext.callback = &callbacks;
	mixer->ext.private_data = mixer;
	mixer->ext.tlv.p = mixer->tlv;
	recall(mixer, mixer->told);
}

#pragma GCC visibility push(default)
SND_CTL_PLUGIN_DEFINE_FUNC(rotarytest);

SND_CTL_PLUGIN_DEFINE_FUNC(rotarytest)
{
	struct mixer *mixer = calloc(1, sizeof *mixer);
	int error;

	(void)root;
	(void)conf;
	if (mixer == NULL)
		return -ENOMEM;
	snprintf(mixer->dir, sizeof mixer->dir, "%s",
		 environment("ROTARY_TEST_CARD_DIR", "/nonexistent"));
	mixer->ext.poll_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (has_fault(mixer, "gone"))
		error = -ENODEV;
	else if (inotify_add_watch(mixer->ext.poll_fd, mixer->dir,
				   IN_MOVED_TO) < 0)
		error = -errno;
	else {
		set_up(mixer);
		error = snd_ctl_ext_create(&mixer->ext, name, mode);
	}
	if (error < 0) {
		close(mixer->ext.poll_fd);
		free(mixer);
		return error;
	}
	*handlep = mixer->ext.handle;
	return 0;
}

SND_CTL_PLUGIN_SYMBOL(rotarytest)
#pragma GCC visibility pop

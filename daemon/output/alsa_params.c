/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alsa_params.c - from what is wanted to what the card takes.
 *
 * The order of the choices is the order of what is heard: format (the best
 * that the card has; floats only for a float source), channels (the file's,
 * else the fewest above, else the most below), rate (the file's, else the
 * nearest), then buffer and period. A card that plays old samples after a
 * rewind gets a short buffer, since there a command is heard only when the
 * buffer has been played.
 *
 * The card is started by us alone, stops when it has run dry, and is never
 * filled with silence by the library. */
#include "daemon/output/alsa_setup.h"

#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

/* What a command waits for on a card that gives nothing back is less than
 * 100 ms; on one that moves in periods, two of them. */
enum {
	BUFFER_MS_WITHOUT_REWIND = 95,
	BATCH_PERIOD_MS = 10,
	PERIODS_MIN = 4,
};

static const snd_pcm_format_t alsa_formats[CARD_FORMAT_COUNT] = {
	[CARD_S16] = SND_PCM_FORMAT_S16_LE,
	[CARD_S24] = SND_PCM_FORMAT_S24_LE,
	[CARD_S24_3] = SND_PCM_FORMAT_S24_3LE,
	[CARD_S32] = SND_PCM_FORMAT_S32_LE,
	[CARD_F32] = SND_PCM_FORMAT_FLOAT_LE,
};

static const enum card_format for_integers[CARD_FORMAT_COUNT] = {
	CARD_S32, CARD_S24, CARD_S24_3, CARD_S16, CARD_F32};
static const enum card_format for_floats[CARD_FORMAT_COUNT] = {
	CARD_F32, CARD_S32, CARD_S24, CARD_S24_3, CARD_S16};

/* What the steps below share. */
struct setup {
	snd_pcm_t *pcm;
	snd_pcm_hw_params_t *params;
	const struct card_request *request;
	struct card_info *info;
	struct text *reason;
};

static int
choose_access(struct setup *setup, bool *ret_mmap)
{
	int error = snd_pcm_hw_params_set_access(
		setup->pcm, setup->params, SND_PCM_ACCESS_MMAP_INTERLEAVED);

	*ret_mmap = error == 0;
	if (error < 0)
		error = snd_pcm_hw_params_set_access(
			setup->pcm, setup->params,
			SND_PCM_ACCESS_RW_INTERLEAVED);
	if (error < 0)
		text_add(setup->reason, "it takes no interleaved samples");
	return error;
}

static int
choose_format(struct setup *setup)
{
	const enum card_format *const order =
		setup->request->spec.kind == SAMPLE_F32 ? for_floats
							: for_integers;

	for (unsigned i = 0; i < CARD_FORMAT_COUNT; i++) {
		if (snd_pcm_hw_params_set_format(setup->pcm, setup->params,
						 alsa_formats[order[i]]) < 0)
			continue;
		setup->info->spec.format = order[i];
		return 0;
	}
	text_add(setup->reason, "it takes none of our sample formats");
	return -EINVAL;
}

static bool
try_channels(struct setup *setup, uint32_t channels)
{
	if (snd_pcm_hw_params_set_channels(setup->pcm, setup->params,
					   channels) < 0)
		return false;
	setup->info->spec.channels = channels;
	return true;
}

static int
choose_channels(struct setup *setup)
{
	const uint32_t wanted = setup->request->spec.channels;
	uint32_t channels = 0;

	for (channels = wanted; channels <= AUDIO_CHANNELS_MAX; channels++) {
		if (try_channels(setup, channels))
			return 0;
	}
	for (channels = wanted - 1; channels > 0; channels--) {
		if (try_channels(setup, channels))
			return 0;
	}
	text_printf(setup->reason, "it takes no %u channels", wanted);
	return -EINVAL;
}

static int
choose_rate(struct setup *setup)
{
	unsigned rate_hz = setup->request->spec.rate_hz;
	int error = snd_pcm_hw_params_set_rate_resample(setup->pcm,
							setup->params, 0);

	/* What a plug-in would make of another rate, the lane makes better. */
	if (error < 0)
		return error;
	error = snd_pcm_hw_params_set_rate_near(setup->pcm, setup->params,
						&rate_hz, NULL);
	if (error < 0)
		text_printf(setup->reason, "it takes no rate near %u Hz",
			    setup->request->spec.rate_hz);
	setup->info->spec.rate_hz = rate_hz;
	return error;
}

/* An io plug-in takes a rewind and plays the old samples all the same. Of a
 * plug it shows only once it is set up what stands behind it. */
static bool
trusted_to_rewind(const struct setup *setup)
{
	if (setup->request->rewind >= 0)
		return setup->request->rewind > 0;
	switch (snd_pcm_type(setup->pcm)) {
	case SND_PCM_TYPE_DMIX:
	case SND_PCM_TYPE_HW:
	case SND_PCM_TYPE_PLUG:
		return true;
	default:
		return false;
	}
}

/* By the library's own description: a plug that converts nothing, in front of
 * hardware or dmix. */
static bool
is_plain_plug(snd_pcm_t *pcm)
{
	static const char plug[] = "Plug PCM: ";
	char *text = NULL;
	snd_output_t *output = NULL;
	bool plain = false;
	size_t length = 0;

	if (snd_output_buffer_open(&output) < 0)
		return false;
	if (snd_pcm_dump(pcm, output) == 0) {
		length = snd_output_buffer_string(output, &text);
		while (length > strlen(plug) &&
		       strncmp(text, plug, strlen(plug)) == 0) {
			text += strlen(plug);
			length -= strlen(plug);
		}
		plain = length > 24 &&
			(strncmp(text, "Hardware PCM", 12) == 0 ||
			 strncmp(text, "Direct Stream Mixing PCM", 24) == 0);
	}
	snd_output_close(output);
	return plain;
}

static int
choose_buffer(struct setup *setup)
{
	const uint64_t rate_hz = setup->info->spec.rate_hz;
	uint32_t buffer_ms = setup->request->buffer_ms;
	uint32_t period_ms = setup->request->period_ms;
	snd_pcm_uframes_t buffer = 0, period = 0;
	int error = 0;

	setup->info->batch = snd_pcm_hw_params_is_batch(setup->params) == 1;
	setup->info->can_rewind = trusted_to_rewind(setup);
	if (!setup->info->can_rewind && buffer_ms > BUFFER_MS_WITHOUT_REWIND)
		buffer_ms = BUFFER_MS_WITHOUT_REWIND;
	if (setup->info->batch && period_ms > BATCH_PERIOD_MS)
		period_ms = BATCH_PERIOD_MS;
	buffer = rate_hz * buffer_ms / 1000;
	period = rate_hz * period_ms / 1000;
	if (period > buffer / PERIODS_MIN)
		period = buffer / PERIODS_MIN;
	error = snd_pcm_hw_params_set_buffer_size_near(setup->pcm,
						       setup->params, &buffer);
	if (error == 0)
		error = snd_pcm_hw_params_set_period_size_near(
			setup->pcm, setup->params, &period, NULL);
	if (error == 0)
		error = snd_pcm_hw_params(setup->pcm, setup->params);
	if (error < 0)
		text_printf(setup->reason, "it takes no buffer near %u ms",
			    buffer_ms);
	return error;
}

static uint32_t
significant_bits(const struct setup *setup)
{
	const int bits = snd_pcm_hw_params_get_sbits(setup->params);

	switch (setup->info->spec.format) {
	case CARD_S16:
		return 16;
	case CARD_S24:
	case CARD_S24_3:
		return 24;
	default:
		return bits > 0 && bits <= 24 ? 24 : 32;
	}
}

static int
read_back(struct setup *setup)
{
	snd_pcm_uframes_t buffer = 0, period = 0;
	int error = snd_pcm_get_params(setup->pcm, &buffer, &period);

	if (error < 0)
		return error;
	setup->info->buffer_frames = (uint32_t)buffer;
	setup->info->period_frames = (uint32_t)period;
	setup->info->spec.bits = significant_bits(setup);
	setup->info->sealable =
		snd_pcm_type(setup->pcm) == SND_PCM_TYPE_HW ||
		strncmp(snd_pcm_name(setup->pcm), "rotarytest", 10) == 0;
	setup->info->greedy = !setup->info->sealable;
	/* Or it takes nothing of too little, and the end would not be heard. */
	setup->info->pad_frames = setup->info->greedy
					  ? setup->info->buffer_frames
					  : (uint32_t)(2 * period);
	return 0;
}

static int
set_software(const struct setup *setup)
{
	const snd_pcm_uframes_t buffer = setup->info->buffer_frames;
	snd_pcm_sw_params_t *params = NULL;
	snd_pcm_uframes_t boundary = 0;
	int error = snd_pcm_sw_params_malloc(&params);

	if (error < 0)
		return error;
	error = snd_pcm_sw_params_current(setup->pcm, params);
	if (error == 0)
		error = snd_pcm_sw_params_get_boundary(params, &boundary);
	if (error == 0)
		error = snd_pcm_sw_params_set_start_threshold(setup->pcm,
							      params, boundary);
	if (error == 0)
		error = snd_pcm_sw_params_set_stop_threshold(setup->pcm, params,
							     buffer);
	if (error == 0)
		error = snd_pcm_sw_params_set_silence_size(setup->pcm, params,
							   0);
	/* The kernel shall not wake us each period: the clock does. */
	if (error == 0)
		error = snd_pcm_sw_params_set_avail_min(setup->pcm, params,
							buffer);
	if (error == 0)
		error = snd_pcm_sw_params_set_tstamp_mode(
			setup->pcm, params, SND_PCM_TSTAMP_ENABLE);
	/* Not every plug-in has another clock to offer. */
	if (error == 0)
		(void)snd_pcm_sw_params_set_tstamp_type(
			setup->pcm, params, SND_PCM_TSTAMP_TYPE_MONOTONIC);
	if (error == 0)
		error = snd_pcm_sw_params(setup->pcm, params);
	snd_pcm_sw_params_free(params);
	return error;
}

static int
set_once(snd_pcm_t *pcm, const struct card_request *request,
	 struct card_info *ret_info, bool *ret_mmap, struct text *ret_reason)
{
	struct setup setup = {.pcm = pcm,
			      .request = request,
			      .info = ret_info,
			      .reason = ret_reason};
	int error = snd_pcm_hw_params_malloc(&setup.params);

	if (error < 0)
		return error;
	error = snd_pcm_hw_params_any(pcm, setup.params);
	if (error < 0)
		text_add(ret_reason, "it has no configuration");
	else
		error = choose_access(&setup, ret_mmap);
	if (error >= 0)
		error = choose_format(&setup);
	if (error >= 0)
		error = choose_channels(&setup);
	if (error >= 0)
		error = choose_rate(&setup);
	if (error >= 0)
		error = choose_buffer(&setup);
	if (error >= 0)
		error = read_back(&setup);
	if (error >= 0)
		error = set_software(&setup);
	snd_pcm_hw_params_free(setup.params);
	return error < 0 ? error : 0;
}

int
alsa_params_set(snd_pcm_t *pcm, const struct card_request *request,
		struct card_info *ret_info, bool *ret_mmap,
		struct text *ret_reason)
{
	struct card_request again = *request;
	const int error =
		set_once(pcm, request, ret_info, ret_mmap, ret_reason);

	if (error < 0 || request->rewind >= 0 ||
	    snd_pcm_type(pcm) != SND_PCM_TYPE_PLUG || is_plain_plug(pcm))
		return error;
	again.rewind = 0;
	return set_once(pcm, &again, ret_info, ret_mmap, ret_reason);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resample.c - libsoxr in its HQ recipe (linear phase, 20 bits), fed in pieces.
 *
 * libsoxr takes memory while its buffers grow to what is asked of it, and only
 * then. So a new resampler is run over silence first, on the worker that made
 * it: a whole number of periods of the two rates, so that the frames of silence
 * that come out are a whole number as well. Those that have not come out yet
 * (the filter's delay) are dropped from the front of the first real output.
 *
 *   given <= taken * out / in;   after flush: given = round(taken * out / in)
 *
 * libsoxr ends a flush within a frame or two of that; the difference is cut
 * off, or filled with silence. */
#include "daemon/audio/resample.h"

#include "daemon/audio/format.h"
#include "daemon/audio/soxr_module.h"
#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum { WARM_FRAMES_MIN = 16384, WARM_FRAMES_MAX = 131072 };

struct resampler {
	/* immutable */
	struct allocator *allocator;
	const struct soxr_module *module;
	uint32_t in_hz;
	uint32_t out_hz;
	uint32_t channels;
	/* whoever holds the lane */
	soxr_t soxr;
	uint64_t taken;
	uint64_t given;
	uint64_t to_drop; /* frames of warm-up silence still inside */
	float dropped[RESAMPLE_CHUNK_FRAMES * AUDIO_CHANNELS_MAX];
};

static uint32_t
common_divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* One call of libsoxr. in NULL: flush. */
static RT_SAFE size_t
run_soxr(struct resampler *resampler, const float *in, size_t in_frames,
	 float *out, size_t out_frames, size_t *ret_taken)
{
	size_t taken = 0, given = 0;

	RT_EXCEPTION("libsoxr")
	{
		(void)resampler->module->process(resampler->soxr, in, in_frames,
						 &taken, out, out_frames,
						 &given);
	}
	*ret_taken = taken;
	return given;
}

/* Runs silence through, so that every buffer has its final size. */
static void
warm_up(struct resampler *resampler)
{
	static float silence[RESAMPLE_CHUNK_FRAMES * AUDIO_CHANNELS_MAX];
	const uint32_t divisor =
		common_divisor(resampler->in_hz, resampler->out_hz);
	const uint64_t period = resampler->in_hz / divisor;
	const uint64_t periods = (WARM_FRAMES_MIN + period - 1) / period;
	uint64_t left = periods * period;
	size_t taken = 0;

	resampler->to_drop = 0;
	if (left > WARM_FRAMES_MAX)
		return;
	resampler->to_drop = periods * (resampler->out_hz / divisor);
	while (left > 0) {
		const size_t count = left < RESAMPLE_CHUNK_FRAMES
					     ? (size_t)left
					     : RESAMPLE_CHUNK_FRAMES;

		resampler->to_drop -=
			run_soxr(resampler, silence, count, resampler->dropped,
				 RESAMPLE_CHUNK_FRAMES, &taken);
		left -= taken;
	}
}

int
resampler_restart(struct resampler *resampler)
{
	const struct soxr_module *module = resampler->module;
	const soxr_io_spec_t io =
		module->io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
	const soxr_quality_spec_t quality = module->quality_spec(SOXR_HQ, 0);
	const soxr_runtime_spec_t runtime = module->runtime_spec(1);
	soxr_error_t error = NULL;
	const soxr_t soxr = module->create(resampler->in_hz, resampler->out_hz,
					   resampler->channels, &error, &io,
					   &quality, &runtime);

	if (soxr == NULL || error != NULL) {
		module->destroy(soxr);
		return -ENOMEM;
	}
	resampler->module->destroy(resampler->soxr);
	resampler->soxr = soxr;
	resampler->taken = 0;
	resampler->given = 0;
	warm_up(resampler);
	return 0;
}

int
resampler_create(struct allocator *allocator, uint32_t in_hz, uint32_t out_hz,
		 uint32_t channels, struct resampler **ret_resampler)
{
	const struct soxr_module *module = soxr_module_load();
	struct resampler *resampler = NULL;
	int error = 0;

	if (module == NULL)
		return -ELIBACC;
	if (in_hz < AUDIO_RATE_MIN || in_hz > AUDIO_RATE_MAX ||
	    out_hz < AUDIO_RATE_MIN || out_hz > AUDIO_RATE_MAX ||
	    channels < 1 || channels > AUDIO_CHANNELS_MAX)
		return -EINVAL;
	resampler = allocator_new(allocator, sizeof(*resampler));
	if (resampler == NULL)
		return -ENOMEM;
	resampler->allocator = allocator;
	resampler->module = module;
	resampler->in_hz = in_hz;
	resampler->out_hz = out_hz;
	resampler->channels = channels;
	error = resampler_restart(resampler);
	if (error < 0) {
		allocator_delete(allocator, resampler);
		return error;
	}
	*ret_resampler = resampler;
	return 0;
}

void
resampler_destroy(struct resampler *resampler)
{
	if (resampler == NULL)
		return;
	resampler->module->destroy(resampler->soxr);
	allocator_delete(resampler->allocator, resampler);
}

/* Takes the rest of the warm-up out; true when none is left. */
static RT_SAFE bool
drop_silence(struct resampler *resampler, const float *in, size_t in_frames,
	     size_t *ret_taken)
{
	size_t most = RESAMPLE_CHUNK_FRAMES;

	*ret_taken = 0;
	if (resampler->to_drop == 0)
		return true;
	if (most > resampler->to_drop)
		most = (size_t)resampler->to_drop;
	resampler->to_drop -= run_soxr(resampler, in, in_frames,
				       resampler->dropped, most, ret_taken);
	return resampler->to_drop == 0;
}

RT_SAFE void
resampler_process(struct resampler *resampler, const float *in,
		  size_t in_frames, float *out, size_t out_frames,
		  size_t *ret_taken, size_t *ret_given)
{
	size_t dropping = 0, taken = 0, given = 0;

	if (drop_silence(resampler, in, in_frames, &dropping))
		given = run_soxr(resampler, in + dropping * resampler->channels,
				 in_frames - dropping, out, out_frames, &taken);
	resampler->taken += dropping + taken;
	resampler->given += given;
	*ret_taken = dropping + taken;
	*ret_given = given;
}

/* What the frames taken come to: to the nearest, without overflow. */
static RT_SAFE uint64_t
frames_due(const struct resampler *resampler)
{
	const uint64_t whole = resampler->taken / resampler->in_hz;
	const uint64_t rest = resampler->taken % resampler->in_hz;

	return whole * resampler->out_hz +
	       (rest * resampler->out_hz + resampler->in_hz / 2) /
		       resampler->in_hz;
}

RT_SAFE size_t
resampler_flush(struct resampler *resampler, float *out, size_t out_frames)
{
	const uint64_t due = frames_due(resampler);
	const uint64_t left =
		due > resampler->given ? due - resampler->given : 0;
	const size_t want = left < out_frames ? (size_t)left : out_frames;
	size_t given = 0, taken = 0;

	while (resampler->to_drop > 0) {
		const uint64_t before = resampler->to_drop;

		(void)drop_silence(resampler, NULL, 0, &taken);
		if (resampler->to_drop == before)
			break;
	}
	if (want > 0)
		given = run_soxr(resampler, NULL, 0, out, want, &taken);
	memset(out + given * resampler->channels, 0,
	       (want - given) * resampler->channels * sizeof(float));
	resampler->given += want;
	return want;
}

RT_SAFE uint64_t
resampler_taken(const struct resampler *resampler)
{
	return resampler->taken;
}

RT_SAFE uint64_t
resampler_given(const struct resampler *resampler)
{
	return resampler->given;
}

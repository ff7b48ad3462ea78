/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resample.c - libsoxr (linear phase; high is its HQ recipe, 20 bits), fed in
 * pieces.
 *
 * libsoxr takes memory while its buffers grow to what is asked of it, and only
 * then. So a new resampler is run over silence first, on the worker that made
 * it: a whole number of periods of the two rates, so that the frames of silence
 * that come out are a whole number as well. Those that have not come out yet
 * (the filter's delay) are dropped from the front of the first real output.
 *
 * Around the first and the last frame the filter sees frames that are none. As
 * silence they would make a step of each end, heard as a click where another
 * resampler's sound follows; so an edge (edge.h) stands in front, in the place
 * of the last of that silence, and behind. For the one in front the first
 * frames must be there, and are held back until they are.
 *
 *   GATHER -(edge_frames are held)-> RUN -(flush)-> END
 *   what goes in: silence, edge, held frames, frames, edge, nothing
 *   given <= taken * out / in;   after flush: given = round(taken * out / in)
 *
 * libsoxr ends a flush within a frame or two of that; the difference is cut
 * off, or filled with silence. */
#include "daemon/audio/resample.h"

#include "daemon/audio/edge.h"
#include "daemon/audio/format.h"
#include "daemon/audio/soxr_module.h"
#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum {
	WARM_FRAMES_MIN = 16384,
	WARM_FRAMES_MAX = 131072,
	EDGE_FRAMES_MIN = 256, /* more than half of the filter */
	EDGE_FRAMES_MAX = 2048,
};

enum phase { PHASE_GATHER, PHASE_RUN, PHASE_END };

struct resampler {
	/* immutable */
	struct allocator *allocator;
	const struct soxr_module *module;
	uint32_t in_hz;
	uint32_t out_hz;
	uint32_t channels;
	enum resample_quality quality;
	size_t edge_frames;
	/* whoever holds the lane */
	soxr_t soxr;
	enum phase phase;
	uint64_t taken;
	uint64_t given;
	uint64_t to_drop; /* frames of warm-up silence still inside */
	float *latest; /* the last edge_frames taken, or as many as there are */
	size_t latest_frames;
	float *queue; /* goes in before anything else: up to 3 edge_frames */
	size_t queue_at;
	size_t queue_frames;
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

/* Runs silence through, so that every buffer has its final size. The last of it
 * is left to the edge. */
static void
warm_up(struct resampler *resampler, const float *silence)
{
	const uint32_t divisor =
		common_divisor(resampler->in_hz, resampler->out_hz);
	const uint64_t period = resampler->in_hz / divisor;
	const uint64_t periods = (WARM_FRAMES_MIN + period - 1) / period;
	uint64_t left = periods * period;
	size_t taken = 0;

	resampler->to_drop = 0;
	resampler->phase = PHASE_RUN;
	if (left > WARM_FRAMES_MAX)
		return;
	resampler->phase = PHASE_GATHER;
	resampler->to_drop = periods * (resampler->out_hz / divisor);
	left -= resampler->edge_frames;
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
	static const unsigned long recipes[] = {
		[RESAMPLE_LOW] = SOXR_LQ,
		[RESAMPLE_MEDIUM] = SOXR_MQ,
		[RESAMPLE_HIGH] = SOXR_HQ,
		[RESAMPLE_BEST] = SOXR_VHQ,
	};
	const struct soxr_module *module = resampler->module;
	const soxr_io_spec_t io =
		module->io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
	const soxr_quality_spec_t quality =
		module->quality_spec(recipes[resampler->quality], 0);
	const soxr_runtime_spec_t runtime = module->runtime_spec(1);
	float *silence = allocator_new(
		resampler->allocator,
		sizeof(*silence) * RESAMPLE_CHUNK_FRAMES * AUDIO_CHANNELS_MAX);
	soxr_error_t error = NULL;
	soxr_t soxr = module->create(resampler->in_hz, resampler->out_hz,
				     resampler->channels, &error, &io, &quality,
				     &runtime);

	if (silence == NULL || soxr == NULL || error != NULL) {
		allocator_delete(resampler->allocator, silence);
		module->destroy(soxr);
		return -ENOMEM;
	}
	resampler->module->destroy(resampler->soxr);
	resampler->soxr = soxr;
	resampler->taken = 0;
	resampler->given = 0;
	resampler->latest_frames = 0;
	resampler->queue_at = 0;
	resampler->queue_frames = 0;
	warm_up(resampler, silence);
	allocator_delete(resampler->allocator, silence);
	return 0;
}

/* The filter is as much longer as the rate falls. */
static size_t
edge_frames_of(uint32_t in_hz, uint32_t out_hz)
{
	const uint64_t frames = EDGE_FRAMES_MIN * (uint64_t)in_hz / out_hz + 1;

	if (frames < EDGE_FRAMES_MIN)
		return EDGE_FRAMES_MIN;
	return frames < EDGE_FRAMES_MAX ? (size_t)frames : EDGE_FRAMES_MAX;
}

static int
take_memory(struct resampler *resampler)
{
	const size_t bytes =
		resampler->edge_frames * resampler->channels * sizeof(float);

	resampler->latest = allocator_new(resampler->allocator, bytes);
	resampler->queue = allocator_new(resampler->allocator, 3 * bytes);
	return resampler->latest != NULL && resampler->queue != NULL ? 0
								     : -ENOMEM;
}

int
resampler_create(struct allocator *allocator, uint32_t in_hz, uint32_t out_hz,
		 uint32_t channels, enum resample_quality quality,
		 struct resampler **ret_resampler)
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
	resampler->quality = quality;
	resampler->edge_frames = edge_frames_of(in_hz, out_hz);
	error = take_memory(resampler);
	if (error == 0)
		error = resampler_restart(resampler);
	if (error < 0) {
		resampler_destroy(resampler);
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
	allocator_delete(resampler->allocator, resampler->latest);
	allocator_delete(resampler->allocator, resampler->queue);
	allocator_delete(resampler->allocator, resampler);
}

/* One call of libsoxr, whose output is dropped as long as it is that of the
 * warm-up. in NULL: flush. */
static RT_SAFE size_t
run_once(struct resampler *resampler, const float *in, size_t in_frames,
	 float *out, size_t out_frames, size_t *ret_taken)
{
	size_t most = RESAMPLE_CHUNK_FRAMES;

	if (resampler->to_drop == 0)
		return run_soxr(resampler, in, in_frames, out, out_frames,
				ret_taken);
	if (most > resampler->to_drop)
		most = (size_t)resampler->to_drop;
	resampler->to_drop -= run_soxr(resampler, in, in_frames,
				       resampler->dropped, most, ret_taken);
	return 0;
}

/* From in, until it is all taken, out is full or nothing moves. */
static RT_SAFE size_t
run(struct resampler *resampler, const float *in, size_t in_frames, float *out,
    size_t out_frames, size_t *ret_taken)
{
	const uint32_t channels = resampler->channels;
	size_t taken = 0, given = 0;

	for (;;) {
		const uint64_t to_drop = resampler->to_drop;
		size_t count = 0;
		const size_t made = run_once(
			resampler, in == NULL ? NULL : in + taken * channels,
			in_frames - taken, out + given * channels,
			out_frames - given, &count);

		taken += count;
		given += made;
		if (made == 0 && count == 0 && to_drop == resampler->to_drop)
			break;
		if (given == out_frames && resampler->to_drop == 0)
			break;
		if (in != NULL && taken == in_frames)
			break;
	}
	*ret_taken = taken;
	return given;
}

/* What waits in front; true when none is left. */
static RT_SAFE bool
run_queue(struct resampler *resampler, float *out, size_t out_frames,
	  size_t *ret_given)
{
	size_t taken = 0;

	*ret_given = 0;
	if (resampler->queue_at == resampler->queue_frames)
		return true;
	*ret_given = run(resampler,
			 resampler->queue +
				 resampler->queue_at * resampler->channels,
			 resampler->queue_frames - resampler->queue_at, out,
			 out_frames, &taken);
	resampler->queue_at += taken;
	return resampler->queue_at == resampler->queue_frames;
}

/* Remembers the last of what was taken. */
static RT_SAFE void
note_latest(struct resampler *resampler, const float *in, size_t frames)
{
	const size_t most = resampler->edge_frames;
	const uint32_t channels = resampler->channels;
	size_t kept = resampler->latest_frames;

	if (frames > most) {
		in += (frames - most) * channels;
		frames = most;
	}
	if (kept > most - frames) {
		memmove(resampler->latest,
			resampler->latest + (kept - (most - frames)) * channels,
			(most - frames) * channels * sizeof(float));
		kept = most - frames;
	}
	memcpy(resampler->latest + kept * channels, in,
	       frames * channels * sizeof(float));
	resampler->latest_frames = kept + frames;
}

/* The edge in front, and what was held back for its sake, are to go in. */
static RT_SAFE void
begin(struct resampler *resampler)
{
	const size_t edge = resampler->edge_frames;
	const size_t held = resampler->latest_frames;
	const uint32_t channels = resampler->channels;

	resampler->phase = PHASE_RUN;
	if (held == 0)
		return;
	edge_before(resampler->queue, edge, resampler->latest, held, channels);
	memcpy(resampler->queue + edge * channels, resampler->latest,
	       held * channels * sizeof(float));
	resampler->queue_frames = edge + held;
}

RT_SAFE void
resampler_process(struct resampler *resampler, const float *in,
		  size_t in_frames, float *out, size_t out_frames,
		  size_t *ret_taken, size_t *ret_given)
{
	size_t held = 0, taken = 0, given = 0, more = 0;

	if (resampler->phase == PHASE_GATHER) {
		held = resampler->edge_frames - resampler->latest_frames;
		held = held < in_frames ? held : in_frames;
		note_latest(resampler, in, held);
		if (resampler->latest_frames == resampler->edge_frames)
			begin(resampler);
	}
	if (resampler->phase == PHASE_RUN &&
	    run_queue(resampler, out, out_frames, &given)) {
		in += held * resampler->channels;
		more = run(resampler, in, in_frames - held,
			   out + given * resampler->channels,
			   out_frames - given, &taken);
		note_latest(resampler, in, taken);
	}
	resampler->taken += held + taken;
	resampler->given += given + more;
	*ret_taken = held + taken;
	*ret_given = given + more;
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

/* The sound is over: what is held back, and the edge behind it, are to go in.
 */
static RT_SAFE void
end(struct resampler *resampler)
{
	const size_t edge = resampler->edge_frames;
	const size_t left = resampler->queue_frames - resampler->queue_at;
	const uint32_t channels = resampler->channels;

	resampler->phase = PHASE_END;
	if (resampler->latest_frames == 0)
		return;
	memmove(resampler->queue,
		resampler->queue + resampler->queue_at * channels,
		left * channels * sizeof(float));
	edge_after(resampler->queue + left * channels, edge, resampler->latest,
		   resampler->latest_frames, channels);
	resampler->queue_at = 0;
	resampler->queue_frames = left + edge;
}

RT_SAFE size_t
resampler_flush(struct resampler *resampler, float *out, size_t out_frames)
{
	const uint64_t due = frames_due(resampler);
	const uint64_t left =
		due > resampler->given ? due - resampler->given : 0;
	const size_t want = left < out_frames ? (size_t)left : out_frames;
	size_t given = 0, taken = 0;

	if (resampler->phase == PHASE_GATHER)
		begin(resampler);
	if (resampler->phase == PHASE_RUN)
		end(resampler);
	if (want == 0)
		return 0;
	if (run_queue(resampler, out, want, &given))
		given += run(resampler, NULL, 0,
			     out + given * resampler->channels, want - given,
			     &taken);
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

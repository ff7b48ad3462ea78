/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limiter.c
 *
 *   c(j)  what cell j needs: 1, or CEILING over its largest peak
 *   e(j)  = min(c(j), e(j - 1) * rise)                  kept in gains[]
 *   m(j)  = min of e over [j - ATTACK - 1, j]
 *   b(j)  = mean of m over [j, j + ATTACK]              where cell j begins
 *   gain  = the straight line from b(j) to b(j + 1)
 *
 * Each m in b(j) and in b(j + 1) is of a window that holds cell j, so that
 * neither is above e(j), nor is the line between them.
 *
 * The peak of a frame needs frames behind it, and some before. After a renewal
 * that goes far back those before it are gone: the first frames are judged by
 * their samples alone, which is no more than they need, and the gains that
 * these cells had stay if they were lower. So what is mixed again as it was
 * gets the gain it had. */
#include "daemon/audio/limiter.h"

#include <math.h>
#include <string.h>

enum { CELL_FRAMES = 32, CELL_RATE_HZ = 64000, RISE_DB_PER_S = 40 };

/* 0.3 dB under full scale: by so much the estimate of peaks can be short, see
 * true_peak.c. */
static const float CEILING = 0.966F;
/* 60 dB; what is louder still is cut off. */
static const float GAIN_MIN = 0.001F;

/* Before the frame that is fed next all is silent. */
static RT_SAFE void
know_silence(struct limiter *limiter)
{
	limiter->tail_frames = LIMITER_TAIL_FRAMES;
	memset(limiter->frames, 0,
	       (size_t)LIMITER_TAIL_FRAMES * limiter->channels * sizeof(float));
}

RT_SAFE void
limiter_init(struct limiter *limiter, uint32_t rate_hz, uint32_t channels)
{
	uint32_t rate = CELL_RATE_HZ;

	memset(limiter, 0, sizeof(*limiter));
	limiter->channels = channels;
	limiter->cell_frames = CELL_FRAMES;
	for (; rate < rate_hz; rate *= 2)
		limiter->cell_frames *= 2;
	/* e^x = 1 + x, for an x as small as this one. */
	limiter->rise = 1.0F + RISE_DB_PER_S * 0.115129F *
				       (float)limiter->cell_frames /
				       (float)rate_hz;
	limiter->cell = 1.0F;
	limiter->kept_from = 1; /* none */
	know_silence(limiter);
}

RT_SAFE uint32_t
limiter_reach(const struct limiter *limiter)
{
	return (LIMITER_ATTACK_CELLS + 2) * limiter->cell_frames +
	       TRUE_PEAK_AFTER;
}

static RT_SAFE uint64_t
cell_of(const struct limiter *limiter, uint64_t frame)
{
	return frame / limiter->cell_frames;
}

/* e(cell); 1 for those that never were, or are not known yet. */
static RT_SAFE float
gain_of(const struct limiter *limiter, uint64_t cell)
{
	if (cell >= cell_of(limiter, limiter->judged))
		return 1.0F;
	return limiter->gains[cell % LIMITER_CELLS];
}

/* The cell that ends at judged has been seen to its end. */
static RT_SAFE void
end_cell(struct limiter *limiter)
{
	const uint64_t cell = cell_of(limiter, limiter->judged) - 1;
	float *gain = &limiter->gains[cell % LIMITER_CELLS];
	const float kept = *gain;
	float before = 1.0F;

	if (cell > 0)
		before = limiter->gains[(cell - 1) % LIMITER_CELLS];
	*gain = before * limiter->rise < limiter->cell ? before * limiter->rise
						       : limiter->cell;
	if (cell >= limiter->kept_from && cell <= limiter->kept_to &&
	    kept < *gain)
		*gain = kept;
	if (*gain < 1.0F)
		limiter->low_end = cell + 1;
	limiter->cell = 1.0F;
}

/* frames frames more are in the cell's gain. */
static RT_SAFE void
judge(struct limiter *limiter, uint64_t frames)
{
	while (frames > 0) {
		const uint64_t left = limiter->cell_frames -
				      limiter->judged % limiter->cell_frames;
		const uint64_t count = frames < left ? frames : left;

		limiter->judged += count;
		frames -= count;
		if (count == left)
			end_cell(limiter);
	}
}

/* The gain that a peak over most needs, if it is lower than that of the
 * others. */
static RT_SAFE void
see_peak(struct limiter *limiter, float peak, float most)
{
	float gain = 1.0F;

	if (!(peak > most))
		return;
	gain = CEILING / peak;
	gain = gain > GAIN_MIN ? gain : GAIN_MIN;
	limiter->cell = gain < limiter->cell ? gain : limiter->cell;
}

static RT_SAFE void
see_sample(struct limiter *limiter, const float *frame)
{
	uint32_t channel = 0;

	for (channel = 0; channel < limiter->channels; channel++)
		see_peak(limiter, fabsf(frame[channel]), 1.0F);
	judge(limiter, 1);
}

/* The wave from each of the frames to the next. */
static RT_SAFE void
see_waves(struct limiter *limiter, const float *frames, size_t count)
{
	float peaks[TRUE_PEAK_RUN] = {0};
	uint32_t channel = 0;
	size_t i = 0;

	for (channel = 0; channel < limiter->channels; channel++)
		true_peak_run(frames + channel, limiter->channels, count,
			      CEILING, peaks);
	for (i = 0; i < count; i++) {
		see_peak(limiter, peaks[i], CEILING);
		judge(limiter, 1);
	}
}

static RT_SAFE float
largest(const float *samples, size_t count)
{
	float most = 0.0F;
	size_t i = 0;

	for (i = 0; i < count; i++)
		most = fabsf(samples[i]) > most ? fabsf(samples[i]) : most;
	return most;
}

/* How many frames more can be judged by now. */
static RT_SAFE uint64_t
due(const struct limiter *limiter)
{
	const uint64_t waiting = limiter->fed - limiter->judged;

	return waiting > TRUE_PEAK_AFTER ? waiting - TRUE_PEAK_AFTER : 0;
}

/* Judges what can be, of held frames from at on. */
static RT_SAFE void
see_frames(struct limiter *limiter, size_t at, size_t held)
{
	const uint32_t channels = limiter->channels;
	const bool between = limiter->watch == LIMITER_PEAKS;
	const size_t end = at + (size_t)due(limiter);
	const size_t from = at > TRUE_PEAK_BEFORE ? at - TRUE_PEAK_BEFORE : 0;
	const float most = largest(limiter->frames + from * channels,
				   (held - from) * channels) *
			   (between ? TRUE_PEAK_RISE_MAX : 1.0F);

	if (most <= (between ? CEILING : 1.0F)) {
		judge(limiter, due(limiter));
		return;
	}
	while (at < end) {
		const float *frame = limiter->frames + at * channels;
		size_t count = 1;

		if (between && at >= TRUE_PEAK_BEFORE) {
			count = end - at < TRUE_PEAK_RUN ? end - at
							 : TRUE_PEAK_RUN;
			see_waves(limiter, frame, count);
		} else {
			see_sample(limiter, frame);
		}
		at += count;
	}
}

/* Nothing but silence is waiting, and nothing else has come. */
static RT_SAFE bool
is_silent(const struct limiter *limiter, enum limiter_watch watch)
{
	return watch == LIMITER_NOTHING &&
	       limiter->fed >= limiter->watched + LIMITER_TAIL_FRAMES;
}

RT_SAFE void
limiter_feed(struct limiter *limiter, enum limiter_watch watch,
	     const float *sums, size_t frames)
{
	const uint32_t channels = limiter->channels;
	const size_t held = limiter->tail_frames + frames;
	const size_t at =
		limiter->tail_frames - (size_t)(limiter->fed - limiter->judged);
	const size_t kept =
		held < LIMITER_TAIL_FRAMES ? held : LIMITER_TAIL_FRAMES;
	float *to = limiter->frames + (size_t)limiter->tail_frames * channels;

	if (is_silent(limiter, watch) && kept == limiter->tail_frames) {
		limiter->fed += frames;
		judge(limiter, due(limiter));
		return;
	}
	if (watch == LIMITER_NOTHING) {
		memset(to, 0, frames * channels * sizeof(float));
	} else {
		memcpy(to, sums, frames * channels * sizeof(float));
		/* Of what still waits, more may be asked than was. */
		limiter->watch =
			watch > limiter->watch ||
					limiter->judged >= limiter->watched
				? watch
				: limiter->watch;
		limiter->watched = limiter->fed + frames;
	}
	limiter->fed += frames;
	see_frames(limiter, at, held);
	memmove(limiter->frames, limiter->frames + (held - kept) * channels,
		kept * channels * sizeof(float));
	limiter->tail_frames = (uint32_t)kept;
}

/* Back over cells that are known: they keep what they had, as far as frames in
 * them are judged by less than before. */
static RT_SAFE void
go_back(struct limiter *limiter, uint64_t frame)
{
	const uint64_t cell = cell_of(limiter, frame);
	const uint64_t known = cell_of(limiter, limiter->judged);

	limiter->judged = frame;
	if (cell == known)
		return; /* nor does it lose what it needs so far */
	limiter->cell = 1.0F;
	limiter->kept_from = cell;
	limiter->kept_to = cell_of(limiter, frame + TRUE_PEAK_BEFORE);
	if (limiter->kept_to >= known)
		limiter->kept_to = known - 1;
}

RT_SAFE void
limiter_renew(struct limiter *limiter, uint64_t frame)
{
	if (frame > limiter->fed) {
		judge(limiter, frame - limiter->judged);
		know_silence(limiter);
	} else {
		const uint64_t lost = limiter->fed - frame;

		if (frame < limiter->judged)
			go_back(limiter, frame);
		limiter->tail_frames -= lost < limiter->tail_frames
						? (uint32_t)lost
						: limiter->tail_frames;
	}
	limiter->fed = frame;
	limiter->watched = frame;
}

/* b(cell). */
static RT_SAFE float
gain_at_begin(const struct limiter *limiter, uint64_t cell)
{
	float sum = 0.0F;
	uint64_t i = 0, k = 0;

	for (i = cell; i <= cell + LIMITER_ATTACK_CELLS; i++) {
		const uint64_t first = i > LIMITER_ATTACK_CELLS + 1
					       ? i - LIMITER_ATTACK_CELLS - 1
					       : 0;
		float least = 1.0F;

		for (k = first; k <= i; k++) {
			const float gain = gain_of(limiter, k);

			least = gain < least ? gain : least;
		}
		sum += least;
	}
	return sum / (LIMITER_ATTACK_CELLS + 1);
}

/* No cell that bears on this one, or on a later one, has a gain under 1. */
static RT_SAFE bool
is_past(const struct limiter *limiter, uint64_t cell)
{
	return cell >= limiter->low_end + LIMITER_ATTACK_CELLS + 1;
}

RT_SAFE size_t
limiter_idle(const struct limiter *limiter, uint64_t first, size_t frames)
{
	uint64_t cell = cell_of(limiter, first);
	size_t idle = 0;

	if (is_past(limiter, cell))
		return frames;
	while (idle < frames && gain_at_begin(limiter, cell) == 1.0F &&
	       gain_at_begin(limiter, cell + 1) == 1.0F) {
		cell++;
		idle = (size_t)(cell * limiter->cell_frames - first);
	}
	return idle < frames ? idle : frames;
}

static RT_SAFE float
cut_off(float sample)
{
	if (sample > 1.0F)
		return 1.0F;
	if (sample < -1.0F)
		return -1.0F;
	return sample == sample ? sample : 0.0F;
}

RT_SAFE void
limiter_apply(const struct limiter *limiter, uint64_t first, float *sums,
	      size_t frames)
{
	const uint32_t size = limiter->cell_frames;
	const uint32_t channels = limiter->channels;
	uint64_t frame = first;

	if (is_past(limiter, cell_of(limiter, first)))
		return;
	while (frame < first + frames) {
		const uint64_t cell = cell_of(limiter, frame);
		const uint64_t end = (cell + 1) * size;
		const float from = gain_at_begin(limiter, cell);
		const float to = gain_at_begin(limiter, cell + 1);
		const bool idle = from == 1.0F && to == 1.0F;

		for (; frame < end && frame < first + frames; frame++) {
			const float gain =
				from + (to - from) * (float)(frame % size) /
					       (float)size;
			float *sum = sums + (frame - first) * channels;
			uint32_t channel = 0;

			for (channel = 0; !idle && channel < channels;
			     channel++)
				sum[channel] = cut_off(sum[channel] * gain);
		}
	}
}

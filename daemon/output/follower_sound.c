/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower_sound.c - a follower's frames: out of the tap, interpolated, channel
 * by channel, and onto the deck.
 *
 * A place in the tap is all the state that there is of the sound: since the
 * interpolator has no memory, one may go on from any other place at any time,
 * and fade from one to the other by asking for both. */
#include "daemon/output/follower_sound.h"

#include "daemon/audio/interpolate.h"

#include <string.h>

enum { DECK_LANE = LANE_MUSIC };

static RT_SAFE void
go_on(struct follow_place *place, uint64_t step, size_t frames)
{
	const uint64_t sum = place->part + step * frames;

	place->frame += sum >> 32;
	place->part = (uint32_t)sum;
}

/* ---- the deck ---- */

static RT_SAFE struct deck *
own_deck(struct follower *follower)
{
	return &follower->bus.decks[DECK_LANE][0];
}

RT_SAFE void
follower_write_silence(struct follower *follower, uint64_t frames)
{
	struct pcm_ring *ring = &own_deck(follower)->ring;

	while (frames > 0) {
		size_t run = 0;
		void *memory = pcm_ring_write_span(ring, &run);

		if (run == 0)
			return;
		if (run > frames)
			run = (size_t)frames;
		memset(memory, 0, run * follower->channels * sizeof(float));
		pcm_ring_commit(ring, run);
		frames -= run;
	}
}

/* The deck's only stretch: sums that nobody has limited yet. */
RT_SAFE uint64_t
follower_begin_deck(struct follower *follower)
{
	const struct deck_stretch stretch = {
		.stream_id = FOLLOWER_STREAM,
		.stream_rate_hz = follower->rate_hz,
		.kind = SAMPLE_F32,
		.boosted = 1,
	};
	struct deck *deck = own_deck(follower);

	if (!deck_begin(deck, FOLLOWER_CUT))
		return 0;
	(void)deck_add_stretch(deck, &stretch);
	follower_write_silence(follower, (uint64_t)follower->rate_hz *
						 FOLLOWER_LAG_MS_MIN / 1000);
	return pcm_ring_written(&deck->ring);
}

/* ---- sound ---- */

/* One channel of the card out of the tap's frames. */
static RT_SAFE void
fill_plane(struct follower *follower, uint32_t channel, size_t frames)
{
	const uint32_t in = follower->map.in;
	const float *row = follower->map.matrix[channel];
	size_t i = 0;
	uint32_t c = 0;

	for (i = 0; i < frames; i++) {
		float sum = 0;

		for (c = 0; c < in; c++)
			sum += row[c] * follower->in[i * in + c];
		follower->plane[i] = sum;
	}
}

/* False: the tap has been written over there. */
static RT_SAFE bool
render(struct follower *follower, const struct follow_plan *plan,
       const struct interpolator *interpolator, struct follow_place place,
       uint64_t step, float *out, size_t frames)
{
	const uint32_t before = interpolator_before(interpolator);
	const uint32_t after = interpolator_after(interpolator);
	const size_t span = (size_t)((place.part + step * frames) >> 32);
	const size_t needed = span + before + after;
	const bool whole = tap_read(follower->tap, plan->kind,
				    (int64_t)place.frame - (int64_t)before + 1,
				    follower->view.mixed, follower->in, needed);
	uint32_t channel = 0;
	size_t i = 0;

	for (channel = 0; channel < follower->channels; channel++) {
		fill_plane(follower, channel, needed);
		interpolate(interpolator, follower->plane, place.part, step,
			    follower->out, frames);
		for (i = 0; i < frames; i++)
			out[i * follower->channels + channel] =
				follower->out[i];
	}
	return whole;
}

/* Frames that one call may ask for. */
static RT_SAFE size_t
piece_frames(const struct interpolator *interpolator, uint64_t step)
{
	const uint64_t room = FOLLOWER_IN_FRAMES -
			      interpolator_before(interpolator) -
			      interpolator_after(interpolator) - 2;
	const uint64_t frames = (room << 32) / step;

	return frames < FOLLOWER_OUT_FRAMES ? (size_t)frames
					    : (size_t)FOLLOWER_OUT_FRAMES;
}

/* What is left behind, under what is gone over to. */
static RT_SAFE void
fade(struct follower *follower, const struct follow_plan *plan,
     const struct interpolator *interpolator, uint64_t step, float *out,
     size_t frames)
{
	const uint32_t channels = follower->channels;
	const uint64_t fade_frames =
		(uint64_t)follower->rate_hz * MIX_FADE_US / 1000000;
	size_t i = 0, k = 0;

	if (follower->fade_from_silence)
		memset(follower->faded, 0,
		       frames * channels * sizeof(follower->faded[0]));
	else
		(void)render(follower, plan, interpolator, follower->from, step,
			     follower->faded, frames);
	for (i = 0; i < frames; i++) {
		const float old =
			(float)(follower->fade_left - i) / (float)fade_frames;

		for (k = i * channels; k < (i + 1) * channels; k++)
			out[k] += (follower->faded[k] - out[k]) * old;
	}
	go_on(&follower->from, step, frames);
	follower->fade_left -= (uint32_t)frames;
}

/* How many frames of the card lie before `end` in the tap. */
static RT_SAFE uint64_t
frames_up_to(const struct follower *follower, uint64_t end, uint64_t step)
{
	const uint64_t left =
		end > follower->place.frame ? end - follower->place.frame : 0;

	if (left == 0)
		return 0;
	/* A tap is never so long that this overflows. */
	return ((left << 32) - follower->place.part + step - 1) / step;
}

RT_SAFE bool
follower_play_up_to(struct follower *follower, const struct follow_plan *plan,
		    const struct interpolator *interpolator, uint64_t end,
		    uint64_t step)
{
	struct pcm_ring *ring = &own_deck(follower)->ring;
	uint64_t left = frames_up_to(follower, end, step);

	while (left > 0) {
		size_t run = 0;
		float *out = pcm_ring_write_span(ring, &run);
		size_t frames = piece_frames(interpolator, step);

		frames = frames < left ? frames : (size_t)left;
		frames = frames < run ? frames : run;
		if (follower->fade_left > 0 && frames > follower->fade_left)
			frames = follower->fade_left;
		if (frames == 0)
			break;
		if (!render(follower, plan, interpolator, follower->place, step,
			    out, frames))
			return false;
		if (follower->fade_left > 0)
			fade(follower, plan, interpolator, step, out, frames);
		pcm_ring_commit(ring, frames);
		go_on(&follower->place, step, frames);
		left -= frames;
	}
	return true;
}

RT_SAFE void
follower_fade_out(struct follower *follower, const struct follow_plan *plan)
{
	const struct interpolator *interpolator = plan->before.interpolator;
	struct pcm_ring *ring = &own_deck(follower)->ring;
	const size_t frames = (size_t)follower->rate_hz * MIX_FADE_US / 1000000;
	size_t i = 0, k = 0, done = 0, run = 0;

	while (done < frames) {
		float *out = pcm_ring_write_span(ring, &run);
		const uint64_t step = interpolator_step(interpolator);
		const size_t most = piece_frames(interpolator, step);

		run = run < frames - done ? run : frames - done;
		run = run < most ? run : most;
		if (run == 0)
			return;
		(void)render(follower, plan, interpolator, follower->place,
			     step, out, run);
		for (i = 0; i < run; i++)
			for (k = 0; k < follower->channels; k++)
				out[i * follower->channels + k] *=
					(float)(frames - done - i) /
					(float)frames;
		pcm_ring_commit(ring, run);
		go_on(&follower->place, step, run);
		done += run;
	}
}

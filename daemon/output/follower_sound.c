/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follower_sound.c - a follower's frames: out of the tap, interpolated, channel
 * by channel, and onto the deck.
 *
 * A place in the tap is all the state that there is of the sound: since the
 * interpolator has no memory, one may go on from any other place at any time,
 * and fade from one to the other by asking for both. Which place each frame of
 * the deck was made from is marked where it is not simply the next:
 *
 *   place of deck frame n = mark's place + step * (n - mark's deck frame)
 *
 * so that frames can be taken back from the deck. They stay in its memory, and
 * what is written over them fades out of them. */
#include "daemon/output/follower_sound.h"

#include "daemon/audio/interpolate.h"

#include <string.h>

enum { DECK_LANE = LANE_MUSIC };

static RT_SAFE uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static RT_SAFE struct follow_place
place_after(struct follow_place place, uint64_t step, uint64_t frames)
{
	const uint64_t sum = place.part + step * frames;

	return (struct follow_place){place.frame + (sum >> 32), (uint32_t)sum};
}

static RT_SAFE uint32_t
fade_frames(const struct follower *follower)
{
	return (uint32_t)((uint64_t)follower->rate_hz * MIX_FADE_US / 1000000);
}

/* ---- the deck ---- */

static RT_SAFE struct deck *
own_deck(struct follower *follower)
{
	return &follower->bus.decks[DECK_LANE][0];
}

static RT_SAFE struct follow_mark *
mark_at(struct follower *follower, uint64_t number)
{
	return &follower->marks[number % FOLLOWER_MARKS];
}

/* What is written next is made from the place, in these steps. */
static RT_SAFE void
mark(struct follower *follower, uint64_t step)
{
	const uint64_t frame = pcm_ring_written(&own_deck(follower)->ring);
	const struct follow_place place = follower->place;

	if (follower->mark_count > 0) {
		const struct follow_mark *last =
			mark_at(follower, follower->mark_count - 1);
		const struct follow_place next = place_after(
			last->place, last->step, frame - last->deck_frame);

		if (last->step == step && next.frame == place.frame &&
		    next.part == place.part)
			return;
	}
	*mark_at(follower, follower->mark_count++) =
		(struct follow_mark){frame, place, step};
}

RT_SAFE void
follower_take_back(struct follower *follower, uint64_t frames)
{
	struct pcm_ring *ring = &own_deck(follower)->ring;
	const uint64_t written = pcm_ring_written(ring);
	const uint64_t kept = follower->mark_count > FOLLOWER_MARKS
				      ? follower->mark_count - FOLLOWER_MARKS
				      : 0;
	const struct follow_mark *found = NULL;
	uint64_t to = 0;

	if (follower->mark_count == 0)
		return;
	/* Not further than is known. */
	to = mark_at(follower, kept)->deck_frame;
	to = frames < written - to ? written - frames : to;
	to = written - pcm_ring_unwrite(ring, (size_t)(written - to));
	while (follower->mark_count > kept + 1 &&
	       mark_at(follower, follower->mark_count - 1)->deck_frame > to)
		follower->mark_count--;
	found = mark_at(follower, follower->mark_count - 1);
	follower->place =
		place_after(found->place, found->step, to - found->deck_frame);
	follower->fade = FOLLOW_FROM_DECK;
	follower->fade_whole =
		(uint32_t)smaller(fade_frames(follower), written - to);
	follower->fade_left = follower->fade_whole;
	if (to < follower->changed)
		follower->changed = to;
}

RT_SAFE void
follower_write_silence(struct follower *follower, uint64_t frames)
{
	struct pcm_ring *ring = &own_deck(follower)->ring;

	mark(follower, 0);
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

/* Sums that nobody has limited yet, as of a song's first frame. Where there is
 * no room for one more it fades in. */
RT_SAFE void
follower_begin_sound(struct follower *follower)
{
	struct deck *deck = own_deck(follower);
	const struct deck_stretch stretch = {
		.first_frame = deck_begin(deck, FOLLOWER_CUT)
				       ? 0
				       : pcm_ring_written(&deck->ring),
		.stream_id = FOLLOWER_STREAM,
		.stream_rate_hz = follower->rate_hz,
		.kind = SAMPLE_F32,
		.boosted = 1,
	};

	(void)deck_add_stretch(deck, &stretch);
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
render(struct follower *follower, const struct follow_read *read,
       struct follow_place place, float *out, size_t frames)
{
	const uint32_t before = interpolator_before(read->interpolator);
	const uint32_t after = interpolator_after(read->interpolator);
	const size_t span = (size_t)((place.part + read->step * frames) >> 32);
	const size_t needed = span + before + after;
	const bool whole = tap_read(follower->tap, read->kind,
				    (int64_t)place.frame - (int64_t)before + 1,
				    read->until, follower->in, needed);
	uint32_t channel = 0;
	size_t i = 0;

	for (channel = 0; channel < follower->channels; channel++) {
		fill_plane(follower, channel, needed);
		interpolate(read->interpolator, follower->plane, place.part,
			    read->step, follower->out, frames);
		for (i = 0; i < frames; i++)
			out[i * follower->channels + channel] =
				follower->out[i];
	}
	return whole;
}

/* Frames that one call may ask for. */
static RT_SAFE size_t
piece_frames(const struct follow_read *read)
{
	const uint64_t room = FOLLOWER_IN_FRAMES -
			      interpolator_before(read->interpolator) -
			      interpolator_after(read->interpolator) - 2;
	const uint64_t frames = (room << 32) / read->step;

	return frames < FOLLOWER_OUT_FRAMES ? (size_t)frames
					    : (size_t)FOLLOWER_OUT_FRAMES;
}

RT_SAFE void
follower_fade_to(struct follower *follower, uint64_t frame,
		 enum follow_fade fade)
{
	follower->from = follower->place;
	follower->fade = fade;
	follower->fade_left = follower->fade_whole = fade_frames(follower);
	follower->place = (struct follow_place){frame, 0};
}

/* What is left behind, before what is gone over to is written on it. */
static RT_SAFE void
fetch_faded(struct follower *follower, const struct follow_read *read,
	    const float *out, size_t frames)
{
	const size_t bytes =
		frames * follower->channels * sizeof(follower->faded[0]);

	switch (follower->fade) {
	case FOLLOW_FROM_SILENCE:
		memset(follower->faded, 0, bytes);
		break;
	case FOLLOW_FROM_DECK:
		memcpy(follower->faded, out, bytes);
		break;
	case FOLLOW_FROM_PLACE:
		(void)render(follower, read, follower->from, follower->faded,
			     frames);
		follower->from =
			place_after(follower->from, read->step, frames);
		break;
	}
}

static RT_SAFE void
fade(struct follower *follower, float *out, size_t frames)
{
	const uint32_t channels = follower->channels;
	const float whole = (float)follower->fade_whole;
	size_t i = 0, k = 0;

	for (i = 0; i < frames; i++) {
		const float old = (float)(follower->fade_left - i) / whole;

		for (k = i * channels; k < (i + 1) * channels; k++)
			out[k] += (follower->faded[k] - out[k]) * old;
	}
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

/* The next frames, out of what fades there. False: they are not there any
 * more. */
static RT_SAFE bool
make(struct follower *follower, const struct follow_read *read, float *out,
     size_t frames)
{
	if (follower->fade_left > 0)
		fetch_faded(follower, read, out, frames);
	if (!render(follower, read, follower->place, out, frames))
		return false;
	if (follower->fade_left > 0)
		fade(follower, out, frames);
	mark(follower, read->step);
	follower->place = place_after(follower->place, read->step, frames);
	return true;
}

/* Room for some of them; NULL: there is none. */
static RT_SAFE float *
room_for(struct follower *follower, const struct follow_read *read,
	 uint64_t left, size_t *ret_frames)
{
	size_t run = 0;
	float *out = pcm_ring_write_span(&own_deck(follower)->ring, &run);
	uint64_t frames = smaller(smaller(piece_frames(read), left), run);

	if (follower->fade_left > 0)
		frames = smaller(frames, follower->fade_left);
	*ret_frames = (size_t)frames;
	return frames > 0 ? out : NULL;
}

RT_SAFE bool
follower_play_up_to(struct follower *follower, const struct follow_read *read,
		    uint64_t end, uint64_t most_frames)
{
	uint64_t left =
		smaller(frames_up_to(follower, end, read->step), most_frames);
	size_t frames = 0;

	while (left > 0) {
		float *out = room_for(follower, read, left, &frames);

		if (out == NULL)
			break;
		if (!make(follower, read, out, frames))
			return false;
		pcm_ring_commit(&own_deck(follower)->ring, frames);
		left -= frames;
	}
	return true;
}

RT_SAFE void
follower_fade_out(struct follower *follower, const struct follow_read *read)
{
	const size_t whole = fade_frames(follower);
	size_t i = 0, k = 0, left = whole, frames = 0;

	while (left > 0) {
		float *out = room_for(follower, read, left, &frames);

		if (out == NULL || !make(follower, read, out, frames))
			break;
		for (i = 0; i < frames; i++)
			for (k = 0; k < follower->channels; k++)
				out[i * follower->channels + k] *=
					(float)(left - i) / (float)whole;
		pcm_ring_commit(&own_deck(follower)->ring, frames);
		left -= frames;
	}
	follower->fade_left = 0;
}

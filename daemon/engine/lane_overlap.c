/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane_overlap.c - two songs at once: the end of one under the beginning of the
 * next.
 *
 *   deck:  ... song A ...........|~~~~ A * cos + B * sin ~~~~|... song B ...
 *                                ^ B's stretch begins here
 *
 * The overlap is mixed into the deck, so it is heard, rewound and stood still
 * in like any song. Its gains are functions of the frame's number in it, and
 * where it begins follows from where the song ends, as its header tells: the
 * same files give the same samples. From its first frame on the deck says that
 * song B is heard. What control has to know of A, to undo that, is the frame
 * at which the overlap began: stream.overlapped_at.
 *
 * Headers lie. What a stream has left is known for certain when its ring has
 * ended, some seconds ahead. If A is over sooner than its header says, the rest
 * of the fade is made within what is left; what it has beyond that, is left
 * out, at a gain of 0. When B is over within the overlap, A is alone again:
 * its gain comes back, and it is played to its end. No overlap takes more than
 * half of either song, as far as is known.
 *
 * Invariant: overlap.tail != 0: its stream was entered in lane->cut and is not
 * left; lane->stream follows it in the plan. */
#include "daemon/audio/fade.h"
#include "daemon/audio/resample.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/stream.h"

enum {
	SLACK_FRAMES = 2, /* a resampler's rounding */
	BACK_PARTS = 4,   /* of a second, in which a gain comes back */
};

static RT_SAFE uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static RT_SAFE uint64_t
at_rate(uint64_t frames, uint64_t in_hz, uint64_t out_hz)
{
	return frames / in_hz * out_hz +
	       (frames % in_hz * out_hz + in_hz / 2) / in_hz;
}

static RT_SAFE uint64_t
deck_written(struct lane *lane)
{
	return pcm_ring_written(&lane_deck(lane)->ring);
}

/* The ring holds all that will come of the song. */
static RT_SAFE bool
is_whole(const struct stream *stream)
{
	return pcm_ring_ended(&stream->pcm) &&
	       stream_get_end(stream) != STREAM_LINKED;
}

/* The deck frame behind the song's last one, or UINT64_MAX: unknown. */
static RT_SAFE uint64_t
song_end(struct lane *lane, const struct plan_entry *entry)
{
	const struct stream *stream = entry->stream;
	const uint64_t position = lane_song_frame(stream);
	const struct lane_voice *voice = &lane->voice;
	uint64_t left;

	if (is_whole(stream))
		left = pcm_ring_readable(&stream->pcm);
	else if (!pcm_ring_ended(&stream->pcm) && entry->end_frame > position)
		left = entry->end_frame - position;
	else
		return UINT64_MAX;
	if (voice->resampler == NULL)
		return deck_written(lane) + left;
	return voice->resampler_base +
	       at_rate(resampler_taken(voice->resampler) + left, entry->in_hz,
		       lane->rate_hz);
}

/* All frames of the song that is to come, where they are known, if only from
 * its header; at the deck's rate. */
static RT_SAFE uint64_t
song_frames(const struct lane *lane, const struct plan_entry *entry)
{
	const uint64_t position = lane_song_frame(entry->stream);
	uint64_t frames;

	if (is_whole(entry->stream))
		frames = pcm_ring_readable(&entry->stream->pcm);
	else if (entry->end_frame > position)
		frames = entry->end_frame - position;
	else
		return UINT64_MAX;
	return at_rate(frames, entry->in_hz, lane->rate_hz);
}

static RT_SAFE bool
can_overlap(const struct lane *lane, const struct plan_entry *entry,
	    const struct plan_entry *next)
{
	return next->fade_frames > 0 &&
	       next->stream->root != entry->stream->root &&
	       atomic_load_explicit(&next->stream->taken_cut,
				    memory_order_relaxed) == 0 &&
	       (next->resampler == NULL ||
		next->resampler != lane->voice.resampler);
}

RT_SAFE uint64_t
lane_overlap_distance(struct lane *lane, const struct plan_lane *planned,
		      int index, uint64_t *ret_frames)
{
	const struct plan_entry *entry = &planned->entries[index];
	const struct plan_entry *next = entry + 1;
	const uint64_t least = lane->rate_hz / LANE_OVERLAP_PARTS + 1;
	const uint64_t written = deck_written(lane);
	uint64_t end, frames;

	if ((uint32_t)(index + 1) >= planned->count ||
	    !can_overlap(lane, entry, next))
		return UINT64_MAX;
	end = song_end(lane, entry);
	if (end == UINT64_MAX || end <= written)
		return UINT64_MAX;
	frames = smaller(next->fade_frames, (end - lane->song_begin) / 2);
	frames = smaller(frames, song_frames(lane, next) / 2);
	if (frames >= least && end - written > frames)
		return end - written - frames;
	frames = smaller(frames, end - written);
	if (frames < least)
		return UINT64_MAX;
	*ret_frames = frames;
	return 0;
}

/* The frame of the song that would be heard next, without the resampler's
 * delay. */
static RT_SAFE uint64_t
heard_frame(const struct lane *lane, const struct plan_entry *entry)
{
	const struct resampler *resampler = lane->voice.resampler;
	const uint64_t position = lane_song_frame(entry->stream);
	uint64_t given, inside;

	if (resampler == NULL)
		return position;
	given = at_rate(resampler_given(resampler), lane->rate_hz,
			entry->in_hz);
	inside = resampler_taken(resampler) > given
			 ? resampler_taken(resampler) - given
			 : 0;
	return position > entry->stream->base_frame + inside
		       ? position - inside
		       : entry->stream->base_frame;
}

RT_SAFE bool
lane_overlap_begin(struct lane *lane, const struct plan *plan, int index,
		   uint64_t frames)
{
	struct lane_overlap *overlap = &lane->overlap;
	const struct plan_entry *entry = &plan->lanes[lane->id].entries[index];
	const struct plan_entry *next = entry + 1;
	const struct deck_stretch stretch = {
		.first_frame = deck_written(lane),
		.stream_id = next->stream->root,
		.stream_frame = lane_song_frame(next->stream),
		.stream_rate_hz = next->stream->spec.rate_hz,
		.kind = SAMPLE_F32,
		.boosted = 1,
	};

	if (!lane_announce(lane, &stretch))
		return false;
	atomic_store_explicit(&entry->stream->overlapped_at,
			      heard_frame(lane, entry), memory_order_release);
	atomic_store_explicit(&next->stream->mixed_until, UINT64_MAX,
			      memory_order_relaxed);
	atomic_store_explicit(&next->stream->taken_cut, lane->cut,
			      memory_order_release);
	overlap->tail = lane->stream;
	overlap->voice = lane->voice;
	overlap->at = 0;
	overlap->from = 0;
	overlap->frames = frames;
	overlap->begun = 0;
	overlap->alone = false;
	overlap->held = 0;
	lane->stream = next->stream->id;
	lane->song_begin = stretch.first_frame;
	lane->voice.resampler = NULL;
	lane_voice_init(&lane->voice, next, plan->channels,
			stretch.first_frame);
	return true;
}

static RT_SAFE double
progress(const struct lane_overlap *overlap, double at)
{
	return overlap->begun + (1 - overlap->begun) *
					(at - (double)overlap->from) /
					(double)overlap->frames;
}

/* The tail ends sooner than it was thought to. */
static RT_SAFE void
shorten(struct lane *lane, const struct plan_entry *tail)
{
	struct lane_overlap *overlap = &lane->overlap;
	const struct resampler *resampler = overlap->voice.resampler;
	uint64_t left = pcm_ring_readable(&tail->stream->pcm);
	uint64_t slack = 0;

	if (!pcm_ring_ended(&tail->stream->pcm))
		return;
	if (resampler != NULL) {
		const uint64_t due = at_rate(resampler_taken(resampler) + left,
					     tail->in_hz, lane->rate_hz);
		const uint64_t given = resampler_given(resampler);

		left = due > given ? due - given : 0;
		slack = SLACK_FRAMES;
	}
	left += overlap->held;
	if (overlap->at + left + slack >= overlap->from + overlap->frames)
		return;
	overlap->begun = progress(overlap, (double)overlap->at);
	overlap->from = overlap->at;
	overlap->frames = left;
}

/* Makes sure that frames of the tail are held; 0: there are none now, or, over
 * being set, ever. */
static RT_SAFE size_t
hold(struct lane *lane, const struct plan_entry *tail, size_t frames,
     bool *ret_over)
{
	struct lane_overlap *overlap = &lane->overlap;

	*ret_over = false;
	if (overlap->held == 0) {
		*ret_over = pcm_ring_at_end(&tail->stream->pcm);
		overlap->held_at = 0;
		overlap->held = lane_pull(lane, &overlap->voice, tail,
					  overlap->samples, frames, true);
	}
	return frames < overlap->held ? frames : overlap->held;
}

static RT_SAFE void
come_back(struct lane *lane)
{
	struct lane_overlap *overlap = &lane->overlap;
	const double now = progress(overlap, (double)overlap->at);

	overlap->alone = true;
	overlap->back =
		(struct gain_ramp){overlap->at, lane->rate_hz / BACK_PARTS,
				   fade_gain(1 - now), 1.0F};
}

/* Lays the tail over out, which holds the other one's frames, or nothing. */
static RT_SAFE void
lay(struct lane_overlap *overlap, float *out, size_t frames)
{
	const uint32_t channels = overlap->voice.map.out;
	const float *tail = overlap->samples + overlap->held_at * channels;
	size_t i;
	uint32_t c;

	for (i = 0; i < frames; i++) {
		const double now =
			progress(overlap, (double)(overlap->at + i) + 0.5);
		float out_gain = fade_gain(1 - now), in_gain = fade_gain(now);

		if (overlap->alone) {
			out_gain =
				gain_ramp_at(&overlap->back, overlap->at + i);
			in_gain = 0.0F;
		}
		for (c = 0; c < channels; c++, out++, tail++)
			*out = in_gain == 0.0F
				       ? *tail * out_gain
				       : *tail * out_gain + *out * in_gain;
	}
	overlap->held_at += frames;
	overlap->held -= frames;
	overlap->at += frames;
}

RT_SAFE enum lane_overlap_step
lane_overlap_step(struct lane *lane, const struct plan_entry *tail,
		  const struct plan_entry *head, size_t limit,
		  size_t *ret_frames)
{
	struct lane_overlap *overlap = &lane->overlap;
	struct pcm_ring *to = &lane_deck(lane)->ring;
	uint64_t left = UINT64_MAX;
	size_t room, count;
	float *out = pcm_ring_write_span(to, &room);
	bool over;

	if (!overlap->alone) {
		shorten(lane, tail);
		left = overlap->from + overlap->frames - overlap->at;
	}
	if (left == 0)
		return LANE_OVERLAP_OVER;
	room = (size_t)smaller(smaller(room, limit), left);
	room = (size_t)smaller(room, LANE_OVERLAP_FRAMES);
	if (room == 0)
		return LANE_OVERLAP_WAITS;
	count = hold(lane, tail, room, &over);
	if (count == 0)
		return over ? LANE_OVERLAP_OVER : LANE_OVERLAP_WAITS;
	if (!overlap->alone) {
		const bool ended = pcm_ring_at_end(&head->stream->pcm);
		const size_t got =
			lane_pull(lane, &lane->voice, head, out, count, false);

		if (got == 0 && !ended)
			return LANE_OVERLAP_WAITS;
		if (got == 0)
			come_back(lane);
		else
			count = got;
	}
	lay(overlap, out, count);
	pcm_ring_commit(to, count);
	*ret_frames = count;
	return LANE_OVERLAP_MIXED;
}

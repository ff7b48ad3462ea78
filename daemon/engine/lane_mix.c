/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane_mix.c - frames from a stream's PCM ring into a deck.
 *
 * A song's own gain is laid on here, as floats. A change of it in the middle of
 * the song is ramped; a song begins with its gain, since it joins another song.
 *
 * Three ways, by the entry: copied (same channels, or each output channel is
 * one input or silence: the decoder's own samples, marked exact); mixed down as
 * floats; resampled as floats, with the channels mapped before, so that one
 * resampler serves songs of different channels.
 *
 * A stretch is added before its first frame is committed. Through a resampler
 * that first frame lies ahead of what was written: input frame n since the
 * resampler's start comes out at n * out / in. Stretches carry the root's id
 * and frames of the song, so that a song of several streams is one stretch. */
#include "daemon/audio/convert.h"
#include "daemon/audio/resample.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/stream.h"

#include <string.h>

enum { GAIN_RAMPS_A_SECOND = 50 };

_Static_assert((int)LANE_CHUNK_FRAMES <= (int)RESAMPLE_CHUNK_FRAMES,
	       "the resampler takes a whole chunk");

RT_SAFE struct deck *
lane_deck(struct lane *lane)
{
	return &lane->bus->decks[lane->id][lane->deck];
}

static RT_SAFE size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

RT_SAFE uint64_t
lane_song_frame(const struct stream *stream)
{
	return stream->base_frame + pcm_ring_position(&stream->pcm);
}

RT_SAFE bool
lane_announce(struct lane *lane, const struct deck_stretch *next)
{
	const struct deck_stretch *last = &lane->stretch;

	if (last->stream_id == next->stream_id &&
	    last->stream_rate_hz == next->stream_rate_hz &&
	    last->kind == next->kind && last->bits == next->bits &&
	    last->exact == next->exact && last->boosted == next->boosted &&
	    lane->stretch_end == next->stream_frame)
		return true;
	if (!deck_add_stretch(lane_deck(lane), next))
		return false;
	lane->stretch = *next;
	lane->stretch_end = next->stream_frame;
	return true;
}

static RT_SAFE bool
announce(struct lane *lane, const struct stream *stream, uint64_t first,
	 enum sample_kind kind, bool exact)
{
	const struct gain_ramp *gain = &lane->voice.gain;
	const struct deck_stretch next = {
		.first_frame = first,
		.stream_id = stream->root,
		.stream_frame = lane_song_frame(stream),
		.stream_rate_hz = stream->spec.rate_hz,
		.kind = kind,
		.bits = kind == SAMPLE_S32 ? stream->spec.bits : 0,
		.exact = exact,
		.boosted = gain->from > 1.0F || gain->to > 1.0F,
	};

	return lane_announce(lane, &next);
}

static RT_SAFE void
taken(struct lane *lane, struct stream *stream, size_t frames)
{
	pcm_ring_consume(&stream->pcm, frames);
	lane->stretch_end = lane_song_frame(stream);
}

/* The gain that the plan says; a change begins at the frame taken next. */
static RT_SAFE void
follow_gain(struct lane_voice *voice, const struct plan_entry *entry)
{
	const struct stream *stream = entry->stream;
	const uint64_t position = pcm_ring_position(&stream->pcm);

	if (voice->gain.to == entry->gain)
		return;
	voice->gain = (struct gain_ramp){
		position, stream->spec.rate_hz / GAIN_RAMPS_A_SECOND,
		gain_ramp_at(&voice->gain, position), entry->gain};
}

static RT_SAFE bool
keeps_level(const struct lane_voice *voice, const struct stream *stream)
{
	return voice->gain.to == 1.0F &&
	       gain_ramp_done(&voice->gain, pcm_ring_position(&stream->pcm));
}

/* frames frames in the deck's channels, with the gain; in lane->mapped. */
static RT_SAFE const float *
with_gain(struct lane *lane, const struct lane_voice *voice,
	  const struct stream *stream, const float *in, size_t frames)
{
	const uint64_t position = pcm_ring_position(&stream->pcm);
	const uint32_t channels = voice->map.out;
	size_t i = 0;

	for (i = 0; i < frames; i++) {
		const float gain = gain_ramp_at(&voice->gain, position + i);
		uint32_t c = 0;

		for (c = 0; c < channels; c++)
			lane->mapped[i * channels + c] =
				in[i * channels + c] * gain;
	}
	return lane->mapped;
}

/* Up to a chunk as floats, in the deck's channels; *ret_frames, at most
 * limit. Without a change when it is that already. */
static RT_SAFE const float *
as_mapped_floats(struct lane *lane, const struct lane_voice *voice,
		 const struct stream *stream, size_t limit, size_t *ret_frames)
{
	const void *samples = pcm_ring_read_span(&stream->pcm, ret_frames);
	const float *floats = samples;

	*ret_frames = smaller(*ret_frames, limit);
	*ret_frames = smaller(*ret_frames, LANE_CHUNK_FRAMES);
	if (stream->spec.kind == SAMPLE_S32) {
		convert_s32_to_f32(lane->in, samples,
				   *ret_frames * stream->spec.channels);
		floats = lane->in;
	}
	if (voice->map.in != voice->map.out) {
		if (voice->map.copies)
			channel_map_copy(&voice->map, lane->mapped, floats,
					 *ret_frames);
		else
			channel_map_mix(&voice->map, lane->mapped, floats,
					*ret_frames);
		floats = lane->mapped;
	}
	return keeps_level(voice, stream)
		       ? floats
		       : with_gain(lane, voice, stream, floats, *ret_frames);
}

static RT_SAFE size_t
take_copied(struct lane *lane, struct stream *stream, size_t limit)
{
	struct pcm_ring *to = &lane_deck(lane)->ring;
	size_t frames, room;
	const void *in = pcm_ring_read_span(&stream->pcm, &frames);
	void *out = pcm_ring_write_span(to, &room);

	frames = smaller(smaller(frames, room), limit);
	if (frames == 0 || !announce(lane, stream, pcm_ring_written(to),
				     stream->spec.kind, true))
		return 0;
	if (lane->voice.map.in == lane->voice.map.out)
		memcpy(out, in, frames * to->channels * sizeof(uint32_t));
	else
		channel_map_copy(&lane->voice.map, out, in, frames);
	pcm_ring_commit(to, frames);
	taken(lane, stream, frames);
	return frames;
}

static RT_SAFE size_t
take_mixed(struct lane *lane, struct stream *stream, size_t limit)
{
	struct pcm_ring *to = &lane_deck(lane)->ring;
	size_t frames, room;
	float *out = pcm_ring_write_span(to, &room);
	const float *in = as_mapped_floats(lane, &lane->voice, stream,
					   smaller(limit, room), &frames);

	if (frames == 0 ||
	    !announce(lane, stream, pcm_ring_written(to), SAMPLE_F32, false))
		return 0;
	memcpy(out, in, frames * to->channels * sizeof(float));
	pcm_ring_commit(to, frames);
	taken(lane, stream, frames);
	return frames;
}

/* The deck frame at which the resampler's next input frame comes out. */
static RT_SAFE uint64_t
resampled_frame(const struct lane *lane, const struct plan_entry *entry,
		uint32_t out_hz)
{
	const uint64_t in = resampler_taken(entry->resampler);
	const uint64_t in_hz = entry->in_hz;

	return lane->voice.resampler_base + in / in_hz * out_hz +
	       (in % in_hz * out_hz + in_hz - 1) / in_hz;
}

static RT_SAFE size_t
take_resampled(struct lane *lane, const struct plan_entry *entry, size_t limit)
{
	struct stream *stream = entry->stream;
	struct pcm_ring *to = &lane_deck(lane)->ring;
	size_t frames, room, in_frames, out_frames;
	float *out = pcm_ring_write_span(to, &room);
	const float *in;

	room = smaller(smaller(room, limit), LANE_CHUNK_FRAMES);
	if (room == 0)
		return 0;
	in = as_mapped_floats(lane, &lane->voice, stream, LANE_CHUNK_FRAMES,
			      &frames);
	if (frames == 0 ||
	    !announce(lane, stream, resampled_frame(lane, entry, lane->rate_hz),
		      SAMPLE_F32, false))
		return 0;
	resampler_process(entry->resampler, in, frames, out, room, &in_frames,
			  &out_frames);
	pcm_ring_commit(to, out_frames);
	taken(lane, stream, in_frames);
	return in_frames > out_frames ? in_frames : out_frames;
}

RT_SAFE void
lane_voice_init(struct lane_voice *voice, const struct plan_entry *entry,
		uint32_t channels, uint64_t first)
{
	if (entry->resampler != voice->resampler)
		voice->resampler_base = first;
	voice->resampler = entry->resampler;
	voice->gain = (struct gain_ramp){0, 0, entry->gain, entry->gain};
	channel_map_init_mask(&voice->map, entry->stream->spec.channels,
			      entry->stream->channel_mask, channels);
}

RT_SAFE size_t
lane_take(struct lane *lane, const struct plan_entry *entry, size_t limit)
{
	const struct channel_map *map = &lane->voice.map;

	follow_gain(&lane->voice, entry);
	if (entry->resampler != NULL)
		return take_resampled(lane, entry, limit);
	if (keeps_level(&lane->voice, entry->stream) &&
	    (map->in == map->out || map->copies))
		return take_copied(lane, entry->stream, limit);
	return take_mixed(lane, entry->stream, limit);
}

static RT_SAFE size_t
pull_resampled(struct lane *lane, const struct lane_voice *voice,
	       struct stream *stream, float *out, size_t frames)
{
	size_t in_frames = 0, given = 0, taken = 0;

	do {
		const float *in = as_mapped_floats(
			lane, voice, stream, LANE_CHUNK_FRAMES, &in_frames);

		if (in_frames == 0)
			break;
		resampler_process(voice->resampler, in, in_frames, out, frames,
				  &taken, &given);
		pcm_ring_consume(&stream->pcm, taken);
	} while (given == 0 && taken > 0);
	return given;
}

RT_SAFE size_t
lane_pull(struct lane *lane, struct lane_voice *voice,
	  const struct plan_entry *entry, float *out, size_t frames, bool rest)
{
	struct stream *stream = entry->stream;
	const float *in;
	size_t count;

	follow_gain(voice, entry);
	if (voice->resampler != NULL) {
		if (rest && pcm_ring_at_end(&stream->pcm))
			return resampler_flush(voice->resampler, out, frames);
		return pull_resampled(lane, voice, stream, out, frames);
	}
	in = as_mapped_floats(lane, voice, stream, frames, &count);
	memcpy(out, in, count * voice->map.out * sizeof(float));
	pcm_ring_consume(&stream->pcm, count);
	return count;
}

RT_SAFE bool
lane_flush(struct lane *lane)
{
	struct pcm_ring *to = &lane_deck(lane)->ring;

	while (lane->voice.resampler != NULL) {
		size_t room, frames;
		float *out = pcm_ring_write_span(to, &room);

		room = smaller(room, LANE_CHUNK_FRAMES);
		if (room == 0)
			return false;
		frames = resampler_flush(lane->voice.resampler, out, room);
		if (frames == 0)
			lane->voice.resampler = NULL;
		pcm_ring_commit(to, frames);
	}
	return true;
}

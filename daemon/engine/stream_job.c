/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream_job.c - what a worker does for a stream: open, seek, prime, read
 * ahead.
 *
 * OPEN is one job in the common case: the ring memory is taken before it, the
 * byte ring gets its part as soon as the file's length is known, the PCM ring
 * the rest once the decoder knows the format. Only when that rest is under
 * 250 ms the job ends with -ENOBUFS and control finds another place (PRIME).
 *
 * A start past the end of a chain link goes on in the next link; how long a
 * link is, its decoder tells. */
#include "daemon/engine/memory.h"
#include "daemon/engine/stream.h"

#include "lib/base/clock.h"
#include "lib/rt/rt.h"

#include <errno.h>

enum {
	FILL_PIECE_BYTES = 128 << 10,
	PAGE_BYTES = 4096,
	/* An endless run of starved steps, or of links without a frame. */
	PRIME_IDLE_STEPS = 4096,
	PRIME_LINKS_MAX = 4096,
};

static bool
is_cancelled(const struct stream *stream)
{
	return atomic_load_explicit(&stream->job.cancelled,
				    memory_order_relaxed) != 0;
}

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The byte ring: all of a small file, else its part of the extent. */
static void
place_bytes(struct stream *stream)
{
	const uint64_t length = source_length(stream->source);
	size_t bytes = stream->extent.bytes / 5 * 2;

	bytes = smaller(bytes, STREAM_BYTES_MAX);
	if (bytes < STREAM_BYTES_MIN)
		bytes = STREAM_BYTES_MIN;
	if (length < bytes)
		bytes = (size_t)length;
	bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	if (bytes == 0)
		bytes = PAGE_BYTES;
	byte_ring_init(&stream->bytes, stream->extent.memory, bytes);
}

static size_t
frame_bytes(const struct stream *stream)
{
	return stream->spec.channels * sizeof(uint32_t);
}

/* Frames of the PCM ring that would be best. */
static size_t
wanted_frames(const struct stream *stream)
{
	const struct decoder_info *info = stream->live_info;
	size_t frames =
		(size_t)((uint64_t)stream->spec.rate_hz * STREAM_PCM_MS / 1000);

	frames = smaller(frames, STREAM_PCM_MAX / frame_bytes(stream));
	if (info->frames != 0 && info->frames < frames)
		frames = (size_t)info->frames;
	return frames < 64 ? 64 : frames;
}

/* In the rest of the extent, or the one that control found. */
static int
place_pcm(struct stream *stream)
{
	const size_t used = stream->bytes.capacity;
	const size_t wanted = wanted_frames(stream);
	const size_t least =
		smaller(wanted, (size_t)((uint64_t)stream->spec.rate_hz *
						 STREAM_STOCK_MS / 1000 +
					 1));
	char *memory = (char *)stream->extent.memory + used;
	size_t frames = (stream->extent.bytes - used) / frame_bytes(stream);

	if (stream->pcm_extent.memory != NULL) {
		memory = stream->pcm_extent.memory;
		frames = stream->pcm_extent.bytes / frame_bytes(stream);
	}
	if (frames < least)
		return -ENOBUFS;
	pcm_ring_init(&stream->pcm, memory, smaller(frames, wanted),
		      stream->spec.channels, 0);
	pcm_ring_provide(&stream->pcm,
			 0); /* what is decoded first comes first */
	return 0;
}

static void
note_gain(void *context, const char *name, const char *value, size_t length)
{
	replay_gain_tag(context, name, value, length);
}

static int
open_decoder(struct stream *stream)
{
	int result;

	reader_init(&stream->reader, &stream->bytes, stream->source);
	if (stream->chain_offset == 0) {
		result = decoder_open(NULL, &stream->reader, stream->uri,
				      &stream->decoder, &stream->open_reason);
	} else {
		result = reader_seek(&stream->reader, stream->chain_offset);
		if (result == 0)
			result = decoder_open_as(
				stream->chain_ops, NULL, &stream->reader,
				&stream->decoder, &stream->open_reason);
	}
	if (result < 0)
		return result;
	stream->live_info = stream->decoder->ops->info(stream->decoder);
	/* A song whose tags are broken is one without a gain. */
	(void)stream->decoder->ops->tags(stream->decoder, note_gain,
					 &stream->replay_gain);
	return 0;
}

/* The next link takes the place of the one that begins before it. */
static int
open_next_link(struct stream *stream)
{
	const struct decoder_info *info = stream->live_info;

	stream->chain_ops = stream->decoder->ops;
	stream->chain_offset = info->link_offset;
	stream->chain_base += info->frames;
	decoder_destroy(stream->decoder);
	stream->decoder = NULL;
	byte_ring_reset(&stream->bytes);
	if (source_seek(stream->source, 0) < 0)
		return -EIO;
	return open_decoder(stream);
}

static uint64_t
rescale(uint64_t frames, uint32_t from_hz, uint32_t to_hz)
{
	return frames / from_hz * to_hz + frames % from_hz * to_hz / from_hz;
}

/* Frames of the song are counted at the rate of the link that they lie in. */
static void
follow_rate(struct stream *stream, uint32_t rate_hz)
{
	if (stream->chain_hz != 0 && stream->chain_hz != rate_hz) {
		stream->chain_base =
			rescale(stream->chain_base, stream->chain_hz, rate_hz);
		stream->base_frame =
			rescale(stream->base_frame, stream->chain_hz, rate_hz);
	}
	stream->chain_hz = rate_hz;
}

/* Whether the wanted start lies behind the end of this link. */
static bool
starts_past_link(const struct stream *stream)
{
	const uint64_t frames = stream->live_info->frames;

	return frames != 0 && stream->base_frame >= stream->chain_base + frames;
}

/* To where the stream is to begin, or to the link's last frame if that lies
 * behind it; sets spec and base_frame. */
static int
seek_to_start(struct stream *stream)
{
	const struct audio_spec *spec = &stream->live_info->spec;
	uint64_t frame;
	int result;

	if (!audio_spec_valid(spec))
		return -EINVAL;
	stream->spec = *spec;
	stream->channel_mask = stream->live_info->channel_mask;
	follow_rate(stream, spec->rate_hz);
	if (!stream->start_exact)
		stream->base_frame =
			stream->start_ns <= 0
				? 0
				: clock_ns_to_frames(stream->start_ns,
						     spec->rate_hz);
	if (stream->base_frame < stream->chain_base)
		stream->base_frame = stream->chain_base;
	frame = stream->base_frame - stream->chain_base;
	if (starts_past_link(stream))
		frame = stream->live_info->frames - 1;
	if (frame == 0)
		return 0;
	result = decoder_seek(stream->decoder, frame);
	if (result == -E2BIG)
		stream->open_reason = decoder_overdrawn_reason;
	return result;
}

static int
decode_until(struct stream *stream, size_t frames)
{
	unsigned idle = 0;

	while (pcm_ring_readable(&stream->pcm) < frames &&
	       stream_get_end(stream) == STREAM_GOES_ON) {
		if (is_cancelled(stream))
			return -ECANCELED;
		(void)pool_populate(&stream->pcm,
				    pcm_ring_written(&stream->pcm) +
					    STREAM_STEP_FRAMES);
		if (stream_step(stream))
			idle = 0;
		else if (pcm_ring_writable(&stream->pcm) == 0)
			break;
		else if (++idle > PRIME_IDLE_STEPS)
			return -EINVAL;
	}
	return 0;
}

/* Decodes what is left of a link, for nothing. */
static int
skip_rest(struct stream *stream)
{
	int result = 0;

	while (result == 0 && stream_get_end(stream) == STREAM_GOES_ON) {
		pcm_ring_reset(&stream->pcm);
		result = decode_until(stream, 1);
	}
	pcm_ring_reset(&stream->pcm);
	pcm_ring_end(&stream->pcm);
	return result;
}

/* On to the link that the wanted start lies in, or to the song's end. */
static int
go_to_link(struct stream *stream)
{
	unsigned links;
	int result = 0;

	for (links = 0; links < PRIME_LINKS_MAX; links++) {
		if (!starts_past_link(stream))
			return 0;
		result = skip_rest(stream);
		if (result < 0 || stream_get_end(stream) != STREAM_LINKED)
			return result;
		atomic_store(&stream->end, STREAM_GOES_ON);
		atomic_store(&stream->link_awaited, 0);
		result = open_next_link(stream);
		if (result == 0)
			result = seek_to_start(stream);
		if (result == 0)
			result = place_pcm(stream);
		if (result < 0)
			return result;
	}
	return -EINVAL;
}

/* The wanted start lies before the end, as the header tells it. */
static bool
is_within(const struct stream *stream)
{
	return stream->base_frame - stream->chain_base +
		       stream->spec.rate_hz / STREAM_PARTS_MISSED <
	       stream->live_info->frames;
}

static int
check_sound(struct stream *stream)
{
	if (reader_error(&stream->reader) < 0)
		return reader_error(&stream->reader);
	if (pcm_ring_written(&stream->pcm) > 0 ||
	    stream_get_end(stream) == STREAM_LINKED)
		return 0;
	if (stream_get_end(stream) == STREAM_BROKEN)
		return -EINVAL;
	/* Nothing after the wanted start is no fault, if that is the end. */
	if (stream->base_frame == 0)
		return -ENODATA;
	if (is_within(stream)) {
		stream->open_reason = "the file is cut short before that";
		return -EINVAL;
	}
	return 0;
}

static size_t
primed_frames(const struct stream *stream)
{
	const uint32_t ms =
		stream->rt && stream->hasty ? STREAM_PRIME_MS : STREAM_STOCK_MS;

	return (size_t)((uint64_t)stream->spec.rate_hz * ms / 1000);
}

static int
prime(struct stream *stream)
{
	int result = place_pcm(stream);

	if (result == 0)
		result = go_to_link(stream);
	if (result == 0)
		result = decode_until(stream, primed_frames(stream));
	if (result == 0)
		result = check_sound(stream);
	if (result == 0 && stream->rt)
		reader_set_ring_mode(&stream->reader);
	return result;
}

static int
open_and_prime(struct stream *stream)
{
	const struct source_ref ref = {stream->uri, stream->uid};
	int result =
		source_open(&stream->commons->music, &ref, &stream->source);

	if (result < 0)
		return result;
	source_describe(stream->source, stream->uri, &stream->subject);
	place_bytes(stream);
	result = open_decoder(stream);
	if (result < 0)
		return result;
	atomic_store_explicit(&stream->shown_state, STREAM_PRIMING,
			      memory_order_relaxed);
	stream->rt = stream->decoder->ops->rt;
	result = seek_to_start(stream);
	return result < 0 ? result : prime(stream);
}

/* Only one that starved waits for bytes; the others look at them in time. */
static void
feed_hungry(struct stream *stream)
{
	if (atomic_exchange_explicit(&stream->hungry, 0,
				     memory_order_acq_rel) != 0)
		wake_post(stream->wake);
}

/* Pieces, so that a starved decoder goes on before the ring is full. */
static int
read_ahead(struct stream *stream)
{
	while (!is_cancelled(stream) &&
	       !atomic_load_explicit(&stream->bytes.ended,
				     memory_order_relaxed) &&
	       byte_ring_writable(&stream->bytes) > 0) {
		stream->fill_error = reader_fill(&stream->bytes, stream->source,
						 FILL_PIECE_BYTES);
		if (stream->fill_error < 0)
			byte_ring_end(&stream->bytes);
		feed_hungry(stream);
	}
	return 0;
}

static int
fill(struct stream *stream)
{
	int result;

	if (stream->rt) {
		/* The rest of the memory; a decoder that found no room waits
		 * for it. */
		if (pool_populate(&stream->pcm, stream->pcm.capacity_frames))
			wake_post(stream->wake);
		return read_ahead(stream);
	}
	result = decode_until(stream, stream->pcm.capacity_frames);
	wake_post(stream->wake);
	return result;
}

int
stream_run_phase(struct stream *stream)
{
	int result = 0;

	rt_set_subject(&stream->subject);
	switch (stream->phase) {
	case STREAM_PHASE_OPEN:
		result = open_and_prime(stream);
		break;
	case STREAM_PHASE_PRIME:
		result = prime(stream);
		break;
	case STREAM_PHASE_FILL:
		result = fill(stream);
		break;
	case STREAM_PHASE_CLOSE:
		stream_close(stream);
		memory_trim();
		break;
	}
	rt_set_subject(NULL);
	return result;
}

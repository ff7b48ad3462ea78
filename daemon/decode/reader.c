/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader.c - a cursor over a byte ring, and the ring's filling from a source.
 *
 * In DIRECT mode one worker is both sides of the ring: it fills it when it runs
 * dry, a piece at a time, since most of what an opening decoder asks for is
 * headers and the probes of a search. In RING mode the two sides are two
 * threads and the reader touches nothing but the ring.
 *
 * Invariant with a source: source_tell() == offset + byte_ring_readable(). */
#include "daemon/decode/reader.h"

#include "daemon/source/source.h"
#include "lib/sync/byte_ring.h"

#include <assert.h>
#include <errno.h>

enum { DIRECT_PIECE_BYTES = 32 << 10 };

void
reader_init(struct reader *reader, struct byte_ring *ring,
	    struct source *source)
{
	*reader = (struct reader){
		.ring = ring,
		.source = source,
		.direct = true,
	};
	if (source != NULL)
		reader->offset = source_tell(source) - byte_ring_readable(ring);
	reader->marked_offset = reader->offset;
}

int
reader_fill(struct byte_ring *ring, struct source *source, size_t limit)
{
	while (limit > 0) {
		size_t room = 0;
		void *span = byte_ring_write_span(ring, &room);
		ssize_t count = 0;

		if (room == 0)
			return 0;
		count = source_read(source, span, room < limit ? room : limit);
		if (count < 0)
			return (int)count;
		if (count == 0) {
			byte_ring_end(ring);
			return 0;
		}
		byte_ring_commit(ring, (size_t)count);
		limit -= (size_t)count;
	}
	return 0;
}

/* DIRECT: makes at least one byte readable if there is one. */
static enum reader_status
fetch(struct reader *reader)
{
	int error = 0;

	if (byte_ring_at_end(reader->ring))
		return READER_EOF;
	if (reader_full(reader))
		return READER_STARVED; /* the caller's mark is too far back */
	error = reader_fill(reader->ring, reader->source, DIRECT_PIECE_BYTES);
	if (byte_ring_readable(reader->ring) > 0)
		return READER_OK;
	if (error < 0) {
		reader->error = error;
		return READER_ERROR;
	}
	return READER_EOF;
}

RT_SAFE enum reader_status
reader_read(struct reader *reader, void *ret_bytes, size_t length,
	    size_t *ret_length)
{
	size_t count = byte_ring_read(reader->ring, ret_bytes, length);

	if (count == 0 && reader->direct && reader->source != NULL) {
		enum reader_status status = READER_ERROR;

		RT_EXCEPTION("DIRECT mode runs on a worker")
		{
			status = fetch(reader);
		}
		if (status != READER_OK)
			return status;
		count = byte_ring_read(reader->ring, ret_bytes, length);
	}
	if (count > 0) {
		reader->offset += count;
		*ret_length = count;
		return READER_OK;
	}
	if (byte_ring_at_end(reader->ring))
		return READER_EOF;
	return reader->direct ? READER_EOF : READER_STARVED;
}

RT_SAFE void
reader_mark(struct reader *reader)
{
	byte_ring_mark(reader->ring);
	reader->marked_offset = reader->offset;
}

RT_SAFE void
reader_rewind(struct reader *reader)
{
	byte_ring_rewind(reader->ring);
	reader->offset = reader->marked_offset;
}

RT_SAFE bool
reader_full(const struct reader *reader)
{
	return byte_ring_writable(reader->ring) == 0;
}

RT_SAFE uint64_t
reader_offset(const struct reader *reader)
{
	return reader->offset;
}

bool
reader_can_seek(const struct reader *reader)
{
	return reader->direct && reader->source != NULL;
}

int
reader_seek(struct reader *reader, uint64_t offset)
{
	int error = 0;

	assert(reader->direct);
	if (offset >= reader->offset &&
	    offset - reader->offset <= byte_ring_readable(reader->ring)) {
		byte_ring_skip(reader->ring, (size_t)(offset - reader->offset));
	} else {
		if (reader->source == NULL)
			return -ESPIPE;
		error = source_seek(reader->source, offset);
		if (error < 0)
			return error;
		byte_ring_reset(reader->ring);
	}
	reader->offset = offset;
	reader_mark(reader);
	return 0;
}

uint64_t
reader_length(const struct reader *reader)
{
	if (reader->source != NULL)
		return source_length(reader->source);
	if (reader->direct)
		return reader->offset + byte_ring_readable(reader->ring);
	return UINT64_MAX;
}

int
reader_error(const struct reader *reader)
{
	return reader->error;
}

void
reader_set_ring_mode(struct reader *reader)
{
	reader->direct = false;
	reader->source = NULL;
}

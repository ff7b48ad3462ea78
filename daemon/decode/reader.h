/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader.h - the narrow view of a file that a decoder has.
 *
 * DIRECT: on a worker, while a stream is opened, primed and sought. A read
 * blocks and fills the byte ring from the source as needed; seeking works.
 * RING: in the rotary set. A read gives what is in the byte ring, STARVED when
 * a worker has yet to bring more, or EOF. It never blocks and never lies.
 * Going from DIRECT to RING loses nothing: the ring holds what follows.
 *
 * reader_mark()/reader_rewind() go back over the bytes read since the mark;
 * both modes; the mark pins bytes in the ring, so a step that reads more than
 * the ring holds finds it full: reader_full().
 * Threads: the holder of the stream's claim. RT: in RING mode RT_SAFE. */
#ifndef ROTARY_DECODE_READER_H
#define ROTARY_DECODE_READER_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct byte_ring;
struct source;

enum reader_status {
	READER_OK,      /* *ret_length > 0 bytes */
	READER_STARVED, /* nothing now, more will come */
	READER_EOF,     /* nothing, ever */
	READER_ERROR,   /* DIRECT only: the source failed, reader_error() */
};

struct reader {
	struct byte_ring *ring;
	struct source *source; /* DIRECT only; NULL: what the ring has is all */
	uint64_t offset;       /* of the cursor, in the file */
	uint64_t marked_offset;
	int error; /* -errno of the source */
	bool direct;
};

/* Neither ring nor source is owned; both outlive the reader. Starts DIRECT. */
void reader_init(struct reader *reader, struct byte_ring *ring,
		 struct source *source);

RT_SAFE enum reader_status reader_read(struct reader *reader, void *ret_bytes,
				       size_t length, size_t *ret_length);
RT_SAFE void reader_mark(struct reader *reader);
RT_SAFE void reader_rewind(struct reader *reader);
/* The ring can take no more before the mark moves. */
RT_SAFE bool reader_full(const struct reader *reader);
RT_SAFE uint64_t reader_offset(const struct reader *reader);

/* False when there is only what the ring holds: then a seek goes forward in
 * it and nowhere else. */
bool reader_can_seek(const struct reader *reader);
/* DIRECT only. 0 or -errno. */
MAY_BLOCK NODISCARD int reader_seek(struct reader *reader, uint64_t offset);
uint64_t reader_length(const struct reader *reader);
int reader_error(const struct reader *reader);
/* Fills the ring from the source with up to limit bytes; the worker's
 * read-ahead. Marks the ring's end at the file's. 0 or -errno. */
MAY_BLOCK NODISCARD int reader_fill(struct byte_ring *ring,
				    struct source *source, size_t limit);
void reader_set_ring_mode(struct reader *reader);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* window.h - the bytes around a decoder's cursor, in one run of memory.
 *
 * A parser that must see a whole page or frame looks at window_bytes(), asks
 * for more until it has what it needs, and drops what it used. What was read
 * is taken out of the reader's ring at once, so nothing is ever read twice, a
 * ring of any size will do, and a starved parser simply goes on later.
 * Threads: as the reader. RT: window_more() and window_drop() in RING mode.
 * Memory: one block of the allocator. Errors: as the reader. */
#ifndef ROTARY_DECODE_WINDOW_H
#define ROTARY_DECODE_WINDOW_H

#include "daemon/decode/reader.h"

struct allocator;

struct window {
	struct allocator *allocator;
	struct reader *reader;
	uint8_t *block;
	size_t capacity;
	size_t start; /* block[start, end) is seen */
	size_t end;
	uint64_t offset; /* of block[start], in the file */
};

/* 0 or -ENOMEM. The window begins where the reader stands. */
NODISCARD int window_init(struct window *window, struct allocator *allocator,
			  struct reader *reader, size_t capacity);
void window_finish(struct window *window);
/* A larger block for the same bytes. 0 or -ENOMEM. */
MAY_BLOCK NODISCARD int window_grow(struct window *window, size_t capacity);

static inline const uint8_t *
window_bytes(const struct window *window)
{
	return window->block + window->start;
}

static inline size_t
window_length(const struct window *window)
{
	return window->end - window->start;
}

static inline bool
window_full(const struct window *window)
{
	return window_length(window) == window->capacity;
}

/* Sees some more bytes. READER_OK: at least one. Not when full. */
RT_SAFE enum reader_status window_more(struct window *window);
RT_SAFE void window_drop(struct window *window, size_t length);
/* Goes to offset: by the block's own bytes if they are still there, else (in
 * DIRECT mode only) it forgets all and begins anew. 0 or -errno. */
MAY_BLOCK NODISCARD int window_seek(struct window *window, uint64_t offset);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* window.c - a block that slides over the file.
 *
 * Bytes are moved to the block's front only when the free end has become
 * small, so that with a block of several frames each byte is moved about once.
 * Until then what was dropped can be gone back to.
 *
 *   0 <= start <= end <= capacity; block[start] is the file's byte `offset` */
#include "daemon/decode/window.h"

#include "lib/base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { PIECE_BYTES = 16 << 10, LEAST_PAGE_BYTES = 4096 };

/* While priming, only its front is used; a real-time thread that goes on must
 * not be the first to touch a page of the rest. */
static void
touch(uint8_t *block, size_t length)
{
	volatile uint8_t *bytes = block;
	size_t i = 0;

	for (i = 0; i < length; i += LEAST_PAGE_BYTES)
		bytes[i] = 0;
}

int
window_init(struct window *window, struct allocator *allocator,
	    struct reader *reader, size_t capacity)
{
	uint8_t *block = allocator_new(allocator, capacity);

	if (block == NULL)
		return -ENOMEM;
	touch(block, capacity);
	*window = (struct window){
		.allocator = allocator,
		.reader = reader,
		.block = block,
		.capacity = capacity,
		.offset = reader_offset(reader),
	};
	return 0;
}

void
window_finish(struct window *window)
{
	if (window->block != NULL)
		allocator_delete(window->allocator, window->block);
	window->block = NULL;
}

int
window_grow(struct window *window, size_t capacity)
{
	const size_t length = window_length(window);
	uint8_t *block = allocator_new(window->allocator, capacity);

	assert(capacity >= length);
	if (block == NULL)
		return -ENOMEM;
	touch(block, capacity);
	memcpy(block, window_bytes(window), length);
	allocator_delete(window->allocator, window->block);
	window->block = block;
	window->capacity = capacity;
	window->start = 0;
	window->end = length;
	return 0;
}

RT_SAFE enum reader_status
window_more(struct window *window)
{
	const size_t length = window_length(window);
	size_t room = window->capacity - window->end;
	enum reader_status status;
	size_t count = 0;

	assert(length < window->capacity);
	if (window->start > 0 && room < PIECE_BYTES) {
		memmove(window->block, window_bytes(window), length);
		window->start = 0;
		window->end = length;
		room = window->capacity - length;
	}
	if (room > PIECE_BYTES)
		room = PIECE_BYTES;
	status = reader_read(window->reader, window->block + window->end, room,
			     &count);
	if (status == READER_OK) {
		window->end += count;
		reader_mark(window->reader);
	}
	return status;
}

RT_SAFE void
window_drop(struct window *window, size_t length)
{
	assert(length <= window_length(window));
	window->start += length;
	window->offset += length;
}

int
window_seek(struct window *window, uint64_t offset)
{
	const uint64_t block_offset = window->offset - window->start;
	int error = 0;

	/* What was dropped is still there until the bytes are moved. */
	if (offset >= block_offset && offset - block_offset <= window->end) {
		window->start = (size_t)(offset - block_offset);
		window->offset = offset;
		return 0;
	}
	error = reader_seek(window->reader, offset);
	if (error < 0)
		return error;
	window->start = 0;
	window->end = 0;
	window->offset = offset;
	return 0;
}

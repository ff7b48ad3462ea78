/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comments.c - a state machine over the bytes of a comment block:
 *
 *   VENDOR_LENGTH -> VENDOR -> COUNT -> ITEM_LENGTH -> ITEM -> ITEM_LENGTH ...
 *                                            `-> DONE when none is left
 *
 * A comment is gathered at the end of the kept bytes and stays there only if
 * it is whole and its name is good. A length that runs past the block's end
 * merely means that the comment never becomes whole. */
#include "daemon/decode/comments.h"

#include "lib/base/alloc.h"

#include <string.h>
#include <strings.h>

enum phase {
	PHASE_DONE,
	PHASE_VENDOR_LENGTH,
	PHASE_VENDOR,
	PHASE_COUNT,
	PHASE_ITEM_LENGTH,
	PHASE_ITEM,
};

enum { LENGTH_BYTES = 4, FIRST_CAPACITY = 1 << 10 };

void
comments_init(struct comments *comments, struct allocator *allocator)
{
	*comments = (struct comments){.allocator = allocator};
}

void
comments_finish(struct comments *comments)
{
	if (comments->kept != NULL)
		allocator_delete(comments->allocator, comments->kept);
	comments->kept = NULL;
	comments->kept_length = 0;
	comments->kept_capacity = 0;
}

void
comments_begin(struct comments *comments)
{
	if (comments->phase == PHASE_ITEM && comments->keeping)
		comments->kept_length = comments->item;
	comments->phase = PHASE_VENDOR_LENGTH;
	comments->number = 0;
	comments->number_bytes = 0;
}

/* Makes room for length more bytes within the limit. */
static bool
reserve(struct comments *comments, size_t length)
{
	const size_t wanted = comments->kept_length + length;
	size_t capacity = comments->kept_capacity;
	char *kept = NULL;

	if (wanted > COMMENTS_TOTAL_MAX)
		return false;
	if (wanted <= capacity)
		return true;
	if (capacity == 0)
		capacity = FIRST_CAPACITY;
	while (capacity < wanted)
		capacity *= 2;
	kept = allocator_new(comments->allocator, capacity);
	if (kept == NULL)
		return false;
	if (comments->kept != NULL) {
		memcpy(kept, comments->kept, comments->kept_length);
		allocator_delete(comments->allocator, comments->kept);
	}
	comments->kept = kept;
	comments->kept_capacity = capacity;
	return true;
}

static void
begin_item(struct comments *comments, uint32_t length)
{
	comments->left = length;
	comments->item = comments->kept_length;
	comments->keeping = length <= COMMENTS_VALUE_MAX &&
			    reserve(comments, LENGTH_BYTES + length + 1);
	if (comments->keeping)
		comments->kept_length += LENGTH_BYTES;
	comments->phase = PHASE_ITEM;
}

static bool
name_is_good(const char *name, size_t length)
{
	static const char *const pictures[] = {
		"METADATA_BLOCK_PICTURE",
		"COVERART",
	};

	if (length == 0)
		return false;
	for (size_t i = 0; i < length; i++)
		if (name[i] < 0x20 || name[i] > 0x7d)
			return false;
	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++)
		if (strlen(pictures[i]) == length &&
		    strncasecmp(name, pictures[i], length) == 0)
			return false;
	return true;
}

/* The comment in hand is whole: keeps it, or forgets it. */
static void
end_item(struct comments *comments)
{
	char *text = comments->kept + comments->item + LENGTH_BYTES;
	uint32_t value_length = 0;
	char *equals = NULL;
	size_t length = 0;

	comments->phase = comments->count > 0 ? PHASE_ITEM_LENGTH : PHASE_DONE;
	if (!comments->keeping)
		return;
	length = comments->kept_length - comments->item - LENGTH_BYTES;
	equals = memchr(text, '=', length);
	if (equals == NULL || !name_is_good(text, (size_t)(equals - text))) {
		comments->kept_length = comments->item;
		return;
	}
	*equals = '\0';
	value_length = (uint32_t)(length - (size_t)(equals - text) - 1);
	memcpy(text - LENGTH_BYTES, &value_length, sizeof(value_length));
	comments->kept[comments->kept_length++] = '\0';
}

static void
take_number(struct comments *comments)
{
	const uint32_t number = comments->number;

	comments->number = 0;
	comments->number_bytes = 0;
	switch (comments->phase) {
	case PHASE_VENDOR_LENGTH:
		comments->left = number;
		comments->phase = number > 0 ? PHASE_VENDOR : PHASE_COUNT;
		break;
	case PHASE_COUNT:
		comments->count = number;
		comments->phase = number > 0 ? PHASE_ITEM_LENGTH : PHASE_DONE;
		break;
	default:
		comments->count--;
		begin_item(comments, number);
		if (number == 0)
			end_item(comments);
		break;
	}
}

/* Takes from length bytes what belongs to the string in hand. */
static size_t
take_string(struct comments *comments, const uint8_t *bytes, size_t length)
{
	if (length > comments->left)
		length = comments->left;
	comments->left -= (uint32_t)length;
	if (comments->phase == PHASE_ITEM && comments->keeping) {
		memcpy(comments->kept + comments->kept_length, bytes, length);
		comments->kept_length += length;
	}
	if (comments->left > 0)
		return length;
	if (comments->phase == PHASE_VENDOR)
		comments->phase = PHASE_COUNT;
	else
		end_item(comments);
	return length;
}

void
comments_feed(struct comments *comments, const uint8_t *bytes, size_t length)
{
	while (length > 0 && comments->phase != PHASE_DONE) {
		size_t used = 1;

		if (comments->phase == PHASE_VENDOR ||
		    comments->phase == PHASE_ITEM) {
			used = take_string(comments, bytes, length);
		} else {
			comments->number |= (uint32_t)bytes[0]
					    << (8 * comments->number_bytes);
			if (++comments->number_bytes == LENGTH_BYTES)
				take_number(comments);
		}
		bytes += used;
		length -= used;
	}
}

void
comments_each(const struct comments *comments, decoder_tag_fn *tag,
	      void *context)
{
	size_t end = comments->kept_length;
	size_t at = 0;

	/* A comment that never became whole is still in hand. */
	if (comments->phase == PHASE_ITEM && comments->keeping)
		end = comments->item;
	while (at < end) {
		const char *name = comments->kept + at + LENGTH_BYTES;
		const char *value = name + strlen(name) + 1;
		uint32_t value_length = 0;

		memcpy(&value_length, comments->kept + at,
		       sizeof(value_length));
		tag(context, name, value, value_length);
		at = (size_t)(value - comments->kept) + value_length + 1;
	}
}

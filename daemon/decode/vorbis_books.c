/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vorbis_books.c - looks at a stream's codebooks before libvorbis does.
 *
 * vorbis_book_init_decode() puts 12 bytes an entry that has a code word on its
 * caller's stack. A header of a hundred bytes can name eight million of them;
 * the most that we let pass take 96 KiB of the 256 that our threads have. What
 * libvorbis 1.3.7 puts there otherwise is bounded by the longest block and by 8
 * channels: 64 KiB in a residue of type 0, some hundred bytes elsewhere.
 *
 * A book of vectors without a dimension is refused: libvorbis looks for ever
 * for the side of their lattice, and divides by the dimension.
 *
 * The layout is in section 3.2.1 of the Vorbis I specification. Nothing is kept
 * and nothing allocated. Time is bounded by the bits of the packet: a book in
 * which few bits stand for much takes at most 32 runs, and 2,048 tries for the
 * side of a lattice.
 */
#include "daemon/decode/vorbis_books.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
	MAGIC_BYTES = 7,
	BOOK_SYNC = 0x564342,
	BOOK_BITS_MAX = 24, /* of dimensions and entries together */
	WORD_BITS_MAX = 32,
	LENGTH_BITS = 5,
};

/* Vorbis packs bits from the lowest on. short_of: more were asked for. */
struct bits {
	const uint8_t *bytes;
	uint64_t at;
	uint64_t end;
	bool short_of;
};

struct book {
	uint32_t dimensions;
	uint32_t entries;
	uint32_t used;
};

static void
skip(struct bits *bits, uint64_t count)
{
	if (count > bits->end - bits->at) {
		bits->short_of = true;
		bits->at = bits->end;
		return;
	}
	bits->at += count;
}

/* Up to 32 bits; 0 behind the end. */
static uint32_t
take(struct bits *bits, unsigned count)
{
	const uint64_t from = bits->at;
	uint32_t value = 0;

	skip(bits, count);
	if (bits->short_of)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		const uint64_t bit = from + i;

		value |= (uint32_t)(bits->bytes[bit / 8] >> (bit % 8) & 1) << i;
	}
	return value;
}

static unsigned
width_of(uint32_t value)
{
	unsigned width = 0;

	for (; value > 0; value >>= 1)
		width++;
	return width;
}

/* The lengths of the code words, run by run or one by one. */
static bool
read_runs(struct bits *bits, struct book *book)
{
	unsigned length = take(bits, LENGTH_BITS) + 1;
	uint32_t left = book->entries;

	for (; left > 0 && !bits->short_of; length++) {
		const uint32_t run = take(bits, width_of(left));

		if (length > WORD_BITS_MAX || run > left)
			return false;
		left -= run;
	}
	book->used = book->entries;
	return !bits->short_of;
}

static bool
read_lengths(struct bits *bits, struct book *book)
{
	const bool sparse = take(bits, 1) != 0;

	book->used = book->entries;
	if (!sparse) {
		skip(bits, (uint64_t)book->entries * LENGTH_BITS);
		return !bits->short_of;
	}
	book->used = 0;
	for (uint32_t i = 0; i < book->entries && !bits->short_of; i++) {
		if (take(bits, 1) == 0)
			continue;
		skip(bits, LENGTH_BITS);
		book->used++;
	}
	return !bits->short_of;
}

/* The most values an axis has so that a lattice of them fits the entries. */
static uint32_t
lattice_side(const struct book *book)
{
	uint32_t side = 0;
	uint64_t points = 0;

	if (book->dimensions == 1 || book->entries == 0)
		return book->entries;
	do {
		side++;
		points = 1;
		for (uint32_t i = 0;
		     i < book->dimensions && points <= book->entries; i++)
			points *= side + 1;
	} while (points <= book->entries);
	return side;
}

static bool
skip_vectors(struct bits *bits, const struct book *book)
{
	const uint32_t type = take(bits, 4);
	uint64_t values = 0;
	unsigned width = 0;

	if (type == 0)
		return !bits->short_of;
	if (type > 2 || book->dimensions == 0)
		return false;
	skip(bits, 32 + 32); /* the least value, and the step */
	width = take(bits, 4) + 1;
	skip(bits, 1);
	values = type == 1 ? lattice_side(book)
			   : (uint64_t)book->entries * book->dimensions;
	skip(bits, values * width);
	return !bits->short_of;
}

static int
check_book(struct bits *bits)
{
	struct book book = {0};

	if (take(bits, 24) != BOOK_SYNC)
		return -EINVAL;
	book.dimensions = take(bits, 16);
	book.entries = take(bits, 24);
	if (width_of(book.dimensions) + width_of(book.entries) > BOOK_BITS_MAX)
		return -EINVAL;
	if (take(bits, 1) != 0 ? !read_runs(bits, &book)
			       : !read_lengths(bits, &book))
		return -EINVAL;
	if (book.used > VORBIS_BOOK_ENTRIES_MAX)
		return -EOVERFLOW;
	return skip_vectors(bits, &book) ? 0 : -EINVAL;
}

int
vorbis_books_check(const uint8_t *packet, size_t length)
{
	struct bits bits = {.bytes = packet, .end = (uint64_t)length * 8};
	uint32_t books = 0;
	int error = 0;

	if (length < MAGIC_BYTES ||
	    memcmp(packet, "\5vorbis", MAGIC_BYTES) != 0)
		return -EINVAL;
	skip(&bits, UINT64_C(8) * MAGIC_BYTES);
	books = take(&bits, 8) + 1;
	for (uint32_t i = 0; i < books && error == 0; i++)
		error = check_book(&bits);
	return error;
}

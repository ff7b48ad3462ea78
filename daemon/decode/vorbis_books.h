/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vorbis_books.h - how large the codebooks are that a Vorbis stream brings. */
#ifndef ROTARY_DECODE_VORBIS_BOOKS_H
#define ROTARY_DECODE_VORBIS_BOOKS_H

#include "lib/base/attr.h"

#include <stddef.h>
#include <stdint.h>

/* Entries of a book that have a code word: no file of any encoder that we have
 * seen has more than 3,125 of them. */
enum { VORBIS_BOOK_ENTRIES_MAX = 8192 };

/* packet: the set-up header, whole. 0; -EOVERFLOW: a book has more entries;
 * -EINVAL: it is damaged, or has a book that no number can be read from. */
NODISCARD int vorbis_books_check(const uint8_t *packet, size_t length);

#endif

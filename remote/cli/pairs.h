/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.h - an answer of the daemon: "name: value" lines in their order.
 *
 * {0} is empty; pairs_finish() frees. Names and values live until then.
 * Threads: one. Errors: -errno as listed. */
#ifndef ROTARY_CLI_PAIRS_H
#define ROTARY_CLI_PAIRS_H

#include "lib/base/text.h"

struct client;

struct pairs {
	struct text bytes;
	struct pair_place {
		size_t name;
		size_t value;
	} * places;
	size_t count;
	size_t capacity;
};

void pairs_finish(struct pairs *pairs);
void pairs_clear(struct pairs *pairs);
/* 0, -ENOMEM. */
NODISCARD int pairs_add(struct pairs *pairs, const char *name,
			const char *value);
/* Adds the answer that client receives, to its end. 0, -ENOMEM, or as
 * client_read_pair(). */
NODISCARD int pairs_read(struct pairs *pairs, struct client *client);

const char *pairs_name(const struct pairs *pairs, size_t index);
const char *pairs_value(const struct pairs *pairs, size_t index);
/* The first value of that name from index on, or NULL. */
const char *pairs_find(const struct pairs *pairs, size_t from,
		       const char *name);
/* The same, or "" when there is none. */
const char *pairs_get(const struct pairs *pairs, const char *name);
/* The index of the next pair named name after from, or count: where the next
 * object of a list begins. */
size_t pairs_next(const struct pairs *pairs, size_t from, const char *name);

/* [from, end) as a JSON object; a name that comes again makes an array of its
 * values; values that are numbers by their name are numbers. */
void pairs_add_json(const struct pairs *pairs, size_t from, size_t end,
		    struct text *text);

#endif

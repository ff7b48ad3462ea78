/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history_search.h - whether some order of a recorded history's operations is
 * that of a plain ring: the search of Wing and Gong, with the prefixes that
 * lead nowhere remembered (Lowe). For stress_history.c; one thread. */
#ifndef ROTARY_STRESS_HISTORY_SEARCH_H
#define ROTARY_STRESS_HISTORY_SEARCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	ITEMS = 4,
	READERS = 3,
	WRITER = READERS,
	THREADS,
	PULLS = 4,
	WRITES = 4,
	NOTHING = ITEMS, /* a pull of an empty set */
	ROUNDS = 4000,
	SEEN_MAX = 1 << 20,
};

enum kind { PULL, INSERT, LINK, REMOVE };

/* An insertion is two: INSERT, when it reads the head, and LINK. */
struct operation {
	enum kind kind;
	uint32_t item;
	uint64_t begin; /* ticks */
	uint64_t end;
};

struct history {
	struct operation operations[THREADS][2 * WRITES];
	uint32_t count[THREADS];
	uint32_t first; /* items in the set at first: 0 .. first - 1 */
};

/* What a prefix of an order has made of the ring. */
struct prefix {
	uint32_t done[THREADS];
	uint32_t skipped[READERS]; /* by the pull that goes on, a mask */
	uint32_t order[ITEMS];     /* from the head on */
	uint32_t length;
	uint32_t behind; /* the head that an insertion has read */
};

/* Prefixes that lead nowhere. */
static struct {
	uint64_t key[SEEN_MAX];
	uint32_t round[SEEN_MAX];
	uint32_t now;
} seen;

static uint64_t
key_of(const struct prefix *prefix)
{
	uint64_t key = prefix->length * 8 + prefix->behind;
	uint32_t i = 0;

	for (i = 0; i < THREADS; i++)
		key = key * 16 + prefix->done[i];
	for (i = 0; i < READERS; i++)
		key = key * 16 + prefix->skipped[i];
	for (i = 0; i < prefix->length; i++)
		key = key * 4 + prefix->order[i];
	return key;
}

/* True when it is there already. */
static bool
note_prefix(const struct prefix *prefix)
{
	const uint64_t key = key_of(prefix);
	uint64_t place = key * UINT64_C(0x9e3779b97f4a7c15) >> 44;
	uint32_t tries = 0;

	for (tries = 0; tries < SEEN_MAX; tries++) {
		if (seen.round[place] != seen.now) {
			seen.round[place] = seen.now;
			seen.key[place] = key;
			return false;
		}
		if (seen.key[place] == key)
			return true;
		place = (place + 1) % SEEN_MAX;
	}
	fail_msg("the table is too small");
	return true;
}

static uint32_t
place_of(const struct prefix *prefix, uint32_t item)
{
	uint32_t i = 0;

	while (i < prefix->length && prefix->order[i] != item)
		i++;
	return i;
}

static void
move_head(struct prefix *prefix)
{
	const uint32_t item = prefix->order[0];

	memmove(&prefix->order[0], &prefix->order[1],
		(prefix->length - 1) * sizeof(prefix->order[0]));
	prefix->order[prefix->length - 1] = item;
}

static void
link_item(struct prefix *prefix, uint32_t item)
{
	uint32_t at = 0;

	if (prefix->length > 0)
		at = place_of(prefix, prefix->behind) + 1;
	memmove(&prefix->order[at + 1], &prefix->order[at],
		(prefix->length - at) * sizeof(prefix->order[0]));
	prefix->order[at] = item;
	prefix->length++;
	prefix->behind = 0;
}

static void
take_out(struct prefix *prefix, uint32_t item)
{
	const uint32_t at = place_of(prefix, item);

	prefix->length--;
	memmove(&prefix->order[at], &prefix->order[at + 1],
		(prefix->length - at) * sizeof(prefix->order[0]));
}

/* The thread's next operation takes effect; false when it could not have had
 * this outcome. */
static bool
take_effect(struct prefix *prefix, uint32_t thread,
	    const struct operation *operation)
{
	uint32_t i = 0;

	prefix->done[thread]++;
	switch (operation->kind) {
	case PULL:
		for (i = 0; i < prefix->length; i++)
			if (prefix->skipped[thread] & 1U << prefix->order[i])
				return false;
		prefix->skipped[thread] = 0;
		if (prefix->length == 0)
			return operation->item == NOTHING;
		if (prefix->order[0] != operation->item)
			return false;
		move_head(prefix);
		return true;
	case INSERT:
		prefix->behind = prefix->length > 0 ? prefix->order[0] : 0;
		return true;
	case LINK:
		link_item(prefix, operation->item);
		return true;
	case REMOVE:
		take_out(prefix, operation->item);
		return true;
	}
	return false;
}

/* Nothing that has not taken effect ended before it began. */
static bool
may_be_next(const struct history *history, const struct prefix *prefix,
	    uint32_t thread)
{
	const struct operation *operation =
		&history->operations[thread][prefix->done[thread]];
	uint32_t i = 0;

	if (prefix->done[thread] == history->count[thread])
		return false;
	for (i = 0; i < THREADS; i++)
		if (i != thread && prefix->done[i] < history->count[i] &&
		    history->operations[i][prefix->done[i]].end <
			    operation->begin)
			return false;
	return true;
}

/* Some order of what is left explains the history. */
static bool
is_explained(const struct history *history, const struct prefix *prefix)
{
	bool ended = true;
	uint32_t i = 0;

	if (note_prefix(prefix))
		return false;
	for (i = 0; i < THREADS; i++) {
		struct prefix next = *prefix;

		ended = ended && prefix->done[i] == history->count[i];
		if (!may_be_next(history, prefix, i))
			continue;
		if (take_effect(&next, i,
				&history->operations[i][prefix->done[i]]) &&
		    is_explained(history, &next))
			return true;
	}
	for (i = 0; i < READERS && prefix->length > 0; i++) {
		struct prefix next = *prefix;

		if (!may_be_next(history, prefix, i))
			continue;
		next.skipped[i] |= 1U << prefix->order[0];
		move_head(&next);
		if (next.skipped[i] != prefix->skipped[i] &&
		    is_explained(history, &next))
			return true;
	}
	return ended;
}

/* An insertion goes right behind the head: the last one put in comes first. */
static bool
is_linearizable(const struct history *history)
{
	struct prefix prefix = {.length = history->first};
	uint32_t i = 0;

	for (i = 1; i < history->first; i++)
		prefix.order[i] = history->first - i;
	seen.now++;
	return is_explained(history, &prefix);
}

#endif

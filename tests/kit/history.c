/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history.c - the search, depth first. A prefix is how many operations of each
 * thread have taken effect, the ring they made, and which turns the pulls that
 * go on have lost; its key is exact, so two prefixes of one key are the same.
 * The next operation is one that began before all that are left had ended. */
#include "tests/kit/history.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_MAX = 1 << 20 };

/* What a prefix of an order has made of the ring. */
struct prefix {
	uint32_t done[HISTORY_THREADS];
	uint32_t lost[HISTORY_READERS]; /* by the pull that goes on, a mask */
	uint32_t order[HISTORY_ITEMS];  /* from the head on */
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

	for (i = 0; i < HISTORY_THREADS; i++)
		key = key * 16 + prefix->done[i];
	for (i = 0; i < HISTORY_READERS; i++)
		key = key * 16 + prefix->lost[i];
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
	fputs("history: the table is too small\n", stderr);
	abort();
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

/* Who lost the node's turn may go on now: it was for a node that went. */
static void
take_out(struct prefix *prefix, uint32_t item)
{
	const uint32_t at = place_of(prefix, item);
	uint32_t i = 0;

	prefix->length--;
	memmove(&prefix->order[at], &prefix->order[at + 1],
		(prefix->length - at) * sizeof(prefix->order[0]));
	for (i = 0; i < HISTORY_READERS; i++)
		prefix->lost[i] &= ~(1U << item);
}

static bool
gives(const struct prefix *prefix, uint32_t item)
{
	if (prefix->length == 0)
		return item == HISTORY_NOTHING;
	return prefix->order[0] == item;
}

/* The thread's next operation takes effect; false when it could not have had
 * this outcome. */
static bool
take_effect(struct prefix *prefix, uint32_t thread,
	    const struct history_operation *operation)
{
	prefix->done[thread]++;
	switch (operation->kind) {
	case HISTORY_PULL:
		if (prefix->lost[thread] != 0 ||
		    !gives(prefix, operation->item))
			return false;
		if (prefix->length > 0)
			move_head(prefix);
		return true;
	case HISTORY_LOOK:
		return gives(prefix, operation->item);
	case HISTORY_INSERT:
		prefix->behind = prefix->length > 0 ? prefix->order[0] : 0;
		return true;
	case HISTORY_LINK:
		link_item(prefix, operation->item);
		return true;
	case HISTORY_REMOVE:
		take_out(prefix, operation->item);
		return true;
	}
	return false;
}

/* The thread has an operation left, and nothing that is left ended before it
 * began. */
static bool
may_be_next(const struct history *history, const struct prefix *prefix,
	    uint32_t thread)
{
	const struct history_operation *operation =
		&history->operations[thread][prefix->done[thread]];
	uint32_t i = 0;

	if (prefix->done[thread] == history->count[thread])
		return false;
	for (i = 0; i < HISTORY_THREADS; i++)
		if (i != thread && prefix->done[i] < history->count[i] &&
		    history->operations[i][prefix->done[i]].end <
			    operation->begin)
			return false;
	return true;
}

/* The pull that is next in thread loses the head's turn; false: not that. */
static bool
lose_turn(const struct history *history, struct prefix *prefix, uint32_t thread)
{
	const uint32_t bit = 1U << prefix->order[0];

	if (prefix->length == 0 || prefix->lost[thread] & bit ||
	    !may_be_next(history, prefix, thread) ||
	    history->operations[thread][prefix->done[thread]].kind !=
		    HISTORY_PULL)
		return false;
	prefix->lost[thread] |= bit;
	move_head(prefix);
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
	for (i = 0; i < HISTORY_THREADS; i++) {
		struct prefix next = *prefix;

		ended = ended && prefix->done[i] == history->count[i];
		if (may_be_next(history, prefix, i) &&
		    take_effect(&next, i,
				&history->operations[i][prefix->done[i]]) &&
		    is_explained(history, &next))
			return true;
	}
	for (i = 0; i < HISTORY_READERS; i++) {
		struct prefix next = *prefix;

		if (lose_turn(history, &next, i) &&
		    is_explained(history, &next))
			return true;
	}
	return ended;
}

bool
history_is_linearizable(const struct history *history)
{
	struct prefix prefix = {.length = history->first};
	uint32_t i = 0;

	for (i = 1; i < history->first; i++)
		prefix.order[i] = history->first - i;
	seen.now++;
	return is_explained(history, &prefix);
}

void
history_add(struct history *history, uint32_t thread,
	    struct history_operation operation)
{
	uint32_t *count = &history->count[thread];

	if (*count + 2 > HISTORY_LENGTH) {
		fputs("history: too long\n", stderr);
		abort();
	}
	history->operations[thread][(*count)++] = operation;
	if (operation.kind != HISTORY_INSERT)
		return;
	operation.kind = HISTORY_LINK;
	history->operations[thread][(*count)++] = operation;
}

void
history_print(const struct history *history)
{
	static const char *const names[] = {
		[HISTORY_PULL] = "pulls",     [HISTORY_LOOK] = "looks at",
		[HISTORY_INSERT] = "inserts", [HISTORY_LINK] = "links",
		[HISTORY_REMOVE] = "removes",
	};
	uint32_t thread = 0;
	uint32_t i = 0;

	fprintf(stderr, "history: %u items at first\n", history->first);
	for (thread = 0; thread < HISTORY_THREADS; thread++)
		for (i = 0; i < history->count[thread]; i++) {
			const struct history_operation *operation =
				&history->operations[thread][i];

			fprintf(stderr, "  %s %u, %llu to %llu: %s %u\n",
				thread == HISTORY_WRITER ? "writer" : "reader",
				thread, (unsigned long long)operation->begin,
				(unsigned long long)operation->end,
				names[operation->kind], operation->item);
		}
}

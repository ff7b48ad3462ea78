/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history.h - what several threads did with a rotary set, and whether some
 * order of it is that of a plain ring: the search of J. Wing and C. Gong
 * ("Testing and verifying concurrent objects", JPDC 17, 1993), with the
 * prefixes that lead nowhere remembered (G. Lowe, "Testing for
 * linearizability", CPE 29(4), 2017).
 *
 * The plain ring: a pull gives the head, or nothing when the ring is empty, and
 * moves the head on; a look gives it and moves nothing; a removal takes the
 * node out; an insertion reads the head and then, maybe later, links the node
 * behind it. So nothing that was removed is given, no turn is given twice, and
 * none present is passed over, but in one case that the set allows: a pull that
 * took a node's turn and finds it removed then takes the next one. That turn is
 * lost, with the node; the search lets a pull do so if the node is removed
 * before the pull takes effect.
 *
 * Threads: one, with memory of its own in static storage. */
#ifndef ROTARY_KIT_HISTORY_H
#define ROTARY_KIT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HISTORY_ITEMS = 4,
	HISTORY_READERS = 3,
	HISTORY_WRITER = HISTORY_READERS,
	HISTORY_THREADS,
	HISTORY_LENGTH = 15,            /* operations of a thread, at most */
	HISTORY_NOTHING = HISTORY_ITEMS /* a pull or look at an empty set */
};

/* An insertion is two: INSERT, when it reads the head, and LINK. */
enum history_kind {
	HISTORY_PULL,
	HISTORY_LOOK,
	HISTORY_INSERT,
	HISTORY_LINK,
	HISTORY_REMOVE,
};

struct history_operation {
	enum history_kind kind;
	uint32_t item;
	uint64_t begin; /* ticks: no two are the same */
	uint64_t end;
};

struct history {
	struct history_operation operations[HISTORY_THREADS][HISTORY_LENGTH];
	uint32_t count[HISTORY_THREADS];
	/* Items 0 .. first - 1 are in the set at first, put in in this order:
	 * 0 is the head, then come first - 1, first - 2 ... */
	uint32_t first;
};

/* Adds an operation of thread; an INSERT adds its LINK too. */
void history_add(struct history *history, uint32_t thread,
		 struct history_operation operation);
bool history_is_linearizable(const struct history *history);
/* All of it, to standard error. */
void history_print(const struct history *history);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rival.h - what a set of streams that takes turns can do, whatever it is made
 * of: readers pull the next member, one writer inserts and removes.
 *
 * Members are numbers below RIVAL_MEMBERS_MAX; each has a node of its own in
 * the set, which is used again once reclaim() named it. A pull holds its member
 * until it has read the member's value, and then lets it go.
 * Threads: init and finish alone; reader_begin, pull and reader_end on a
 * reader's thread; writer_begin, the changes and writer_end on the writer's. */
#ifndef ROTARY_BENCH_RIVAL_H
#define ROTARY_BENCH_RIVAL_H

#include <stdbool.h>
#include <stddef.h>

enum { RIVAL_MEMBERS_MAX = 256, RIVAL_READERS_MAX = 16 };

/* What pull() returns beside a member. */
enum { RIVAL_GAVE_UP = -1 };

struct rival {
	const char *name;
	void *(*create)(void);
	void (*destroy)(void *set);
	void (*thread_begin)(void *set); /* may be NULL */
	void (*thread_end)(void *set);   /* may be NULL */
	int (*pull)(void *set, unsigned reader);
	void (*insert)(void *set, unsigned member);
	void (*remove)(void *set, unsigned member);
	/* The members whose nodes are free since the last call. */
	unsigned (*reclaim)(void *set, unsigned ret_members[RIVAL_MEMBERS_MAX]);
};

extern const struct rival rival_nothing; /* a pull that does nothing */
extern const struct rival rival_rotary;
extern const struct rival rival_array;
extern const struct rival rival_rcu;
extern const struct rival rival_mutex;
extern const struct rival rival_pi;
extern const struct rival rival_spin;
extern const struct rival rival_backoff;

/* Members whose nodes are free, for reclaim(). */
struct rival_freed {
	unsigned members[RIVAL_MEMBERS_MAX];
	unsigned count;
};

void rival_freed_add(struct rival_freed *freed, unsigned member);
unsigned rival_freed_take(struct rival_freed *freed,
			  unsigned ret_members[RIVAL_MEMBERS_MAX]);

/* NULL: there is none of that name. */
const struct rival *rival_find(const char *name);

#endif

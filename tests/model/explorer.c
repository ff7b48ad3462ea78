/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explorer.c - the coroutines and the depth-first search over decisions.
 *
 * A run is told by its decisions: path[i] = (which outcome, of how many). The
 * next run repeats all but the last that had another outcome left, takes that,
 * and decides 0 from there on; 0 always means "the same thread goes on".
 * The buffers of delayed stores belong to the coroutines.
 * Coroutines start by setcontext() and switch by _longjmp(), which makes no
 * system call. */
#include "tests/model/explorer.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* More operations than this: some thread waits for one that does not run. */
enum { RUN_MAX_STEPS = 4000, STACK_BYTES = 64 * 1024, DELAYED_MAX = 64 };

/* A store that is not in memory yet. */
struct delayed {
	volatile void *address;
	unsigned char value[8];
	size_t size;
};

struct decision {
	unsigned outcome;
	unsigned count;
};

struct coroutine {
	ucontext_t context;
	jmp_buf place;
	bool started;
	bool ended;
	bool asleep;
	struct delayed delayed[DELAYED_MAX]; /* oldest first */
	unsigned delayed_count;
};

static struct {
	const struct explorer_case *explored;
	const char *failure;
	struct decision path[2 * RUN_MAX_STEPS];
	unsigned length; /* decisions known */
	unsigned depth;  /* of them taken in this run */
	unsigned preemptions;
	unsigned delays;
	unsigned steps;
	unsigned current;
	bool running; /* coroutines are: the hooks may use the code too */
	struct coroutine coroutines[EXPLORER_THREADS_MAX];
	jmp_buf search;
} state;

static char stacks[EXPLORER_THREADS_MAX][STACK_BYTES]
	__attribute__((aligned(64)));

unsigned
explorer_choose(unsigned count)
{
	struct decision *decision = &state.path[state.depth];

	if (count == 1)
		return 0;
	if (state.depth == state.length) {
		*decision = (struct decision){0, count};
		state.length++;
	}
	if (decision->count != count) {
		fprintf(stderr, "explorer: a run is not repeatable\n");
		abort();
	}
	state.depth++;
	return decision->outcome;
}

void
explorer_fail(const char *reason)
{
	state.failure = reason;
	_longjmp(state.search, 1);
}

static void
copy_to_memory(volatile void *address, const void *value, size_t size)
{
	volatile unsigned char *to = address;
	const unsigned char *from = value;
	size_t i;

	for (i = 0; i < size; i++)
		to[i] = from[i];
}

static void
drain(struct coroutine *coroutine)
{
	unsigned i;

	for (i = 0; i < coroutine->delayed_count; i++)
		copy_to_memory(coroutine->delayed[i].address,
			       coroutine->delayed[i].value,
			       coroutine->delayed[i].size);
	coroutine->delayed_count = 0;
}

void
explorer_drain(void)
{
	if (state.running)
		drain(&state.coroutines[state.current]);
}

void
explorer_forward(const volatile void *address, void *value, size_t size)
{
	const struct coroutine *coroutine = &state.coroutines[state.current];
	unsigned i;

	if (!state.running)
		return;
	for (i = 0; i < coroutine->delayed_count; i++)
		if (coroutine->delayed[i].address == address)
			memcpy(value, coroutine->delayed[i].value, size);
}

static bool
is_weak(const volatile void *address, memory_order order)
{
	const struct explorer_case *explored = state.explored;

	return order != memory_order_seq_cst ||
	       (explored->weakens != NULL &&
		explored->weakens(explored->world, address));
}

/* The first of a row of delayed stores is counted. */
static bool
is_delayed(const struct coroutine *coroutine)
{
	if (coroutine->delayed_count > 0)
		return true;
	if (state.delays >= state.explored->delays || explorer_choose(2) == 0)
		return false;
	state.delays++;
	return true;
}

void
explorer_store(volatile void *address, const void *value, size_t size,
	       memory_order order)
{
	struct coroutine *coroutine = &state.coroutines[state.current];
	struct delayed *delayed;

	if (state.running && state.explored->delays > 0 &&
	    is_weak(address, order) && is_delayed(coroutine)) {
		if (coroutine->delayed_count == DELAYED_MAX)
			explorer_fail("too many delayed stores");
		delayed = &coroutine->delayed[coroutine->delayed_count++];
		delayed->address = address;
		delayed->size = size;
		memcpy(delayed->value, value, size);
		return;
	}
	explorer_drain();
	copy_to_memory(address, value, size);
}

/* While another thread runs, what is delayed may reach memory at any time. */
static void
let_stores_through(void)
{
	unsigned i;

	for (i = 0; i < state.explored->threads; i++)
		if (i != state.current &&
		    state.coroutines[i].delayed_count > 0 &&
		    explorer_choose(2) == 1)
			drain(&state.coroutines[i]);
}

static void
enter(unsigned thread)
{
	struct coroutine *coroutine = &state.coroutines[thread];

	state.current = thread;
	if (coroutine->started)
		_longjmp(coroutine->place, 1);
	coroutine->started = true;
	setcontext(&coroutine->context);
}

/* Another one. */
static bool
can_run(unsigned thread)
{
	const struct coroutine *coroutine = &state.coroutines[thread];

	return thread != state.current && !coroutine->ended &&
	       !coroutine->asleep;
}

/* The one with this rank among the living, the current one not counted. */
static unsigned
nth_other(unsigned rank)
{
	unsigned i;

	for (i = 0; i < state.explored->threads; i++)
		if (can_run(i) && rank-- == 0)
			return i;
	abort();
}

static unsigned
count_others(void)
{
	unsigned count = 0;
	unsigned i;

	for (i = 0; i < state.explored->threads; i++)
		if (can_run(i))
			count++;
	return count;
}

void
explorer_step(const volatile void *address)
{
	const struct explorer_case *explored = state.explored;
	unsigned outcome;

	if (!state.running)
		return;
	state.steps++;
	if (state.steps > RUN_MAX_STEPS)
		explorer_fail("a thread waits for another");
	if (!explored->touch(explored->world, state.current, address))
		return;
	let_stores_through();
	if (state.preemptions >= explored->preemptions)
		return;
	outcome = explorer_choose(1 + count_others());
	if (outcome == 0)
		return;
	state.preemptions++;
	if (_setjmp(state.coroutines[state.current].place) == 0)
		enter(nth_other(outcome - 1));
	/* Is it still right to touch it, after what others did? */
	(void)state.explored->touch(state.explored->world, state.current,
				    address);
}

/* The current one has ended or sleeps. */
static void
give_way(void)
{
	const unsigned others = count_others();

	if (others == 0)
		_longjmp(state.search, 1);
	enter(nth_other(explorer_choose(others)));
}

static void
coroutine_main(void)
{
	const struct explorer_case *explored = state.explored;

	explored->main(explored->world, state.current);
	explorer_drain();
	state.coroutines[state.current].ended = true;
	give_way();
}

void
explorer_sleep(void)
{
	explorer_drain();
	state.coroutines[state.current].asleep = true;
	if (_setjmp(state.coroutines[state.current].place) == 0)
		give_way();
}

bool
explorer_sleeps(unsigned thread)
{
	return state.coroutines[thread].asleep;
}

void
explorer_wake(unsigned thread)
{
	state.coroutines[thread].asleep = false;
}

unsigned
explorer_current(void)
{
	return state.current;
}

static void
prepare_run(void)
{
	unsigned i;

	state.depth = 0;
	state.preemptions = 0;
	state.delays = 0;
	state.steps = 0;
	for (i = 0; i < state.explored->threads; i++) {
		struct coroutine *coroutine = &state.coroutines[i];

		coroutine->started = false;
		coroutine->ended = false;
		coroutine->asleep = false;
		coroutine->delayed_count = 0;
		getcontext(&coroutine->context);
		coroutine->context.uc_stack.ss_sp = stacks[i];
		coroutine->context.uc_stack.ss_size = STACK_BYTES;
		coroutine->context.uc_link = NULL;
		makecontext(&coroutine->context, coroutine_main, 0);
	}
}

/* False when no decision has another outcome left. */
static bool
go_back(void)
{
	while (state.length > 0) {
		struct decision *last = &state.path[state.length - 1];

		if (last->outcome + 1 < last->count) {
			last->outcome++;
			return true;
		}
		state.length--;
	}
	return false;
}

static void
run_once(void)
{
	const struct explorer_case *explored = state.explored;

	explored->reset(explored->world);
	prepare_run();
	state.running = true;
	if (_setjmp(state.search) == 0)
		enter(explorer_choose(explored->threads));
	state.running = false;
	if (state.failure == NULL && _setjmp(state.search) == 0)
		explored->check(explored->world);
}

uint64_t
explorer_run(const struct explorer_case *explored, const char **ret_failure)
{
	uint64_t runs = 0;

	state.explored = explored;
	state.failure = NULL;
	state.length = 0;
	do {
		run_once();
		runs++;
	} while (state.failure == NULL && go_back());
	*ret_failure = state.failure;
	return runs;
}

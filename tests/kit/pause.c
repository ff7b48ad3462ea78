/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pause.c - who stands still sleeps on a word of its own, until[], which is the
 * tick it waits for, or 0. Whoever makes that tick, or is the last one that
 * moves, takes the tick out of the word and wakes it. So:
 *
 *   moving == those that take part, have not left and whose until[] is 0
 *
 * where who sets an until[] to 0 counts its thread as moving first, and who
 * takes the last one off wakes all, itself too. */
#include "tests/kit/pause.h"

#include "lib/base/attr.h"

#include "tests/kit/dice.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One place in SELDOM, for at most LONGEST ticks. */
enum { SELDOM = 16, LONGEST = 32 };

static struct {
	ATOMIC(uint32_t) clock;
	ATOMIC(uint32_t) moving;
	ATOMIC(uint32_t) until[PAUSE_THREADS_MAX];
} all;

static _Thread_local struct {
	struct dice dice;
	unsigned index;
	bool joined;
	bool seeded;
} self;

static void one_less(void);

static void
set_going(unsigned thread)
{
	atomic_fetch_add(&all.moving, 1);
	if (atomic_exchange(&all.until[thread], 0) == 0)
		one_less();
	else
		(void)syscall(SYS_futex, &all.until[thread], FUTEX_WAKE_PRIVATE,
			      1, NULL, NULL, 0);
}

static void
wake_before(uint32_t tick)
{
	unsigned i = 0;

	for (i = 0; i < PAUSE_THREADS_MAX; i++) {
		const uint32_t until = atomic_load(&all.until[i]);

		if (until != 0 && until <= tick)
			set_going(i);
	}
}

static void
one_less(void)
{
	if (atomic_fetch_sub(&all.moving, 1) == 1)
		wake_before(UINT32_MAX);
}

void
pause_open(unsigned threads)
{
	atomic_store(&all.moving, threads);
}

void
pause_join(unsigned index)
{
	if (!self.seeded)
		self.dice = dice_seeded(index);
	self.seeded = true;
	self.index = index;
	self.joined = true;
}

void
pause_leave(void)
{
	self.joined = false;
	one_less();
}

void
pause_maybe(void)
{
	ATOMIC(uint32_t) *const until = &all.until[self.index];
	uint32_t tick = 0;

	if (!self.joined || dice_roll(&self.dice, SELDOM) > 0)
		return;
	tick = atomic_load(&all.clock) + 1 + dice_roll(&self.dice, LONGEST);
	atomic_store(until, tick);
	one_less();
	while (atomic_load(until) == tick)
		(void)syscall(SYS_futex, until, FUTEX_WAIT_PRIVATE, tick, NULL,
			      NULL, 0);
}

uint32_t
pause_tick(void)
{
	const uint32_t tick = atomic_fetch_add(&all.clock, 1) + 1;

	wake_before(tick);
	return tick;
}

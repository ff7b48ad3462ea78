/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pause.h - stress tests in which a thread stands still in the midst of what it
 * does, now and then, until the others have gone on for some ticks of a common
 * clock: what a preempted thread sees, but often, and however busy the machine
 * is. When all others stand still too, or have left, it goes on at once.
 *
 * In each round: one thread says how many take part; then each of them joins,
 * pauses and ticks, and leaves. Threads: as said. May block, but for the tick,
 * which only wakes. */
#ifndef ROTARY_KIT_PAUSE_H
#define ROTARY_KIT_PAUSE_H

#include <stdint.h>

enum { PAUSE_THREADS_MAX = 8 };

/* Nobody has joined yet. */
void pause_open(unsigned threads);
/* This thread takes part, as number index, until it leaves. */
void pause_join(unsigned index);
void pause_leave(void);
/* Where a thread might stand still; nothing while it does not take part. */
void pause_maybe(void);
/* The next tick; no two are the same. */
uint32_t pause_tick(void);

#endif

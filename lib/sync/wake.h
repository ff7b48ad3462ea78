/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wake.h - an event count on a futex: sleep without losing a wake-up.
 *
 * A waiter reads the count, looks for work, and sleeps only if the count is
 * still the same; whoever makes work raises it first. The count's low bit is
 * no flag: it is a plain counter, and may wrap.
 *
 *           | prepare/wait | post
 *  prepare  |      -       |  -       -: no outside order needed
 *  post     |      -       |  -
 *
 * Progress: prepare and post are wait-free but for the kernel's own wake.
 * RT: prepare is RT_SAFE; post and wait are RT_DEVICE (one futex call; post
 * makes none when nobody sleeps). */
#ifndef ROTARY_SYNC_WAKE_H
#define ROTARY_SYNC_WAKE_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct wake {
	ALIGNED(CACHE_LINE) ATOMIC(uint32_t) count;
	ALIGNED(CACHE_LINE) ATOMIC(uint32_t) sleepers;
};

void wake_init(struct wake *wake);
RT_SAFE uint32_t wake_prepare(struct wake *wake);
/* Sleeps until the count is no longer seen, at most timeout_ns (< 0: without
 * limit). Returns true when it was woken or the count had moved, false on
 * time-out. */
RT_DEVICE bool wake_wait(struct wake *wake, uint32_t seen, int64_t timeout_ns);
/* Raises the count and wakes one sleeper, or all. */
RT_DEVICE void wake_post(struct wake *wake);
RT_DEVICE void wake_post_all(struct wake *wake);

#endif

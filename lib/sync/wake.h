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
 * Orders: work made before a post is seen by a look after a wait that the post
 * ended, or that it kept from sleeping. A sleep needs no time limit for safety.
 * Progress: prepare and post are wait-free but for the kernel's own wake; wait
 * blocks. Cost: prepare a load; post an addition and a load, and one futex call
 * when somebody sleeps; wait one futex call and two additions.
 * Source: D. P. Reed and R. K. Kanodia, "Synchronization with Eventcounts and
 * Sequencers", CACM 22(2), 1979; futex(2). Proof: tests/model, claim.pml and
 * model_claim.c.
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

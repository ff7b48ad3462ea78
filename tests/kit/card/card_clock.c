/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card_clock.c - the test card's time, its position, and who owns a frame.
 *
 * Virtual time is the monotonic clock less all the time for which the card has
 * stood (fault "stall"). In a run the position is
 *
 *	start + (virtual now - start_ns) * mrate / 10^15, rounded down
 *
 * so that it never depends on how often somebody looked.
 *
 * The keeper may look at a frame at any time after it was played, and the
 * application may meanwhile end the run. So that both agree on which frames
 * were heard, the keeper claims them first. The claim is one word,
 *
 *	epoch of the run (15 bits) | closed (1 bit) | heard position (48 bits)
 *
 * which the keeper moves by compare-exchange, only forward and only while it
 * is open and of the run that the keeper means; the application closes it by
 * one fetch-or. So what was claimed at the close was heard, and nothing else
 * after it. */
#include "card.h"

#include <time.h>

__extension__ typedef unsigned __int128 wide;

static const uint64_t frames_per_ns = UINT64_C(1000000000000000);
static const uint64_t claim_closed = UINT64_C(1) << 48;
static const uint64_t claim_position = (UINT64_C(1) << 48) - 1;

enum { CLAIM_EPOCH_SHIFT = 49, CLAIM_EPOCH_MASK = 0x7fff };

int64_t
card_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static const struct card_stall *
stall_now(const struct card_clock *clock)
{
	unsigned i = atomic_load_explicit(&clock->stall, memory_order_acquire);
	return &clock->stalls[i % CARD_STALLS];
}

int64_t
card_clock_virtual(const struct card_clock *clock, int64_t now_ns)
{
	const struct card_stall *stall = stall_now(clock);
	bool stands = stall->frozen_ns && stall->frozen_ns < now_ns;

	return (stands ? stall->frozen_ns : now_ns) - stall->lost_ns;
}

bool
card_clock_frozen(const struct card_clock *clock)
{
	return stall_now(clock)->frozen_ns != 0;
}

static void
publish(struct card_clock *clock, struct card_stall stall)
{
	unsigned i = atomic_load_explicit(&clock->stall, memory_order_relaxed);

	clock->stalls[(i + 1) % CARD_STALLS] = stall;
	atomic_store_explicit(&clock->stall, i + 1, memory_order_release);
}

void
card_clock_freeze(struct card_clock *clock, int64_t now_ns)
{
	const struct card_stall *stall = stall_now(clock);

	if (!stall->frozen_ns)
		publish(clock, (struct card_stall){now_ns, stall->lost_ns});
}

void
card_clock_thaw(struct card_clock *clock, int64_t now_ns)
{
	const struct card_stall *stall = stall_now(clock);

	if (stall->frozen_ns) {
		int64_t stood = now_ns - stall->frozen_ns;
		publish(clock, (struct card_stall){0, stall->lost_ns + stood});
	}
}

uint64_t
card_run_position(const struct card *card, const struct card_run *run,
		  int64_t now_ns)
{
	int64_t passed =
		card_clock_virtual(&card->clock, now_ns) - run->start_ns;

	if (!run->active || passed <= 0)
		return run->start;
	return run->start +
	       (uint64_t)((wide)passed * card->mrate / frames_per_ns);
}

int64_t
card_run_time(const struct card *card, const struct card_run *run,
	      uint64_t position)
{
	const struct card_stall *stall = stall_now(&card->clock);

	if (stall->frozen_ns)
		return INT64_MAX;
	if (position <= run->start)
		return run->start_ns + stall->lost_ns;
	wide passed = (wide)(position - run->start) * frames_per_ns;
	passed = (passed + card->mrate - 1) / card->mrate;
	return run->start_ns + stall->lost_ns + (int64_t)passed;
}

bool
card_claim(struct card *card, unsigned epoch, uint64_t heard)
{
	uint64_t old = atomic_load_explicit(&card->claim, memory_order_acquire);

	do {
		if ((old & claim_closed) ||
		    old >> CLAIM_EPOCH_SHIFT != (epoch & CLAIM_EPOCH_MASK))
			return false;
		if ((old & claim_position) >= heard)
			return true;
	} while (!atomic_compare_exchange_weak_explicit(
		&card->claim, &old, (old & ~claim_position) | heard,
		memory_order_acq_rel, memory_order_acquire));
	return true;
}

uint64_t
card_claim_close(struct card *card)
{
	uint64_t old = atomic_fetch_or_explicit(&card->claim, claim_closed,
						memory_order_acq_rel);
	return old & claim_position;
}

void
card_claim_open(struct card *card, unsigned epoch, uint64_t heard)
{
	uint64_t word = (uint64_t)(epoch & CLAIM_EPOCH_MASK)
				<< CLAIM_EPOCH_SHIFT |
			heard;
	atomic_store_explicit(&card->claim, word, memory_order_release);
}

uint64_t
card_claim_read(const struct card *card)
{
	return atomic_load_explicit(&card->claim, memory_order_acquire) &
	       claim_position;
}

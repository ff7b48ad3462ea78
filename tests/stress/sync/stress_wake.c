/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No wake-up is lost. Every sleep here is ended by somebody's post; the time
 * limit of a minute is only there to turn "for ever" into a failure. */
#include "lib/sync/wake.h"

#include "lib/base/clock.h"
#include "tests/kit/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PASSES = 8 * 1000, PIECES = 15 * 1000, WORKERS = 3 };

#define FOR_EVER_NS (60 * NS_PER_S)

/* Two threads hand one ball to and fro. */
struct court {
	struct wake side[2];
	ATOMIC(uint32_t) ball[2];
};

static void
play(void *argument, unsigned index)
{
	struct court *court = argument;
	int i;

	for (i = 0; i < PASSES; i++) {
		for (;;) {
			const uint32_t seen = wake_prepare(&court->side[index]);

			if (atomic_exchange(&court->ball[index], 0) != 0)
				break;
			crew_check(wake_wait(&court->side[index], seen,
					     FOR_EVER_NS));
		}
		atomic_store(&court->ball[1 - index], 1);
		wake_post(&court->side[1 - index]);
	}
}

static void
a_ball_is_never_left_lying(void **state)
{
	static struct court court;
	const struct crew_member crew[] = {{play, &court}, {play, &court}};

	(void)state;
	wake_init(&court.side[0]);
	wake_init(&court.side[1]);
	atomic_store(&court.ball[0], 1);
	crew_run(crew, 2, CREW_CALM);
	assert_int_equal(atomic_load(&court.ball[0]), 1);
	assert_int_equal(atomic_load(&court.ball[1]), 0);
}

/* As the decoder threads do it: one post a piece, whoever wakes takes one and
 * wakes the next if there is more. The master goes on only when all is done,
 * so that everybody sleeps again and again. */
struct workshop {
	struct wake workers;
	struct wake master;
	ATOMIC(uint32_t) pieces; /* lying there */
	ATOMIC(uint32_t) done;
	ATOMIC(uint32_t) closed;
};

static bool
take_piece(struct workshop *shop)
{
	uint32_t pieces = atomic_load(&shop->pieces);

	while (pieces > 0)
		if (atomic_compare_exchange_weak(&shop->pieces, &pieces,
						 pieces - 1))
			return true;
	return false;
}

static void
work(void *argument, unsigned index)
{
	struct workshop *shop = argument;

	(void)index;
	for (;;) {
		const uint32_t seen = wake_prepare(&shop->workers);

		if (take_piece(shop)) {
			if (atomic_load(&shop->pieces) > 0)
				wake_post(&shop->workers);
			atomic_fetch_add(&shop->done, 1);
			wake_post(&shop->master);
		} else if (atomic_load(&shop->closed) != 0) {
			return;
		} else {
			crew_check(
				wake_wait(&shop->workers, seen, FOR_EVER_NS));
		}
	}
}

static void
rule(void *argument, unsigned index)
{
	struct workshop *shop = argument;
	uint32_t given = 0;

	(void)index;
	while (given < PIECES) {
		const uint32_t batch = 1 + given % (2 * WORKERS);

		given += batch;
		atomic_fetch_add(&shop->pieces, batch);
		wake_post(&shop->workers);
		for (;;) {
			const uint32_t seen = wake_prepare(&shop->master);

			if (atomic_load(&shop->done) == given)
				break;
			crew_check(wake_wait(&shop->master, seen, FOR_EVER_NS));
		}
	}
	atomic_store(&shop->closed, 1);
	wake_post_all(&shop->workers);
}

static void
no_piece_is_left_while_workers_sleep(void **state)
{
	static struct workshop shop;
	const struct crew_member crew[] = {
		{rule, &shop},
		{work, &shop},
		{work, &shop},
		{work, &shop},
	};

	(void)state;
	wake_init(&shop.workers);
	wake_init(&shop.master);
	crew_run(crew, WORKERS + 1, CREW_CALM);
	assert_true(atomic_load(&shop.done) >= PIECES);
	assert_int_equal(atomic_load(&shop.pieces), 0);
	assert_int_equal(atomic_load(&shop.workers.sleepers), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ball_is_never_left_lying),
		cmocka_unit_test(no_piece_is_left_while_workers_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

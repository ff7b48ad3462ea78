/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A writer that is ahead of what is heard, takes back what is not, and never
 * waits; readers that follow what is heard, now and then far too late, and one
 * that reads ahead of it. Whatever they are given as whole must be what was
 * written last, unless they are told that the writer turned back. */
#include "daemon/output/tap.h"

#include "tests/kit/crew.h"
#include "tests/kit/dice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
	RATE = 1000,
	AHEAD = 500,
	CHANNELS = 2,
#ifdef __SANITIZE_THREAD__
	END = 300000,
#else
	END = 2000000,
#endif
	PIECE = 64
};

struct shared {
	struct tap *tap;
	ATOMIC(uint64_t) late; /* reads that came too late */
	ATOMIC(uint64_t) good;
	ATOMIC(uint64_t) ahead;
	ATOMIC(uint64_t) turned;
};

/* What was taken back is written as something else; the last is what stays. */
static float
value_of(uint64_t frame, unsigned channel, bool settled)
{
	return (float)(frame % 100000) + (settled ? 0.0F : 0.5F) +
	       (float)channel * 200000.0F;
}

static void
write_frames(struct tap *tap, uint64_t frame, size_t count, bool settled)
{
	float frames[PIECE * CHANNELS];
	size_t i;
	unsigned c;

	for (i = 0; i < count; i++)
		for (c = 0; c < CHANNELS; c++)
			frames[i * CHANNELS + c] =
				value_of(frame + i, c, settled);
	tap_write(tap, TAP_ALL, frame, frames, count);
}

/* Frames up to `heard` were always written as settled before it is told. */
static void
be_the_clock(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct dice dice = dice_seeded(index);
	uint64_t settled = 0;

	while (settled < END) {
		const size_t count = 1 + dice_roll(&dice, PIECE);
		struct tap_view view = {.running = true};
		uint64_t frame;

		tap_turn_back(shared->tap, settled);
		write_frames(shared->tap, settled, count, true);
		settled += count;
		for (frame = settled; frame < settled + AHEAD / 2;
		     frame += PIECE)
			write_frames(shared->tap, frame, PIECE, false);
		view.mixed = frame;
		view.heard = settled;
		tap_publish(shared->tap, &view);
		if (dice_roll(&dice, 32) == 0)
			crew_dawdle();
	}
	tap_publish(shared->tap, &(struct tap_view){.mixed = settled,
						    .heard = settled,
						    .ended = true});
}

static void
check_frames(const float *frames, uint64_t frame, size_t count, bool settled)
{
	size_t i;
	unsigned c;

	for (i = 0; i < count; i++)
		for (c = 0; c < CHANNELS; c++)
			crew_check(frames[i * CHANNELS + c] ==
				   value_of(frame + i, c, settled));
}

static void
follow(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct dice dice = dice_seeded(index);
	struct tap_view view = {0};
	float frames[PIECE * CHANNELS];
	uint64_t position = 0;

	while (!view.ended || position < view.heard) {
		size_t count = 1 + dice_roll(&dice, PIECE);

		if (!tap_look(shared->tap, &view)) {
			crew_dawdle();
			continue;
		}
		crew_check(view.heard <= view.mixed);
		/* It must not keep the clock from its CPU either. */
		if (position >= view.heard) {
			crew_dawdle();
			continue;
		}
		if (count > view.heard - position)
			count = (size_t)(view.heard - position);
		if (tap_read(shared->tap, TAP_ALL, (int64_t)position,
			     view.mixed, frames, count)) {
			check_frames(frames, position, count, true);
			atomic_fetch_add(&shared->good, 1);
			position += count;
		} else {
			atomic_fetch_add(&shared->late, 1);
			position = view.heard;
		}
		if (dice_roll(&dice, 64) == 0)
			crew_dawdle();
	}
}

/* As of the view, all that is mixed and not heard is unsettled. */
static void
look_ahead(void *argument, unsigned index)
{
	struct shared *shared = argument;
	struct dice dice = dice_seeded(index);
	struct tap_view view = {0};
	float frames[PIECE * CHANNELS];

	/* It must not keep the clock from its CPU for long. */
	for (unsigned looks = 0; !view.ended && looks < 20000; looks++) {
		const size_t count = 1 + dice_roll(&dice, PIECE);
		uint64_t frame;

		if (!tap_look(shared->tap, &view) ||
		    tap_turns(shared->tap) != view.turns ||
		    view.mixed < view.heard + count) {
			crew_dawdle();
			continue;
		}
		frame = view.heard +
			dice_roll(&dice,
				  (uint32_t)(view.mixed - view.heard - count) +
					  1);
		if (dice_roll(&dice, 64) == 0)
			crew_dawdle();
		if (!tap_read(shared->tap, TAP_ALL, (int64_t)frame, view.mixed,
			      frames, count))
			continue;
		if (tap_turned_to(shared->tap, view.turns) < frame + count) {
			atomic_fetch_add(&shared->turned, 1);
		} else {
			check_frames(frames, frame, count, false);
			atomic_fetch_add(&shared->ahead, 1);
		}
	}
}

static void
what_is_read_is_what_was_settled(void **state)
{
	static struct shared shared;
	const struct crew_member crew[] = {
		{be_the_clock, &shared},
		{follow, &shared},
		{follow, &shared},
		{look_ahead, &shared},
	};

	(void)state;
	shared.tap = tap_create(RATE, CHANNELS, AHEAD, false);
	assert_non_null(shared.tap);
	tap_want(shared.tap, TAP_ALL, true);
	crew_run(crew, 4, CREW_JOLTED);
	assert_true(atomic_load(&shared.good) > 100);
	print_message("%llu pieces ahead of what is heard, %llu turned back\n",
		      (unsigned long long)atomic_load(&shared.ahead),
		      (unsigned long long)atomic_load(&shared.turned));
	tap_destroy(shared.tap);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_what_was_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

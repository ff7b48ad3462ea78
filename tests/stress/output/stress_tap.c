/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A writer that is ahead of what is heard, takes back what is not, and never
 * waits; readers that follow what is heard, now and then far too late. Whatever
 * they are given as whole must be what was written last. */
#include "daemon/output/tap.h"

#include "tests/kit/crew.h"
#include "tests/kit/dice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RATE = 1000, AHEAD = 500, CHANNELS = 2, END = 300000, PIECE = 64 };

struct shared {
	struct tap *tap;
	ATOMIC(uint64_t) late; /* reads that came too late */
	ATOMIC(uint64_t) good;
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
check_frames(const float *frames, uint64_t frame, size_t count)
{
	size_t i;
	unsigned c;

	for (i = 0; i < count; i++)
		for (c = 0; c < CHANNELS; c++)
			crew_check(frames[i * CHANNELS + c] ==
				   value_of(frame + i, c, true));
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
		if (position >= view.heard)
			continue;
		if (count > view.heard - position)
			count = (size_t)(view.heard - position);
		if (tap_read(shared->tap, TAP_ALL, (int64_t)position,
			     view.mixed, frames, count)) {
			check_frames(frames, position, count);
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

static void
what_is_read_is_what_was_settled(void **state)
{
	static struct shared shared;
	const struct crew_member crew[] = {
		{be_the_clock, &shared},
		{follow, &shared},
		{follow, &shared},
	};

	(void)state;
	shared.tap = tap_create(RATE, CHANNELS, AHEAD, false);
	assert_non_null(shared.tap);
	tap_want(shared.tap, TAP_ALL, true);
	crew_run(crew, 3, CREW_JOLTED);
	assert_true(atomic_load(&shared.good) > 100);
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

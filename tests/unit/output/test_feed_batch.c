/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_feed_batch.c - cards that say less than all: one whose position moves in
 * periods is rewound so that no frame is touched that it may have fetched,
 * wherever it really is and if it goes on to the next period meanwhile; one
 * that gives nothing back is written to as late as can be. */
#include "tests/unit/output/hand.h"

static void
play_music(struct hand *hand, size_t frames)
{
	tape_song(tape_begin(&hand->tape, LANE_MUSIC, 1), 1, 0, frames, 24);
	hand->rt.plan.lanes[LANE_MUSIC].cut = 1;
	step(hand);
	assert_int_equal(hand->card.starts, 1);
}

static struct hand *
batch_new(void)
{
	struct hand *hand = hand_new();

	hand->card.card.info.batch = true;
	output_feed_begin(&hand->rt);
	return hand;
}

/* The card has come to any frame of the period behind the one that it tells,
 * and enters the next before the rewritten frames are there. */
static void
test_what_may_be_fetched_is_left_alone(void **state)
{
	(void)state;
	for (uint64_t periods = 1; periods < 12; periods++) {
		struct hand *hand = batch_new();
		const uint64_t told = periods * PERIOD;
		const uint64_t fetched = told + 2 * PERIOD;
		uint64_t first = 0;

		play_music(hand, 2 * BUFFER);
		play(hand, told);
		hand->rt.plan.volume = 0.25F;
		step(hand);
		assert_int_equal(hand->card.rewinds, 1);
		expect(hand, 0, fetched, 1, 0);
		while (hand->card.memory[first * TAPE_CHANNELS] ==
		       tape_s32(1, first, 0, 24))
			first++;
		/* And not much more than that: heard soon all the same. */
		assert_in_range(first, fetched, fetched + RATE / 400);
		hand_free(hand);
	}
}

/* What is asked for while it holds enough is mixed at the low mark, and is in
 * the first frame that is mixed then. */
static void
test_a_card_without_rewind_is_written_late(void **state)
{
	struct hand *hand = hand_new();
	const uint64_t low = BUFFER / 8;
	uint64_t written = 0;

	(void)state;
	hand->card.card.info.can_rewind = false;
	output_feed_begin(&hand->rt);
	play_music(hand, 3 * BUFFER);
	written = hand->card.written;
	for (unsigned i = 1; i < 5; i++) {
		play(hand, BUFFER / 8);
		hand->rt.plan.volume = 1.0F / (float)(1 + i);
		step(hand);
		assert_int_equal(hand->card.written, written);
		assert_in_range(output_feed_wait(&hand->rt), NS_PER_MS,
				BUFFER * NS_PER_S / RATE);
	}
	play(hand, BUFFER - low - 4 * (BUFFER / 8));
	step(hand);
	assert_int_equal(hand->card.written, written + BUFFER - low);
	assert_int_equal(hand->card.rewinds, 0);
	assert_int_equal(xruns(hand), 0);
	expect(hand, 0, written, 1, 0);
	assert_int_not_equal(hand->card.memory[(written + 100) * TAPE_CHANNELS],
			     tape_s32(1, written + 100, 0, 24));
	hand_free(hand);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_may_be_fetched_is_left_alone),
		cmocka_unit_test(test_a_card_without_rewind_is_written_late),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

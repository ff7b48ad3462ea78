/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One step of the output thread at a time, with a card whose time stands still
 * until the test moves it, and which lets a decoder in at the worst moments. */
#include "tests/unit/output/hand.h"

static void
prime_second(void *context)
{
	struct hand *hand = context;

	tape_song(tape_begin(&hand->tape, LANE_MUSIC, 2), 2, 0, BUFFER, 24);
}

static void
more_of_first(void *context)
{
	struct hand *hand = context;
	struct deck *deck = tape_deck(&hand->tape, LANE_MUSIC, 1);

	tape_write(deck, 1, pcm_ring_written(&deck->ring), BUFFER, SAMPLE_S32,
		   24);
}

static void
test_a_deck_primed_meanwhile_is_heard_now(void **state)
{
	(void)state;
	/* With a full queue, and with room for the new song behind it. */
	for (uint64_t played = PERIOD; played < BUFFER / 2; played += 1000) {
		struct hand *hand = hand_new();
		struct mix_lane *music = &hand->rt.plan.lanes[LANE_MUSIC];
		const struct mix_note *cut;

		tape_song(tape_begin(&hand->tape, LANE_MUSIC, 1), 1, 0,
			  2 * BUFFER, 24);
		music->cut = 1;
		step(hand);
		assert_int_equal(hand->card.started_with, BUFFER);
		play(hand, played);
		hand->rt.mix.note_count = 0;
		music->cut = 2;
		hand->card.meanwhile = prime_second;
		hand->card.context = hand;
		step(hand);
		assert_null(hand->card.meanwhile);
		/* In this very step, and told so. */
		assert_int_equal(hand->card.rewinds, 1);
		expect(hand, 0, played + GUARD, 1, 0);
		expect(hand, played + GUARD + RATE / 200,
		       played + GUARD + BUFFER / 2, 2, RATE / 200);
		cut = &hand->rt.mix.notes[0];
		assert_int_equal(cut->kind, RT_EVENT_CUT);
		assert_int_equal(cut->frame, played + GUARD);
		/* Filled anew, to the full. */
		assert_int_equal(hand->card.written - hand->card.played,
				 BUFFER);
		step(hand);
		assert_int_equal(hand->card.rewinds, 1);
		hand_free(hand);
	}
}

/* Left dry, with silence behind it: what comes closes the hole. */
static void
test_more_that_came_meanwhile_is_heard_now(void **state)
{
	struct hand *hand = hand_new();
	const uint64_t frames = BUFFER / 2;

	(void)state;
	tape_song(tape_begin(&hand->tape, LANE_MUSIC, 1), 1, 0, frames, 24);
	hand->rt.plan.lanes[LANE_MUSIC].cut = 1;
	step(hand);
	/* Not all there is: started after a while, with what there is. */
	hand->rt.feed.fill_since_ns -= NS_PER_S;
	step(hand);
	assert_int_equal(hand->card.started_with, frames);
	play(hand, frames - 100);
	step(hand);
	assert_int_equal(xruns(hand), 1);
	assert_int_equal(hand->card.written, frames - 100 + 2 * PERIOD);
	hand->card.meanwhile = more_of_first;
	hand->card.context = hand;
	step(hand);
	assert_int_equal(hand->card.rewinds, 1);
	expect(hand, 0, frames, 1, 0);
	assert_int_equal(
		hand->card.memory[(frames - 100 + GUARD - 1) * TAPE_CHANNELS],
		0);
	expect(hand, frames - 100 + GUARD + RATE / 200, frames + BUFFER / 2, 1,
	       frames + RATE / 200);
	hand_free(hand);
}

/* A deck is waited for up to the last 20 ms, however long the card's periods
 * are. */
static void
test_long_periods_are_no_emergency(void **state)
{
	struct hand *hand = hand_new();
	const uint64_t frames = BUFFER / 2;

	(void)state;
	hand->card.card.info.period_frames = BUFFER / 4;
	output_feed_begin(&hand->rt);
	tape_song(tape_begin(&hand->tape, LANE_MUSIC, 1), 1, 0, frames, 24);
	hand->rt.plan.lanes[LANE_MUSIC].cut = 1;
	step(hand);
	hand->rt.feed.fill_since_ns -= NS_PER_S;
	step(hand);
	play(hand, frames - RATE * 25 / 1000);
	step(hand);
	assert_int_equal(xruns(hand), 0);
	assert_int_equal(hand->card.written, frames);
	play(hand, RATE * 6 / 1000);
	step(hand);
	assert_int_equal(xruns(hand), 1);
	assert_true(hand->card.written > frames);
	hand_free(hand);
}

/* What was asked for just now is looked for often, and soon. */
static void
test_an_awaited_deck_is_looked_for(void **state)
{
	struct hand *hand = hand_new();

	(void)state;
	tape_song(tape_begin(&hand->tape, LANE_MUSIC, 1), 1, 0, 3 * BUFFER, 24);
	hand->rt.plan.lanes[LANE_MUSIC].cut = 1;
	step(hand);
	play(hand, PERIOD);
	step(hand);
	hand->rt.feed.started = false;
	assert_true(output_feed_wait(&hand->rt) > 10 * NS_PER_MS);
	hand->rt.plan.lanes[LANE_MUSIC].cut = 2;
	step(hand);
	assert_int_equal(output_feed_wait(&hand->rt), NS_PER_MS);
	/* If it does not come, less often. */
	hand->rt.feed.awaited_ns -= NS_PER_S;
	assert_int_equal(output_feed_wait(&hand->rt), 4 * NS_PER_MS);
	prime_second(hand);
	step(hand);
	assert_int_equal(hand->card.rewinds, 1);
	assert_true(output_feed_wait(&hand->rt) > 10 * NS_PER_MS);
	hand_free(hand);
}

/* A join to the sample needs no way back, whenever its deck gets ready. */
static void
test_a_join_stays_where_it_is(void **state)
{
	struct hand *hand = hand_new();
	struct mix_lane *music = &hand->rt.plan.lanes[LANE_MUSIC];
	const uint64_t end = BUFFER / 2;

	(void)state;
	tape_song(tape_begin(&hand->tape, LANE_MUSIC, 1), 1, 0, end, 24);
	pcm_ring_end(&tape_deck(&hand->tape, LANE_MUSIC, 1)->ring);
	music->cut = 1;
	step(hand);
	play(hand, 1000);
	music->cut = 2;
	music->start = PLAN_AFTER;
	music->after_stream = 1;
	hand->card.meanwhile = prime_second;
	hand->card.context = hand;
	step(hand);
	step(hand);
	expect(hand, 0, end, 1, 0);
	expect(hand, end, end + BUFFER / 2, 2, 0);
	hand_free(hand);
}

/* A machine that mixes hardly faster than the card plays takes everything back
 * and mixes it again: the card still has something to play all the while. */
static void
test_a_slow_machine_mixes_all_again_in_time(void **state)
{
	struct hand *hand = hand_new();

	(void)state;
	tape_song(tape_begin(&hand->tape, LANE_MUSIC, 1), 1, 0, 3 * BUFFER, 24);
	hand->rt.plan.lanes[LANE_MUSIC].cut = 1;
	step(hand);
	assert_int_equal(hand->card.started_with, BUFFER);
	play(hand, PERIOD);
	hand->card.mixing_percent = 75;
	hand->rt.plan.volume = 0.5F;
	step(hand);
	assert_int_equal(hand->card.rewinds, 1);
	assert_false(hand->card.dry);
	assert_int_equal(xruns(hand), 0);
	/* All that was taken back was mixed again. */
	assert_true(hand->card.written >= BUFFER + PERIOD);
	expect(hand, 0, PERIOD + GUARD, 1, 0);
	hand_free(hand);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_deck_primed_meanwhile_is_heard_now),
		cmocka_unit_test(test_more_that_came_meanwhile_is_heard_now),
		cmocka_unit_test(test_long_periods_are_no_emergency),
		cmocka_unit_test(test_an_awaited_deck_is_looked_for),
		cmocka_unit_test(test_a_join_stays_where_it_is),
		cmocka_unit_test(test_a_slow_machine_mixes_all_again_in_time),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_feed_short.c - little music: very short songs, and the silence behind
 * the last frame. */
#include "tests/unit/output/hand.h"

static bool
has_free_deck(const struct hand *hand)
{
	for (unsigned i = 0; i < LANE_DECKS; i++) {
		if (atomic_load(&hand->tape.bus->decks[LANE_MUSIC][i].state) ==
		    DECK_FREE)
			return true;
	}
	return false;
}

static void
play_short(struct hand *hand, uint64_t cut, uint64_t frames)
{
	struct mix_lane *music = &hand->rt.plan.lanes[LANE_MUSIC];
	struct deck *deck = tape_begin(&hand->tape, LANE_MUSIC, cut);

	assert_non_null(deck);
	tape_song(deck, cut, 0, (size_t)frames, 24);
	pcm_ring_end(&deck->ring);
	music->after_stream = cut - 1;
	music->start = cut > 1 ? PLAN_AFTER : PLAN_NOW;
	music->cut = cut;
}

/* All there is, and far less than the way to the next look. */
static void
test_a_card_that_runs_dry_on_purpose_is_no_xrun(void **state)
{
	(void)state;
	for (uint64_t frames = 1; frames < 5 * PERIOD; frames += 77) {
		struct hand *hand = hand_new();

		hand->card.card.info.can_rewind = frames % 2 == 0;
		play_short(hand, 1, frames);
		step(hand);
		/* More may come yet. */
		if (hand->card.starts == 0) {
			assert_false(hand->card.card.info.can_rewind);
			assert_int_equal(hand->card.written, frames);
			hand->rt.feed.fill_since_ns -= NS_PER_S;
			step(hand);
		}
		assert_int_equal(hand->card.starts, 1);
		assert_int_equal(hand->card.started_with, frames + 2 * PERIOD);
		play(hand, frames + 3 * PERIOD);
		step(hand);
		assert_int_equal(xruns(hand), 0);
		assert_int_equal(hand->card.starts, 1);
		expect(hand, 0, frames, 1, 0);
		hand_free(hand);
	}
}

/* What comes late keeps its place as long as it can; no less silence is
 * written in the end, and running out of that is no fault either. */
static void
test_silence_is_written_late(void **state)
{
	(void)state;
	for (int whole = 0; whole <= 1; whole++) {
		struct hand *hand = hand_new();
		struct hand_card *card = &hand->card;
		const uint64_t frames = BUFFER / 4;

		card->card.info.can_rewind = false;
		play_short(hand, 1, frames);
		step(hand);
		/* Before the start all of it: the first look may be late. */
		assert_int_equal(card->started_with, frames + 2 * PERIOD);
		play_short(hand, 2, frames);
		step(hand);
		play(hand, 2 * frames);
		assert_int_equal(card->written, 2 * frames + 2 * PERIOD);
		step(hand);
		assert_int_equal(card->written, 2 * frames + 2 * PERIOD);
		play(hand, PERIOD / 2);
		step(hand);
		assert_int_equal(card->written - card->played, 2 * PERIOD);
		for (unsigned i = 0; whole && i < 3; i++) {
			play(hand, PERIOD / 2);
			step(hand);
		}
		assert_int_equal(card->written - card->played, 2 * PERIOD);
		play(hand, BUFFER);
		/* The test's time stands still, the clock's is asked. */
		hand->rt.feed.status.time_ns -= NS_PER_S;
		step(hand);
		assert_false(card->running);
		assert_int_equal(xruns(hand), 0);
		hand_free(hand);
	}
}

static void
test_running_dry_amid_a_song_is_an_xrun(void **state)
{
	struct hand *hand = hand_new();

	(void)state;
	play_short(hand, 1, 2 * BUFFER);
	step(hand);
	assert_int_equal(hand->card.started_with, BUFFER);
	play(hand, BUFFER);
	step(hand);
	assert_int_equal(xruns(hand), 1);
	for (unsigned i = 0; i < 3; i++)
		step(hand);
	assert_int_equal(xruns(hand), 1);
	hand_free(hand);
}

/* By the clock the last frames may not have been heard yet when the card says
 * that it ran dry. It has played them: they are not played again. */
static void
test_what_was_played_is_not_played_again(void **state)
{
	struct hand *hand = hand_new();
	const int64_t all_ns = clock_frames_to_ns(BUFFER, RATE);

	(void)state;
	play_short(hand, 1, 3 * BUFFER);
	step(hand);
	play(hand, BUFFER);
	hand->rt.feed.status.time_ns =
		clock_now_ns() - all_ns + clock_frames_to_ns(10, RATE);
	step(hand);
	assert_int_equal(xruns(hand), 1);
	assert_int_equal(hand->card.written, 2 * BUFFER);
	expect(hand, 0, 2 * BUFFER, 1, 0);
	hand_free(hand);
}

/* They are gathered, and no silence is put between them. */
static void
test_short_songs_are_gathered(void **state)
{
	struct hand *hand = hand_new();

	(void)state;
	hand->card.card.info.can_rewind = false;
	play_short(hand, 1, 300);
	step(hand);
	assert_int_equal(hand->card.written, 300);
	play_short(hand, 2, 200);
	step(hand);
	assert_int_equal(hand->card.starts, 0);
	hand->rt.feed.fill_since_ns -= NS_PER_S;
	step(hand);
	assert_int_equal(hand->card.starts, 1);
	assert_int_equal(hand->card.started_with, 500 + 2 * PERIOD);
	expect(hand, 0, 300, 1, 0);
	expect(hand, 300, 500, 2, 0);
	hand_free(hand);
}

/* Nor is any of them lost when a later one is mixed on a card that gives back
 * what it holds: the plan knows the last one only. */
static void
test_short_songs_are_all_heard(void **state)
{
	(void)state;
	for (uint64_t frames = 10; frames < 2 * PERIOD; frames += 31) {
		struct hand *hand = hand_new();
		struct hand_card *card = &hand->card;
		uint64_t cut = 1, at = 0;

		for (unsigned i = 0; i < 200 && cut <= 20; i++) {
			if (has_free_deck(hand))
				play_short(hand, cut++, frames);
			step(hand);
			if (card->running)
				play(hand, 97);
			else
				hand->rt.feed.fill_since_ns -= NS_PER_S;
		}
		assert_int_equal(cut, 21);
		for (cut = 1; cut <= 20; cut++) {
			while (card->memory[at * TAPE_CHANNELS] == 0 &&
			       at < card->written)
				at++;
			expect(hand, at, at + frames, cut, 0);
			at += frames;
		}
		assert_int_equal(xruns(hand), 0);
		hand_free(hand);
	}
}

/* The next song's deck is to come, but not before these frames were heard. */
static void
test_a_few_frames_do_not_wait_for_ever(void **state)
{
	struct hand *hand = hand_new();
	struct mix_lane *music = &hand->rt.plan.lanes[LANE_MUSIC];

	(void)state;
	hand->card.card.info.can_rewind = false;
	play_short(hand, 1, 300);
	step(hand);
	music->cut = 2;
	music->start = PLAN_AFTER;
	music->after_stream = 1;
	step(hand);
	assert_int_equal(hand->card.starts, 0);
	hand->rt.feed.fill_since_ns -= NS_PER_S;
	step(hand);
	assert_int_equal(hand->card.starts, 1);
	assert_int_equal(hand->card.started_with, 300 + 2 * PERIOD);
	play(hand, 310 + 2 * PERIOD);
	step(hand);
	assert_int_equal(xruns(hand), 0);
	hand_free(hand);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_card_that_runs_dry_on_purpose_is_no_xrun),
		cmocka_unit_test(test_silence_is_written_late),
		cmocka_unit_test(test_running_dry_amid_a_song_is_an_xrun),
		cmocka_unit_test(test_what_was_played_is_not_played_again),
		cmocka_unit_test(test_short_songs_are_gathered),
		cmocka_unit_test(test_short_songs_are_all_heard),
		cmocka_unit_test(test_a_few_frames_do_not_wait_for_ever),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One step of the output thread at a time, with a card whose time stands still
 * until the test moves it, and which lets a decoder in at the worst moments. */
#include "daemon/output/output_rt.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "tests/unit/output/tape.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	RATE = TAPE_RATE_HZ,
	BUFFER = RATE / 4,
	PERIOD = RATE / 100,
	GUARD = RATE * 8 / 1000,
	HEARD_MAX = 8 * BUFFER,
};

/* Keeps all that was ever written to it. */
struct hand_card {
	struct card card;
	int32_t memory[HEARD_MAX * TAPE_CHANNELS];
	uint64_t written, played;
	bool running, dry;
	unsigned rewinds, starts;
	uint64_t started_with;
	/* called once, by the next begin() */
	void (*meanwhile)(void *context);
	void *context;
};

struct hand {
	struct hand_card card;
	struct tape tape;
	struct output_rt rt;
};

static struct hand_card *
hand_of(struct card *card)
{
	return (struct hand_card *)(void *)card;
}

static int
hand_status(struct card *card, struct card_status *ret_status)
{
	struct hand_card *hand = hand_of(card);

	if (hand->dry)
		return -EPIPE;
	*ret_status = (struct card_status){
		.avail_frames =
			(uint32_t)(BUFFER - (hand->written - hand->played)),
		.delay_frames = (uint32_t)(hand->written - hand->played),
		.time_ns = clock_now_ns(),
		.running = hand->running,
	};
	return 0;
}

static int
hand_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	struct hand_card *hand = hand_of(card);
	const uint64_t room = BUFFER - (hand->written - hand->played);
	void (*meanwhile)(void *context) = hand->meanwhile;

	hand->meanwhile = NULL;
	if (meanwhile != NULL)
		meanwhile(hand->context);
	if (room < *ret_frames)
		*ret_frames = (size_t)room;
	assert_true(hand->written + *ret_frames <= HEARD_MAX);
	*ret_memory = hand->memory + hand->written * TAPE_CHANNELS;
	return 0;
}

static int
hand_commit(struct card *card, size_t frames)
{
	hand_of(card)->written += frames;
	return 0;
}

static long
hand_rewind(struct card *card, size_t frames)
{
	struct hand_card *hand = hand_of(card);

	assert_true(frames <= hand->written - hand->played);
	hand->written -= frames;
	hand->rewinds++;
	return (long)frames;
}

static int
hand_start(struct card *card)
{
	struct hand_card *hand = hand_of(card);

	hand->running = true;
	hand->starts++;
	hand->started_with = hand->written - hand->played;
	return 0;
}

static int
hand_reset(struct card *card)
{
	struct hand_card *hand = hand_of(card);

	hand->written = hand->played;
	hand->running = false;
	hand->dry = false;
	return 0;
}

static const struct card_ops hand_ops = {
	.name = "hand",
	.status = hand_status,
	.begin = hand_begin,
	.commit = hand_commit,
	.rewind = hand_rewind,
	.start = hand_start,
	.reset = hand_reset,
};

static struct hand *
hand_new(void)
{
	const size_t bytes = (sizeof(struct hand) + CACHE_LINE - 1) /
			     CACHE_LINE * CACHE_LINE;
	struct hand *hand = aligned_alloc(CACHE_LINE, bytes);
	struct output_rt *rt;

	assert_non_null(hand);
	memset((void *)hand, 0, bytes);
	rt = &hand->rt;
	hand->card.card = (struct card){
		.ops = &hand_ops,
		.info = {.spec = {RATE, TAPE_CHANNELS, CARD_S32, 32},
			 .buffer_frames = BUFFER,
			 .period_frames = PERIOD,
			 .pad_frames = 2 * PERIOD,
			 .can_rewind = true},
	};
	tape_init(&hand->tape, 4 * BUFFER, deck_history_frames(BUFFER, RATE),
		  TAPE_CHANNELS);
	rt->card = &hand->card.card;
	rt->plan.volume = 1.0F;
	for (unsigned i = 0; i < LANE_COUNT; i++)
		rt->plan.lanes[i].gain = 1.0F;
	mix_init(&rt->mix, hand->tape.bus, &rt->card->info.spec);
	output_feed_begin(rt);
	return hand;
}

static void
hand_free(struct hand *hand)
{
	tape_finish(&hand->tape);
	free(hand);
}

/* As a cycle does it, less what is told and published. */
static void
step(struct hand *hand)
{
	struct output_rt *rt = &hand->rt;
	int error = output_feed_step(rt);
	uint64_t heard;

	while (error != 0) {
		assert_int_equal(output_feed_recover(rt, error), 0);
		error = output_feed_step(rt);
	}
	heard = rt->mix.frame - output_feed_delay(rt);
	(void)mix_forget(&rt->mix, &rt->plan, heard, heard);
}

/* Time passes; a card that has nothing left stops. */
static void
play(struct hand *hand, uint64_t frames)
{
	struct hand_card *card = &hand->card;

	assert_true(card->running);
	card->played += frames;
	if (card->played >= card->written) {
		card->played = card->written;
		card->running = false;
		card->dry = true;
	}
}

static uint64_t
xruns(const struct hand *hand)
{
	return atomic_load(&hand->rt.figures.xruns);
}

static void
expect(const struct hand *hand, uint64_t first, uint64_t end, uint64_t stream,
       uint64_t stream_frame)
{
	for (uint64_t i = first; i < end; i++) {
		assert_int_equal(
			hand->card.memory[i * TAPE_CHANNELS],
			tape_s32(stream, stream_frame + i - first, 0, 24));
	}
}

/* ---- decks that get ready between the look and the mixing ---- */

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
	assert_int_equal(hand->card.written, frames - 100 + PERIOD);
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

/* ---- short songs ---- */

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
		play(hand, 2 * frames + PERIOD);
		assert_int_equal(card->written, 2 * frames + 2 * PERIOD);
		step(hand);
		assert_int_equal(card->written, 2 * frames + 2 * PERIOD);
		play(hand, PERIOD / 2);
		step(hand);
		assert_int_equal(card->written - card->played, PERIOD);
		for (unsigned i = 0; whole && i < 3; i++) {
			play(hand, PERIOD / 2);
			step(hand);
		}
		assert_int_equal(card->written - card->played, PERIOD);
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
		cmocka_unit_test(test_a_deck_primed_meanwhile_is_heard_now),
		cmocka_unit_test(test_more_that_came_meanwhile_is_heard_now),
		cmocka_unit_test(test_a_join_stays_where_it_is),
		cmocka_unit_test(
			test_a_card_that_runs_dry_on_purpose_is_no_xrun),
		cmocka_unit_test(test_silence_is_written_late),
		cmocka_unit_test(test_running_dry_amid_a_song_is_an_xrun),
		cmocka_unit_test(test_short_songs_are_gathered),
		cmocka_unit_test(test_short_songs_are_all_heard),
		cmocka_unit_test(test_a_few_frames_do_not_wait_for_ever),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

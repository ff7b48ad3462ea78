/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_hours.c - two cards play for minutes, or hours, of a time that passes as
 * fast as it is used up, each at a pace of its own: the clock's, which plays
 * integers, and one that follows it. All between decks and cards is the output
 * thread's own code, a cycle at a time; the test is the clock, the cards, the
 * lane that fills the deck, and who wakes the follower.
 *
 * The song has numbered frames in its left channel, so that each frame that the
 * first card plays is known to be the next one; and in its right one a slow
 * sine, whose phase tells where in the song the second card is, and whose
 * curve that nothing is missing there.
 *
 *   test_hours [MINUTES] */
#include "daemon/output/follower.h"
#include "daemon/output/output_rt.h"
#include "tests/unit/output/long_card.h"

#include "daemon/audio/interpolate.h"
#include "lib/base/clock.h"
#include "lib/sync/snapshot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	WAVE = 1000, /* frames of the sine */
	CLOCK_BUFFER = RATE / 2,
	FOLLOW_BUFFER = RATE / 10,
	CYCLE_NS = 50000, /* that a thread takes to wake up */
	SETTLED_S = 120,  /* until all is where it should be */
};

static unsigned minutes = 4;

/* A frame's own sample, of 24 bits. Half of full scale: where the numbers begin
 * anew the step overshoots, which must not call the limiter. */
static int32_t
number_of(uint64_t frame)
{
	return (int32_t)((uint32_t)(frame + 1) << 9) / 2;
}

static double
wave_at(double frame)
{
	return 0.5 * sin(2 * M_PI * fmod(frame, WAVE) / WAVE);
}

struct player {
	struct long_card card;
	struct output_rt *rt;
	int64_t due_ns;
};

struct hours {
	struct player clock, other;
	struct mix_bus *bus;
	void *deck_memory;
	struct timeline timeline; /* nobody reads it */
	struct tap *tap;
	uint32_t told;
	struct interpolator *interpolator;
	struct snapshot *plans;
	struct follower *follower;
	uint64_t song; /* frames of it on the deck */
	/* what was seen of the second card */
	float before[2];
	uint64_t seen;
	double worst_step, worst_ms;
	double worst_heard; /* frames that the first is said to be off by */
};

/* ---- the threads ---- */

static void
init_player(struct player *player, enum card_format format, uint32_t buffer,
	    double ppm)
{
	const size_t bytes = (sizeof(*player->rt) + CACHE_LINE - 1) /
			     CACHE_LINE * CACHE_LINE;
	struct long_card *card = &player->card;

	*card = (struct long_card){
		.card = {.ops = &long_ops,
			 .info = {.spec = {RATE, CHANNELS, format, 32},
				  .buffer_frames = buffer,
				  .period_frames = RATE / 100,
				  .pad_frames = RATE / 50,
				  .can_rewind = true}},
		.frame_bytes = CHANNELS * card_format_bytes(format),
		.ppm = ppm,
	};
	card->memory = calloc(MEMORY, card->frame_bytes);
	player->rt = aligned_alloc(CACHE_LINE, bytes);
	assert_non_null(card->memory);
	assert_non_null(player->rt);
	memset((void *)player->rt, 0, bytes);
	player->rt->card = &card->card;
	player->due_ns = now_ns;
}

static void
finish_player(struct player *player)
{
	free(player->card.memory);
	free(player->rt);
}

static void
begin_player(struct player *player, const struct output_part *part,
	     uint64_t cut)
{
	struct output_rt *rt = player->rt;

	rt->part = *part;
	rt->plan.volume = 1.0F;
	for (unsigned i = 0; i < LANE_COUNT; i++)
		rt->plan.lanes[i].gain = 1.0F;
	rt->plan.lanes[LANE_MUSIC].cut = cut;
	mix_init(&rt->mix, part->bus, &player->card.card.info.spec);
	output_feed_begin(rt);
}

/* As output_rt.c does it, less what is told to control. */
static void
cycle(struct player *player)
{
	struct output_rt *rt = player->rt;
	uint64_t heard;
	int64_t wait;

	assert_int_equal(output_feed_step(rt), 0);
	heard = rt->mix.frame - output_feed_delay(rt);
	(void)mix_forget(&rt->mix, &rt->plan, heard, heard);
	rt->mix.note_count = 0;
	wait = output_feed_wait(rt);
	player->due_ns = wait < 0 ? INT64_MAX : now_ns + wait + CYCLE_NS;
}

static bool
publish(struct hours *hours)
{
	const struct output_rt *rt = hours->clock.rt;
	const uint64_t delay = output_feed_delay(rt);
	const struct tap_view view = {
		.mixed = rt->mix.frame,
		.heard = rt->mix.frame - delay,
		.time_ns = rt->feed.status.time_ns,
		.lead_frames = rt->feed.low_frames,
		.running = rt->feed.running,
	};
	const uint32_t told =
		tap_turns(hours->tap) << 2 | view.running << 1 | (delay > 0);
	const bool news = told != hours->told;

	tap_publish(hours->tap, &view);
	hours->told = told;
	return news;
}

/* ---- the song ---- */

static void
fill_deck(struct hours *hours)
{
	struct pcm_ring *ring = &hours->bus->decks[LANE_MUSIC][0].ring;
	size_t run;
	int32_t *memory = pcm_ring_write_span(ring, &run);

	while (run > 0) {
		for (size_t i = 0; i < run; i++) {
			const uint64_t frame = hours->song + i;

			memory[2 * i] = number_of(frame);
			memory[2 * i + 1] =
				(int32_t)lrint(wave_at((double)frame) *
					       0x1p23) *
				256;
		}
		pcm_ring_commit(ring, run);
		hours->song += run;
		memory = pcm_ring_write_span(ring, &run);
	}
}

static void
begin_song(struct hours *hours)
{
	const struct deck_stretch stretch = {
		.stream_id = 1,
		.stream_rate_hz = RATE,
		.kind = SAMPLE_S32,
		.bits = 24,
		.exact = 1,
	};
	struct deck *deck = &hours->bus->decks[LANE_MUSIC][0];
	const size_t history = deck_history_frames(CLOCK_BUFFER, RATE);
	const size_t frames = history + 2 * CLOCK_BUFFER;

	hours->deck_memory = calloc(frames, CHANNELS * sizeof(int32_t));
	assert_non_null(hours->deck_memory);
	deck_init(deck, hours->deck_memory, frames, CHANNELS, history);
	assert_true(deck_begin(deck, 1));
	assert_true(deck_add_stretch(deck, &stretch));
	fill_deck(hours);
}

/* ---- what is heard ---- */

/* Not a frame is missing, or there twice, or other than it was. */
static void
check_first(struct hours *hours)
{
	struct long_card *card = &hours->clock.card;
	const int32_t *memory = card->memory;

	move_on(card);
	for (; card->checked < card->played; card->checked++) {
		const int32_t *frame =
			memory + card->checked % MEMORY * CHANNELS;

		assert_int_equal(frame[0], number_of(card->checked));
	}
}

/* By how many frames the second card is behind the first, which is at this
 * frame of the song, when it plays these two. */
static double
behind(double first, double sample, double next)
{
	const double turn = 2 * M_PI / WAVE;
	const double across = (next - sample * cos(turn)) / sin(turn);
	const double place = atan2(sample, across) / turn;
	double frames = fmod(first - place, WAVE);

	if (frames > WAVE / 2)
		frames -= WAVE;
	return frames < -WAVE / 2 ? frames + WAVE : frames;
}

static void
check_second(struct hours *hours, bool settled)
{
	const double bend = 2 * cos(2 * M_PI / WAVE);
	struct long_card *card = &hours->other.card;
	const float *memory = card->memory;
	const double first = position(&hours->clock.card);
	const double second = position(card);

	move_on(card);
	for (; card->checked < card->played; card->checked++) {
		const float now = memory[card->checked % MEMORY * CHANNELS + 1];
		const double step = fabs((double)now + hours->before[0] -
					 bend * hours->before[1]);

		if (settled && step > hours->worst_step)
			hours->worst_step = step;
		hours->before[0] = hours->before[1];
		hours->before[1] = now;
	}
	if (settled) {
		/* The last frame was at card->played - 1. */
		const double late =
			behind(first, hours->before[0], hours->before[1]) -
			(second - (double)(card->played - 2));

		if (fabs(late) > hours->worst_ms * RATE / 1000)
			hours->worst_ms = fabs(late) * 1000 / RATE;
	}
}

/* Where the first card is, as everybody reckons it. */
static void
check_position(struct hours *hours)
{
	struct tap_view view;
	double off;

	assert_true(tap_look(hours->tap, &view));
	off = fabs((double)tap_heard(hours->tap, &view, now_ns) -
		   position(&hours->clock.card));
	if (off > hours->worst_heard)
		hours->worst_heard = off;
}

/* ---- all of it ---- */

static void
free_plan(void *plan, void *context)
{
	(void)context;
	free(plan);
}

static void
begin_follower(struct hours *hours)
{
	struct follow_plan *plan = calloc(1, sizeof(*plan));

	assert_non_null(plan);
	hours->follower = follower_create(&hours->other.card.card.info);
	hours->plans = snapshot_create(NULL, free_plan, NULL);
	assert_non_null(hours->follower);
	assert_non_null(hours->plans);
	assert_int_equal(interpolator_create(RATE, RATE, &hours->interpolator),
			 0);
	plan->now = (struct follow_source){hours->tap, hours->interpolator};
	plan->kind = TAP_ALL;
	assert_true(snapshot_publish(hours->plans, plan) > 0);
	begin_player(&hours->other,
		     &(struct output_part){
			     .plans = hours->plans,
			     .bus = &hours->follower->bus,
			     .timeline = &hours->follower->timeline,
			     .follower = hours->follower,
		     },
		     FOLLOWER_CUT);
}

static struct hours *
hours_new(double clock_ppm, double other_ppm)
{
	struct hours *hours = calloc(1, sizeof(*hours));

	assert_non_null(hours);
	now_ns = NS_PER_S;
	init_player(&hours->clock, CARD_S32, CLOCK_BUFFER, clock_ppm);
	init_player(&hours->other, CARD_F32, FOLLOW_BUFFER, other_ppm);
	hours->bus = aligned_alloc(CACHE_LINE, sizeof(*hours->bus));
	assert_non_null(hours->bus);
	memset((void *)hours->bus, 0, sizeof(*hours->bus));
	hours->tap = tap_create(RATE, CHANNELS, 2 * CLOCK_BUFFER, false);
	assert_non_null(hours->tap);
	tap_want(hours->tap, TAP_ALL, true);
	hours->bus->tap = hours->tap;
	begin_song(hours);
	begin_player(&hours->clock,
		     &(struct output_part){.bus = hours->bus,
					   .timeline = &hours->timeline},
		     1);
	begin_follower(hours);
	return hours;
}

static void
hours_free(struct hours *hours)
{
	snapshot_destroy(hours->plans);
	follower_destroy(hours->follower);
	interpolator_destroy(hours->interpolator);
	tap_destroy(hours->tap);
	finish_player(&hours->clock);
	finish_player(&hours->other);
	free(hours->deck_memory);
	free(hours->bus);
	free(hours);
}

static void
run(struct hours *hours, int64_t until_ns, int64_t settled_ns)
{
	struct player *clock = &hours->clock, *other = &hours->other;

	while (now_ns < until_ns) {
		const int64_t due_ns = clock->due_ns < other->due_ns
					       ? clock->due_ns
					       : other->due_ns;

		now_ns = due_ns > now_ns ? due_ns : now_ns;
		check_position(hours);
		check_first(hours);
		check_second(hours, now_ns > settled_ns);
		if (clock->due_ns <= now_ns) {
			cycle(clock);
			fill_deck(hours);
			if (publish(hours))
				other->due_ns = now_ns + CYCLE_NS;
		}
		if (other->due_ns <= now_ns)
			cycle(other);
	}
}

static void
test_pace(double clock_ppm, double other_ppm)
{
	struct hours *hours = hours_new(clock_ppm, other_ppm);
	const int64_t begin_ns = now_ns;

	run(hours, begin_ns + minutes * 60 * NS_PER_S,
	    begin_ns + SETTLED_S * NS_PER_S);
	print_message("%u minutes at %+.0f and %+.0f ppm: position off by %.2f "
		      "frames at most; the second card by %.2f ms, largest "
		      "step %.6f\n",
		      minutes, clock_ppm, other_ppm, hours->worst_heard,
		      hours->worst_ms, hours->worst_step);
	/* All of the song, at its own pace. */
	assert_true(fabs((double)hours->clock.card.checked -
			 minutes * 60.0 * RATE * (1 + clock_ppm * 1e-6)) <
		    RATE / 10);
	assert_true(hours->worst_heard <= RATE / 100);
	assert_int_equal(atomic_load(&hours->clock.rt->figures.xruns), 0);
	assert_int_equal(atomic_load(&hours->other.rt->figures.xruns), 0);
	assert_int_equal(atomic_load(&hours->follower->dropped_frames), 0);
	assert_int_equal(atomic_load(&hours->follower->dry_frames), 0);
	assert_true(hours->worst_ms < 3);
	/* A frame is 0.003 there. */
	assert_true(hours->worst_step < 0.0003);
	hours_free(hours);
}

static void
test_the_clock_is_fast(void **state)
{
	(void)state;
	test_pace(100, 0);
}

static void
test_the_clock_is_slow(void **state)
{
	(void)state;
	test_pace(-100, 0);
}

static void
test_each_goes_its_way(void **state)
{
	(void)state;
	test_pace(100, -100);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_clock_is_fast),
		cmocka_unit_test(test_the_clock_is_slow),
		cmocka_unit_test(test_each_goes_its_way),
	};

	if (argc > 1)
		minutes = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

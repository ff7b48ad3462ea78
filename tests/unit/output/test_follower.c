/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A clock and a card that follows it, each by a clock of its own, in a time
 * that costs nothing. The clock plays a sine; what the card plays is looked at
 * frame by frame: a sine obeys x[n+1] + x[n-1] = 2 cos(w) x[n], so that a
 * frame too many, too few or wrong anywhere stands out. */
#include "daemon/output/follower.h"

#include "daemon/audio/interpolate.h"
#include "lib/base/clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	RATE = 4000,
	BUFFER = RATE / 10,
	LOW = BUFFER / 4,
	TELL = 400, /* frames between two words of the clock */
	PLAYED_MAX = 5 * 60 * RATE,
};

static const double TONE = 0.37; /* radians a frame of the clock */

struct sim {
	struct tap *tap;
	struct follower *follower;
	struct follow_plan plan;
	struct interpolator *interpolator;
	double clock_ppm, card_ppm;
	int64_t now_ns;
	/* the clock */
	double clock_frames; /* heard */
	uint64_t written, told;
	bool clock_stands; /* and says so */
	bool clock_stalls; /* and does not */
	/* the card */
	double card_frames; /* played, of this run */
	uint64_t queued;
	bool card_runs;
	int64_t waits_ns; /* to be started, since */
	double played_part;
	float *played;
	uint64_t played_count;
	int64_t worst_lag, least_lag; /* of the follower, ns */
};

static struct sim *
sim_new(uint32_t clock_hz, uint32_t clock_channels, uint32_t card_channels)
{
	const struct card_info info = {
		.spec = {RATE, card_channels, CARD_F32, 32},
		.buffer_frames = BUFFER,
		.period_frames = BUFFER / 4,
	};
	struct sim *sim = calloc(1, sizeof(*sim));

	assert_non_null(sim);
	sim->tap = tap_create(clock_hz, clock_channels, 2 * clock_hz, false);
	sim->follower = follower_create(&info);
	sim->played = malloc(sizeof(float) * PLAYED_MAX);
	assert_int_equal(
		interpolator_create(clock_hz, RATE, &sim->interpolator), 0);
	assert_non_null(sim->tap);
	assert_non_null(sim->follower);
	assert_non_null(sim->played);
	tap_want(sim->tap, TAP_ALL, true);
	sim->plan.now.tap = sim->tap;
	sim->plan.now.interpolator = sim->interpolator;
	sim->least_lag = INT64_MAX;
	sim->now_ns = NS_PER_S;
	return sim;
}

static void
sim_free(struct sim *sim)
{
	follower_destroy(sim->follower);
	interpolator_destroy(sim->interpolator);
	tap_destroy(sim->tap);
	free(sim->played);
	free(sim);
}

static void
write_tone(struct tap *tap, uint64_t from, uint64_t to)
{
	float frames[64 * 8];

	while (from < to) {
		const size_t count = to - from < 64 ? (size_t)(to - from) : 64;

		for (size_t i = 0; i < count * tap->channels; i++)
			frames[i] =
				(float)(0.5 * sin(TONE *
						  (double)(from +
							   i / tap->channels)));
		tap_write(tap, TAP_ALL, from, frames, count);
		from += count;
	}
}

/* Half a second ahead, told now and then. */
static void
tell_clock(struct sim *sim, bool at_once)
{
	struct tap_view view = {.heard = (uint64_t)sim->clock_frames,
				.time_ns = sim->now_ns,
				.running = !sim->clock_stands};
	const uint64_t mixed = view.heard + sim->tap->rate_hz / 2;

	if (!at_once && sim->told + TELL > view.heard)
		return;
	view.mixed = sim->clock_stands ? view.heard : mixed;
	if (view.mixed > sim->written)
		write_tone(sim->tap, sim->written, view.mixed);
	sim->written = view.mixed > sim->written ? view.mixed : sim->written;
	sim->told = view.heard;
	tap_publish(sim->tap, &view);
}

static uint64_t
deck_frames(const struct sim *sim)
{
	return pcm_ring_readable(&sim->follower->bus.decks[LANE_MUSIC][0].ring);
}

/* What is played is kept: its first channel. */
static void
fill_card(struct sim *sim)
{
	struct pcm_ring *ring = &sim->follower->bus.decks[LANE_MUSIC][0].ring;

	while (sim->queued < BUFFER) {
		size_t run = 0;
		const float *frames = pcm_ring_read_span(ring, &run);

		if (run > BUFFER - sim->queued)
			run = (size_t)(BUFFER - sim->queued);
		if (run == 0)
			break;
		assert_true(sim->played_count + run <= PLAYED_MAX);
		for (size_t i = 0; i < run; i++)
			sim->played[sim->played_count++] =
				frames[i * sim->follower->channels];
		pcm_ring_consume(ring, run);
		sim->queued += run;
	}
	if (sim->queued == 0 || sim->card_runs)
		sim->waits_ns = sim->now_ns;
	/* Full, or all there is for a while. */
	if (sim->queued == BUFFER ||
	    sim->now_ns - sim->waits_ns >= 50 * NS_PER_MS)
		sim->card_runs = true;
}

static void
look(struct sim *sim)
{
	const struct follow_look card = {
		.now_ns = sim->now_ns,
		.running = sim->card_runs,
		.dry = !sim->card_runs && sim->queued == 0 &&
		       sim->played_count > 0 && deck_frames(sim) == 0,
		.queued_frames = deck_frames(sim) + sim->queued,
	};
	int64_t lag;

	follower_feed(sim->follower, &sim->plan, &card);
	fill_card(sim);
	lag = atomic_load(&sim->follower->lag_ns);
	if (lag > sim->worst_lag)
		sim->worst_lag = lag;
	if (lag != 0 && lag < sim->least_lag)
		sim->least_lag = lag;
}

/* Five milliseconds at a time. */
static void
run(struct sim *sim, double seconds)
{
	const int64_t end_ns = sim->now_ns + (int64_t)(seconds * NS_PER_S);

	while (sim->now_ns < end_ns) {
		uint64_t gone;

		sim->now_ns += 5 * NS_PER_MS;
		if (!sim->clock_stands && !sim->clock_stalls)
			sim->clock_frames += 0.005 * sim->tap->rate_hz *
					     (1 + sim->clock_ppm * 1e-6);
		if (!sim->clock_stalls)
			tell_clock(sim, false);
		if (sim->card_runs) {
			sim->played_part +=
				0.005 * RATE * (1 + sim->card_ppm * 1e-6);
			gone = (uint64_t)sim->played_part;
			sim->played_part -= (double)gone;
			sim->queued -= gone < sim->queued ? gone : sim->queued;
			sim->card_runs = sim->queued > 0;
		}
		if (sim->queued <= LOW || !sim->card_runs)
			look(sim);
	}
}

/* The largest step from what a sine would go on with, over frames [from, to),
 * in parts of its size. */
static double
roughness(const struct sim *sim, uint64_t from, uint64_t to)
{
	const double tone = TONE * sim->tap->rate_hz / RATE;
	double worst = 0;

	for (uint64_t i = from + 1; i + 1 < to; i++) {
		const double left = sim->played[i - 1] + sim->played[i + 1] -
				    2 * cos(tone) * sim->played[i];

		worst = fmax(worst, fabs(left) / 0.5);
	}
	return worst;
}

/* The first frame of the last run of sound. */
static uint64_t
sound_begins(const struct sim *sim)
{
	uint64_t i = sim->played_count, silent = 0;

	while (i > 0 && silent < 20) {
		i--;
		silent = sim->played[i] == 0 ? silent + 1 : 0;
	}
	return i + silent;
}

static void
expect_untroubled(const struct sim *sim)
{
	assert_int_equal(atomic_load(&sim->follower->dropped_frames), 0);
	assert_int_equal(atomic_load(&sim->follower->dry_frames), 0);
}

/* Four minutes each. */
static void
test_the_lag_stays_whatever_the_clocks(void **state)
{
	static const double ppms[][2] = {
		{0, 0}, {100, 0}, {-300, 0}, {50, -250}};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct sim *sim = sim_new(RATE, 2, 2);
		const int64_t lag_ns =
			(int64_t)sim->follower->lag_frames * NS_PER_S / RATE;
		const double ppm = ppms[i][0] - ppms[i][1];
		uint64_t begins;

		sim->clock_ppm = ppms[i][0];
		sim->card_ppm = ppms[i][1];
		run(sim, 60);
		begins = sim->played_count;
		run(sim, 3 * 60);
		expect_untroubled(sim);
		assert_true(sim->worst_lag < lag_ns + 12 * NS_PER_MS);
		assert_true(sim->least_lag > lag_ns - 12 * NS_PER_MS);
		assert_true(
			fabs((double)atomic_load(&sim->follower->drift_ppb) /
				     1000 -
			     ppm) < 30);
		assert_true(roughness(sim, begins, sim->played_count) < 5e-4);
		sim_free(sim);
	}
}

static void
test_rates_and_channels_may_be_others(void **state)
{
	static const uint32_t rates[] = {4410, 8000, 2000};

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t channels = 1; channels <= 2; channels++) {
			struct sim *sim =
				sim_new(rates[i], channels, 3 - channels);

			sim->card_ppm = 200;
			run(sim, 30);
			expect_untroubled(sim);
			assert_true(roughness(sim,
					      sim->played_count - 20 * RATE,
					      sim->played_count) < 2e-3);
			sim_free(sim);
		}
}

/* It was there from the first frame: nothing is missing, and nothing fades. */
static void
test_it_begins_with_the_first_frame(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	uint64_t begins;

	(void)state;
	run(sim, 2);
	begins = sound_begins(sim);
	for (unsigned i = 0; i < 200; i++)
		assert_true(fabs(sim->played[begins + i] -
				 0.5 * sin(TONE * i)) < (i < 70 ? 2e-2 : 1e-3));
	assert_true(begins >= sim->follower->lag_frames - RATE / 20);
	assert_true(begins <= sim->follower->lag_frames + RATE / 20);
	sim_free(sim);
}

/* Who comes later fades in to what is heard now. */
static void
test_it_joins_in_the_midst(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	uint64_t begins;

	(void)state;
	sim->clock_frames = 5000;
	write_tone(sim->tap, 0, 5000);
	sim->written = 5000;
	tell_clock(sim, true);
	run(sim, 2);
	begins = sound_begins(sim);
	assert_true(roughness(sim, 0, begins + 2) < 0.2);
	assert_true(roughness(sim, begins, sim->played_count) < 0.2);
	assert_true(roughness(sim, begins + 40, sim->played_count) < 1e-3);
	assert_true(
		llabs(atomic_load(&sim->follower->lag_ns) * RATE / NS_PER_S -
		      sim->follower->lag_frames) < RATE / 100);
	sim_free(sim);
}

/* What was mixed is heard to its last frame, and goes on with the next. */
static void
test_a_pause_is_a_pause(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	uint64_t before, stood;

	(void)state;
	run(sim, 10);
	sim->clock_stands = true;
	tell_clock(sim, true);
	stood = (uint64_t)sim->clock_frames;
	run(sim, 5);
	before = sim->played_count;
	assert_false(sim->card_runs);
	sim->clock_stands = false;
	tell_clock(sim, true);
	run(sim, 10);
	expect_untroubled(sim);
	assert_true(roughness(sim, sound_begins(sim) + 40, sim->played_count) <
		    1e-3);
	assert_true(sim->played_count > before + 9 * RATE);
	/* The tone goes on where it stood: all of it was heard before. */
	assert_true(fabs(sim->played[before - 1] -
			 0.5 * sin(TONE * (double)(stood - 1))) < 0.05);
	sim_free(sim);
}

/* A clock that hangs is an error that is counted; it ends by itself. */
static void
test_a_clock_that_hangs_is_counted(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);

	(void)state;
	run(sim, 10);
	sim->clock_stalls = true;
	run(sim, 5);
	assert_false(sim->card_runs);
	sim->clock_stalls = false;
	tell_clock(sim, true);
	run(sim, 5);
	assert_true(sim->card_runs);
	assert_true(atomic_load(&sim->follower->dry_frames) > 0);
	assert_true(roughness(sim, sim->played_count - RATE,
			      sim->played_count) < 1e-3);
	sim_free(sim);
}

/* A card that stood still for a while is behind; it goes on where it should be,
 * without a click. */
static void
test_what_is_too_late_is_left_out(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	const int64_t lag_ns =
		(int64_t)sim->follower->lag_frames * NS_PER_S / RATE;
	uint64_t stood;

	(void)state;
	run(sim, 10);
	stood = sim->played_count;
	for (unsigned i = 0; i < 60; i++) {
		sim->now_ns += 5 * NS_PER_MS;
		sim->clock_frames += 0.005 * RATE;
		tell_clock(sim, false);
	}
	run(sim, 10);
	assert_in_range(atomic_load(&sim->follower->dropped_frames),
			RATE / 10 * 2, RATE / 10 * 4);
	assert_int_equal(atomic_load(&sim->follower->dry_frames), 0);
	assert_true(llabs(atomic_load(&sim->follower->lag_ns) - lag_ns) <
		    10 * NS_PER_MS);
	assert_true(roughness(sim, stood - RATE, sim->played_count) < 0.3);
	assert_true(roughness(sim, sim->played_count - 9 * RATE,
			      sim->played_count) < 1e-3);
	sim_free(sim);
}

/* Two seconds later the ring has been written over. */
static void
test_what_is_gone_is_left_out(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);

	(void)state;
	run(sim, 10);
	for (unsigned i = 0; i < 4000; i++) {
		sim->now_ns += 5 * NS_PER_MS;
		sim->clock_frames += 0.005 * RATE;
		tell_clock(sim, false);
	}
	run(sim, 10);
	assert_in_range(atomic_load(&sim->follower->dropped_frames), 19 * RATE,
			21 * RATE);
	assert_true(roughness(sim, sim->played_count - 8 * RATE,
			      sim->played_count) < 1e-3);
	sim_free(sim);
}

/* The clock's card was opened anew: the old tap is heard to its end, then the
 * new one from its beginning. */
static void
test_a_new_tap_is_followed(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	struct interpolator *interpolator;
	struct tap *old = sim->tap;
	uint64_t last;

	(void)state;
	run(sim, 10);
	last = (uint64_t)sim->clock_frames;
	tap_publish(old, &(struct tap_view){.mixed = last,
					    .heard = last,
					    .time_ns = sim->now_ns,
					    .ended = true});
	assert_int_equal(interpolator_create(8000, RATE, &interpolator), 0);
	sim->plan.before = sim->plan.now;
	sim->tap = tap_create(8000, 1, 16000, false);
	assert_non_null(sim->tap);
	tap_want(sim->tap, TAP_ALL, true);
	sim->plan.now = (struct follow_source){sim->tap, interpolator};
	sim->clock_frames = 0;
	sim->written = sim->told = 0;
	tell_clock(sim, true);
	run(sim, 5);
	expect_untroubled(sim);
	assert_true(sim->follower->tap == sim->tap);
	assert_true(sim->played_count > 14 * RATE);
	assert_true(roughness(sim, sim->played_count - 4 * RATE,
			      sim->played_count) < 2e-3);
	tap_destroy(old);
	interpolator_destroy(interpolator);
	sim_free(sim);
}

/* And without any it falls silent. */
static void
test_without_a_tap_there_is_nothing(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);

	(void)state;
	run(sim, 5);
	sim->plan.now.tap = NULL;
	run(sim, 2);
	assert_false(sim->card_runs);
	assert_false(sim->follower->listening);
	expect_untroubled(sim);
	sim_free(sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_lag_stays_whatever_the_clocks),
		cmocka_unit_test(test_rates_and_channels_may_be_others),
		cmocka_unit_test(test_it_begins_with_the_first_frame),
		cmocka_unit_test(test_it_joins_in_the_midst),
		cmocka_unit_test(test_a_pause_is_a_pause),
		cmocka_unit_test(test_a_clock_that_hangs_is_counted),
		cmocka_unit_test(test_what_is_too_late_is_left_out),
		cmocka_unit_test(test_what_is_gone_is_left_out),
		cmocka_unit_test(test_a_new_tap_is_followed),
		cmocka_unit_test(test_without_a_tap_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

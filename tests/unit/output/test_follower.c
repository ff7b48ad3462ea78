/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a card plays that follows another: all of it, in time, without a click,
 * whatever the clocks and whatever happens to either. */
#include "tests/unit/output/follow.h"

static void
expect_untroubled(const struct sim *sim)
{
	assert_int_equal(atomic_load(&sim->follower->dropped_frames), 0);
	assert_int_equal(atomic_load(&sim->follower->dry_frames), 0);
}

/* Three minutes each. */
static void
test_the_lag_stays_whatever_the_clocks(void **state)
{
	static const double ppms[][2] = {
		{0, 0}, {100, 0}, {-300, 0}, {50, -250}};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct sim *sim = sim_new(RATE, 2, 2);
		const double ppm = ppms[i][0] - ppms[i][1];
		uint64_t begins;

		sim->clock_ppm = ppms[i][0];
		sim->card_ppm = ppms[i][1];
		run(sim, 60);
		begins = sim->played_count;
		run(sim, 2 * 60);
		expect_untroubled(sim);
		assert_true(sim->worst_lag < 12 * NS_PER_MS);
		assert_true(sim->least_lag > -12 * NS_PER_MS);
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
	/* When it is heard at the clock. */
	assert_true(begins <= 2);
	assert_true(llabs(atomic_load(&sim->follower->lag_ns)) < 2 * NS_PER_MS);
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
	write_tone(sim->tap, 0, 5000, 0);
	sim->written = 5000;
	sim->clock_started = true;
	tell_clock(sim, true);
	run(sim, 2);
	begins = sound_begins(sim);
	assert_true(roughness(sim, 0, begins + 2) < 0.2);
	assert_true(roughness(sim, begins, sim->played_count) < 0.2);
	assert_true(roughness(sim, begins + 40, sim->played_count) < 1e-3);
	assert_true(llabs(atomic_load(&sim->follower->lag_ns)) <
		    10 * NS_PER_MS);
	sim_free(sim);
}

/* The clock falls silent, then stands, then goes on. */
static void
test_a_pause_is_a_pause(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	uint64_t before;

	(void)state;
	run(sim, 10);
	(void)fall_silent(sim);
	look(sim);
	run(sim, 0.2);
	tap_turn_back(sim->tap, (uint64_t)sim->clock_frames);
	sim->written = (uint64_t)sim->clock_frames;
	sim->silent_from = 0;
	sim->clock_stands = true;
	tell_clock(sim, true);
	run(sim, 5);
	before = sim->played_count;
	assert_false(sim->card_runs);
	sim->clock_stands = sim->clock_started = false;
	run(sim, 10);
	expect_untroubled(sim);
	assert_true(roughness(sim, before + 80, sim->played_count) < 1e-3);
	assert_true(sim->played_count > before + 9 * RATE);
	assert_true(llabs(atomic_load(&sim->follower->lag_ns)) < 2 * NS_PER_MS);
	sim_free(sim);
}

/* What the clock takes back is not heard, but for what was about to be. */
static void
test_what_the_clock_takes_back_is_taken_back(void **state)
{
	(void)state;
	for (unsigned rewinds = 0; rewinds < 2; rewinds++) {
		struct sim *sim = sim_new(RATE, 1, 1);
		const uint64_t most = rewinds ? RATE / 50 : RATE / 8;
		uint64_t heard = 0, last = 0;

		sim->cannot_rewind = rewinds == 0;
		run(sim, 10);
		heard = sim->played_count - sim->queued;
		(void)fall_silent(sim);
		look(sim);
		run(sim, 0.3);
		expect_untroubled(sim);
		for (last = sim->played_count - 1;
		     fabsf(sim->played[last]) < 1e-3F; last--)
			;
		assert_in_range(last, heard + GUARD, heard + most);
		/* It fades. */
		assert_true(roughness(sim, heard - RATE, sim->played_count) <
			    0.2);
		sim_free(sim);
	}
}

/* A clock that mixes less far ahead than the card wants to be fed. */
static void
test_it_is_behind_what_the_clock_mixes_too_late(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	const int64_t lag_ns =
		((int64_t)sim->follower->need_frames * 1000 / RATE - 20) *
		NS_PER_MS;
	uint64_t begins = 0;

	(void)state;
	sim->lead_ms = 20;
	run(sim, 20);
	begins = sound_begins(sim);
	expect_untroubled(sim);
	assert_true(llabs(atomic_load(&sim->follower->lag_ns) - lag_ns) <
		    5 * NS_PER_MS);
	assert_true(roughness(sim, begins + 70, sim->played_count) < 1e-3);
	sim_free(sim);
}

/* A card that plays silence first, for it has to settle, loses nothing. It is
 * behind and comes nearer, so slowly that nothing else is taken for it. */
static void
test_a_card_that_settles_loses_nothing(void **state)
{
	struct sim *sim = sim_new(RATE, 1, 1);
	int64_t lag_ns = 0;

	(void)state;
	sim->settle_frames = RATE / 2;
	sim->card_runs = true;
	sim->card_ppm = 100;
	run(sim, 60);
	expect_untroubled(sim);
	lag_ns = atomic_load(&sim->follower->lag_ns);
	assert_in_range(lag_ns, 455 * NS_PER_MS, 480 * NS_PER_MS);
	for (unsigned i = 0; i < 200; i++)
		assert_true(fabs(sim->played[i] - 0.5 * sin(TONE * i)) < 3e-2);
	run(sim, 60);
	expect_untroubled(sim);
	assert_in_range(lag_ns - atomic_load(&sim->follower->lag_ns),
			25 * NS_PER_MS, 35 * NS_PER_MS);
	assert_true(fabs((double)atomic_load(&sim->follower->drift_ppb) / 1000 +
			 100) < 30);
	assert_true(roughness(sim, 200, sim->played_count) < 1e-3);
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
	assert_true(llabs(atomic_load(&sim->follower->lag_ns)) <
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
		cmocka_unit_test(test_what_the_clock_takes_back_is_taken_back),
		cmocka_unit_test(
			test_it_is_behind_what_the_clock_mixes_too_late),
		cmocka_unit_test(test_a_card_that_settles_loses_nothing),
		cmocka_unit_test(test_a_clock_that_hangs_is_counted),
		cmocka_unit_test(test_what_is_too_late_is_left_out),
		cmocka_unit_test(test_what_is_gone_is_left_out),
		cmocka_unit_test(test_a_new_tap_is_followed),
		cmocka_unit_test(test_without_a_tap_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* follow.h - a clock and a card that follows it, each by a clock of its own, in
 * a time that costs nothing. The clock plays a sine; what the card plays is
 * kept and looked at frame by frame: a sine obeys x[n+1] + x[n-1] =
 * 2 cos(w) x[n], so that a frame too many, too few or wrong anywhere stands
 * out. Static functions, for this folder only. */
#ifndef ROTARY_TESTS_OUTPUT_FOLLOW_H
#define ROTARY_TESTS_OUTPUT_FOLLOW_H

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
	GUARD = RATE * 8 / 1000,
	LEAD_MS = 400, /* that the clock mixes ahead */
	TELL = 400,    /* frames between two words of the clock */
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
	uint32_t lead_ms;
	bool clock_started;
	uint64_t silent_from; /* the tone ends there; 0: it does not */
	bool clock_stands;    /* and says so */
	bool clock_stalls;    /* and does not */
	/* the card */
	double card_frames; /* played, of this run */
	uint64_t queued;
	bool card_runs;
	bool cannot_rewind;
	uint64_t settle_frames; /* silence that comes before anything else */
	int64_t waits_ns;       /* to be started, since */
	double played_part;
	float *played;
	uint64_t played_count;
	int64_t worst_lag, least_lag; /* of the follower, ns */
};

static inline struct sim *
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
	sim->worst_lag = INT64_MIN;
	sim->lead_ms = LEAD_MS;
	sim->now_ns = NS_PER_S;
	return sim;
}

static inline void
sim_free(struct sim *sim)
{
	follower_destroy(sim->follower);
	interpolator_destroy(sim->interpolator);
	tap_destroy(sim->tap);
	free(sim->played);
	free(sim);
}

static inline void
write_tone(struct tap *tap, uint64_t from, uint64_t to, uint64_t silent_from)
{
	float frames[64 * 8];

	while (from < to) {
		const size_t count = to - from < 64 ? (size_t)(to - from) : 64;

		for (size_t i = 0; i < count * tap->channels; i++) {
			const uint64_t frame = from + i / tap->channels;

			frames[i] = silent_from != 0 && frame >= silent_from
					    ? 0
					    : (float)(0.5 * sin(TONE *
								(double)frame));
		}
		tap_write(tap, TAP_ALL, from, frames, count);
		from += count;
	}
}

/* Half a second ahead, told now and then. */
static inline void
tell_clock(struct sim *sim, bool at_once)
{
	struct tap_view view = {
		.heard = (uint64_t)sim->clock_frames,
		.time_ns = sim->now_ns,
		.lead_frames = sim->tap->rate_hz / 1000 * sim->lead_ms,
		.running = sim->clock_started && !sim->clock_stands};
	const uint64_t ahead = sim->tap->rate_hz / 1000 * (sim->lead_ms + 100);
	const uint64_t mixed = view.heard + ahead;

	if (!at_once && sim->told + TELL > view.heard)
		return;
	view.mixed = sim->clock_stands ? view.heard : mixed;
	if (view.mixed > sim->written)
		write_tone(sim->tap, sim->written, view.mixed,
			   sim->silent_from);
	sim->written = view.mixed > sim->written ? view.mixed : sim->written;
	sim->told = view.heard;
	tap_publish(sim->tap, &view);
}

static inline uint64_t
deck_frames(const struct sim *sim)
{
	return pcm_ring_readable(&sim->follower->bus.decks[LANE_MUSIC][0].ring);
}

/* What is played is kept: its first channel. */
static inline void
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
	if ((sim->queued == BUFFER ||
	     sim->now_ns - sim->waits_ns >= 50 * NS_PER_MS) &&
	    !follower_holds(sim->follower))
		sim->card_runs = true;
}

static inline struct follow_look
see(const struct sim *sim)
{
	return (struct follow_look){
		.now_ns = sim->now_ns,
		.running = sim->card_runs,
		.empty = !sim->card_runs && sim->queued == 0 &&
			 deck_frames(sim) == 0,
		.dry = !sim->card_runs && sim->queued == 0 &&
		       sim->played_count > 0 && deck_frames(sim) == 0,
		.queued_frames =
			deck_frames(sim) + sim->queued + sim->settle_frames,
		.deck_frames = deck_frames(sim),
	};
}

/* But for what is about to be played. */
static inline void
give_back(struct sim *sim, uint64_t frames)
{
	const uint64_t guard = sim->card_runs ? GUARD : 0;
	const uint64_t most = sim->queued > guard ? sim->queued - guard : 0;

	frames = frames < most ? frames : most;
	assert_int_equal(
		pcm_ring_rewind(&sim->follower->bus.decks[LANE_MUSIC][0].ring,
				(size_t)frames),
		frames);
	sim->queued -= frames;
	sim->played_count -= frames;
}

static inline void
look(struct sim *sim)
{
	struct follow_look card = see(sim);
	const uint64_t back =
		follower_wants_back(sim->follower, &sim->plan, &card);
	int64_t lag;

	if (back > card.deck_frames && !sim->cannot_rewind) {
		give_back(sim, back - card.deck_frames);
		card = see(sim);
	}
	follower_feed(sim->follower, &sim->plan, &card);
	fill_card(sim);
	lag = atomic_load(&sim->follower->lag_ns);
	if (lag > sim->worst_lag)
		sim->worst_lag = lag;
	if (lag != 0 && lag < sim->least_lag)
		sim->least_lag = lag;
}

/* Who follows is told, as by control. */
static inline void
start_clock(struct sim *sim)
{
	tell_clock(sim, true);
	look(sim);
	sim->clock_started = true;
	tell_clock(sim, true);
	look(sim);
}

/* All that was mixed and is not heard is mixed anew: silence, after a fade that
 * is none. */
static inline uint64_t
fall_silent(struct sim *sim)
{
	const uint64_t from = (uint64_t)sim->clock_frames + GUARD;

	tap_turn_back(sim->tap, from);
	sim->silent_from = from;
	write_tone(sim->tap, from, sim->written, from);
	tell_clock(sim, true);
	return from;
}

/* Five milliseconds at a time. */
static inline void
run(struct sim *sim, double seconds)
{
	const int64_t end_ns = sim->now_ns + (int64_t)(seconds * NS_PER_S);

	if (!sim->clock_started)
		start_clock(sim);
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
			if (gone < sim->settle_frames) {
				sim->settle_frames -= gone;
				gone = 0;
			} else {
				gone -= sim->settle_frames;
				sim->settle_frames = 0;
			}
			sim->queued -= gone < sim->queued ? gone : sim->queued;
			sim->card_runs =
				sim->queued > 0 || sim->settle_frames > 0;
		}
		if (sim->queued <= LOW || !sim->card_runs)
			look(sim);
	}
}

/* The largest step from what a sine would go on with, over frames [from, to),
 * in parts of its size. */
static inline double
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
static inline uint64_t
sound_begins(const struct sim *sim)
{
	uint64_t i = sim->played_count, silent = 0;

	while (i > 0 && silent < 20) {
		i--;
		silent = sim->played[i] == 0 ? silent + 1 : 0;
	}
	return i + silent;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane's thread fills decks, cut after cut, while the mixer mixes, takes
 * back at random, forgets, and gives decks back. Every sample outside a fade
 * must be the one that the mixer's own points name: a frame written over too
 * early, or a stretch seen too late, would not be.
 *
 * ROTARY_STRESS_S: seconds to run (default 2). */
#include "daemon/output/mix.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/unit/output/tape.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	BLOCK = 900,
	BUFFER = 6000,
	CAPACITY = 24000,
	FADE = TAPE_RATE_HZ * MIX_FADE_US / 1000000,
	SONG = 5000,
};

struct pair {
	struct tape tape;
	ATOMIC(uint64_t) cut; /* that the lane is to fill */
	ATOMIC(bool) stop;
};

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525U + 1013904223U;
	return *seed >> 8;
}

/* The lane: songs of SONG frames, stream numbers 1000 * cut and up. */
static void *
lane_main(void *argument)
{
	struct pair *pair = argument;
	struct deck *deck = NULL;
	uint64_t cut = 0, stream = 0, frame = SONG;
	uint32_t seed = 99;

	while (!atomic_load(&pair->stop)) {
		const uint64_t wanted = atomic_load(&pair->cut);
		size_t count = 1 + next_random(&seed) % 700;

		if (wanted != cut) {
			deck = tape_begin(&pair->tape, LANE_MUSIC, wanted);
			if (deck == NULL)
				continue;
			cut = wanted;
			stream = 1000 * cut;
			frame = SONG;
		}
		if (frame == SONG) {
			const struct deck_stretch stretch = {
				.first_frame = pcm_ring_written(&deck->ring),
				.stream_id = stream + 1,
				.stream_rate_hz = TAPE_RATE_HZ,
				.bits = 24,
			};

			if (!deck_add_stretch(deck, &stretch))
				continue;
			stream++;
			frame = 0;
		}
		count = count < SONG - frame ? count : SONG - frame;
		frame += tape_write(deck, stream, frame, count, SAMPLE_S32, 24);
	}
	return NULL;
}

/* Which sample the points say, for an output frame; false: none, or a fade. */
static bool
named_sample(const struct mix *mix, uint64_t frame, uint64_t *ret_stream,
	     uint64_t *ret_frame)
{
	const struct timeline_point *found = NULL;

	for (unsigned i = 0; i < mix->lanes[0].span_count; i++) {
		const struct mix_span *span = &mix->lanes[0].spans[i];

		if (frame >= span->first && frame < span->first + FADE)
			return false;
		if (frame >= span->left_at && frame < span->end)
			return false;
	}
	for (unsigned i = 0; i < mix->point_count; i++) {
		if (mix->points[i].output_frame <= frame)
			found = &mix->points[i];
	}
	if (found == NULL || found->stream_id == 0)
		return false;
	*ret_stream = found->stream_id;
	*ret_frame = found->stream_frame + (frame - found->output_frame);
	return true;
}

static uint64_t
check(const struct mix *mix, const int32_t *out, uint64_t first, size_t frames)
{
	uint64_t checked = 0;

	for (size_t i = 0; i < frames; i++) {
		uint64_t stream, frame;

		if (!named_sample(mix, first + i, &stream, &frame))
			continue;
		/* The span list has been cut short at the front at times. */
		assert_int_equal(out[i * 2], tape_s32(stream, frame, 0, 24));
		assert_int_equal(out[i * 2 + 1],
				 tape_s32(stream, frame, 1, 24));
		checked++;
	}
	return checked;
}

static int64_t
end_time(void)
{
	const char *seconds = getenv("ROTARY_STRESS_S");

	return clock_now_ns() +
	       (seconds != NULL ? strtol(seconds, NULL, 10) : 2) * NS_PER_S;
}

static void
test_decks_between_two_threads(void **state)
{
	const struct card_spec spec = {TAPE_RATE_HZ, 2, CARD_S32, 32};
	static struct pair pair;
	static struct mix mix;
	static int32_t out[BLOCK * 2];
	const struct thread_spec lane = {.role = THREAD_ROLE_DECODER,
					 .name = "lane",
					 .stack_bytes = THREAD_STACK_WORKER,
					 .main = lane_main,
					 .argument = &pair};
	const int64_t end_ns = end_time();
	struct mix_plan plan = {.volume = 1.0F};
	struct thread thread = {0};
	uint64_t checked = 0, cuts = 0;
	uint32_t seed = 7;

	(void)state;
	tape_init(&pair.tape, CAPACITY, deck_history_frames(BUFFER, 48000), 2);
	mix_init(&mix, pair.tape.bus, &spec);
	for (unsigned i = 0; i < LANE_COUNT; i++)
		plan.lanes[i].gain = 1.0F;
	plan.lanes[LANE_MUSIC].cut = 1;
	atomic_store(&pair.cut, 1);
	assert_int_equal(thread_start(&thread, &lane), 0);
	while (clock_now_ns() < end_ns || cuts < 3) {
		uint64_t first, heard;
		size_t done;

		if (next_random(&seed) % 60 == 0 &&
		    mix.lanes[0].span_count > 0) {
			plan.lanes[LANE_MUSIC].cut++;
			atomic_store(&pair.cut, plan.lanes[LANE_MUSIC].cut);
			cuts++;
		}
		plan.lanes[LANE_MUSIC].paused = next_random(&seed) % 50 == 0;
		if (next_random(&seed) % 20 == 0 || mix_pending(&mix, &plan)) {
			const uint64_t lowest = mix_lowest(&mix, &plan);

			mix_rewind(&mix,
				   lowest + next_random(&seed) %
						    (mix.frame - lowest + 1));
		}
		first = mix.frame;
		heard = first > BUFFER ? first - BUFFER : 0;
		(void)mix_run(&mix, &plan, out, BLOCK, false, &done);
		checked += check(&mix, out, first, done);
		mix.note_count = 0;
		(void)mix_forget(&mix, &plan, heard, heard);
	}
	atomic_store(&pair.stop, true);
	thread_join(&thread);
	tape_finish(&pair.tape);
	print_message("%llu frames checked, %llu cuts\n",
		      (unsigned long long)checked, (unsigned long long)cuts);
	assert_true(checked > 10000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decks_between_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Songs that a gain has made too loud: they are limited, in time, the same at
 * each mixing, and songs beside them are not touched. */
#include "tests/unit/output/bench.h"

enum { LOUD = 4000, BODY = 4000, ALL = 3 * BODY };

/* A tone ten times full scale; between its samples it is higher still. */
static float
loud_sample(uint64_t frame)
{
	return 10.0F * (float)sin(1.5707963 * (double)frame + 0.8 +
				  (double)frame * 0.001);
}

static void
add_loud(struct deck *deck, uint64_t stream, size_t frames)
{
	const struct deck_stretch stretch = {
		.first_frame = pcm_ring_written(&deck->ring),
		.stream_id = stream,
		.stream_rate_hz = TAPE_RATE_HZ,
		.kind = SAMPLE_F32,
		.boosted = 1,
	};

	assert_true(deck_add_stretch(deck, &stretch));
	for (size_t i = 0; i < frames; i++) {
		size_t room = 0;
		float *to = pcm_ring_write_span(&deck->ring, &room);

		assert_true(room > 0);
		for (uint32_t c = 0; c < TAPE_CHANNELS; c++)
			to[c] = loud_sample(i);
		pcm_ring_commit(&deck->ring, 1);
	}
}

/* Integers, a loud song, integers. */
static struct bench *
bench_with_loud(void)
{
	struct bench *bench = bench_playing(BODY);
	struct deck *deck = tape_deck(&bench->tape, MUSIC, 1);

	add_loud(deck, 2, LOUD);
	tape_song(deck, 3, 0, BODY, 24);
	pcm_ring_end(&deck->ring);
	return bench;
}

static void
test_a_loud_song_is_limited(void **state)
{
	struct bench *bench = bench_with_loud();
	double largest = 0;
	uint64_t reach;

	(void)state;
	reach = limiter_reach(&bench->mix.limiter);
	assert_int_equal(mix_until(bench, ALL + 1, 256), MIX_IDLE);
	assert_int_equal(bench->mix.frame, ALL);
	expect_stream(bench, 0, BODY - reach, 1, 0);
	for (uint64_t i = BODY; i < BODY + LOUD; i++)
		largest = fmax(largest,
			       fabs(bench->out[i * TAPE_CHANNELS] / 0x1p31));
	/* Samples at full scale would mean 3 dB more between them. */
	assert_true(largest < 0.98);
	assert_true(largest > 0.6);
	/* Not a single sample that was cut off. */
	for (uint64_t i = BODY - reach; i < ALL; i++)
		assert_true(bench->out[i * TAPE_CHANNELS] < INT32_MAX &&
			    bench->out[i * TAPE_CHANNELS] > INT32_MIN);
	bench_free(bench);
}

static void
test_it_is_the_same_in_pieces_and_again(void **state)
{
	static const size_t pieces[] = {1, 31, 100, 4096};
	struct bench *whole = bench_with_loud();

	(void)state;
	mix_until(whole, ALL, 256);
	for (size_t p = 0; p < 4; p++) {
		struct bench *bench = bench_with_loud();

		mix_until(bench, ALL, pieces[p]);
		assert_memory_equal(bench->out, whole->out,
				    (size_t)ALL * TAPE_CHANNELS *
					    sizeof(int32_t));
		/* Back by up to what a deck remembers. */
		for (uint64_t back = 1; back < 7000; back = back * 3 + 5) {
			mix_rewind(&bench->mix, ALL - back);
			memset(bench->out + (ALL - back) * TAPE_CHANNELS, 0,
			       (size_t)back * TAPE_CHANNELS * sizeof(int32_t));
			mix_until(bench, ALL, pieces[p]);
			assert_memory_equal(bench->out, whole->out,
					    (size_t)ALL * TAPE_CHANNELS *
						    sizeof(int32_t));
		}
		bench_free(bench);
	}
	bench_free(whole);
}

/* Long before and long after it is as if there were no limiter. */
static void
test_integers_pass_again_behind_it(void **state)
{
	struct bench *bench = bench_new();
	struct deck *deck = tape_begin(&bench->tape, MUSIC, 1);
	uint64_t quiet = 500;

	(void)state;
	add_loud(deck, 2, 500);
	tape_song(deck, 3, 0, 15000, 24);
	pcm_ring_end(&deck->ring);
	bench->plan.lanes[MUSIC].cut = 1;
	mix_until(bench, 1, 1);
	mix_until(bench, 15500, 256);
	/* 20 dB and a bit at 40 dB a second. */
	while (quiet < 15500 &&
	       limiter_idle(&bench->mix.limiter, quiet, 1) == 0)
		quiet++;
	assert_true(quiet > 500);
	bench_free(bench);
}

/* The lane is late: what is not there yet is waited for, as for all it holds.
 */
static void
test_it_waits_for_what_is_to_come(void **state)
{
	struct bench *bench = bench_new();
	struct deck *deck = tape_begin(&bench->tape, MUSIC, 1);
	const uint64_t reach = limiter_reach(&bench->mix.limiter);

	(void)state;
	add_loud(deck, 2, 3000);
	bench->plan.lanes[MUSIC].cut = 1;
	assert_int_equal(mix_until(bench, 3000, 256), MIX_WAIT);
	assert_int_equal(bench->mix.frame, 3000 - reach);
	pcm_ring_end(&deck->ring);
	assert_int_equal(mix_until(bench, 4000, 256), MIX_IDLE);
	assert_int_equal(bench->mix.frame, 3000);
	bench_free(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_loud_song_is_limited),
		cmocka_unit_test(test_it_is_the_same_in_pieces_and_again),
		cmocka_unit_test(test_integers_pass_again_behind_it),
		cmocka_unit_test(test_it_waits_for_what_is_to_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_overlap.c - songs that are heard together: to the sample, and
 * across rates and channels. test_engine_overlap_change.c has second thoughts
 * while it is going on, and test_engine_overlap_end.c headers that lie. */
#include "tests/unit/engine/overlapping.h"

#include "lib/base/thread.h"

#include <stdio.h>

enum {
	A = 12000,
	B = 10000,
	FADE = RIG_RATE / 10,
};

static void
play_pair(struct rig *rig, uint32_t frames_a, uint32_t frames_b, uint64_t fade,
	  struct rig_wav *ret_wav)
{
	uint64_t a, b;

	rig_make(rig, "a.flac", 1, frames_a);
	rig_make(rig, "b.flac", 2, frames_b);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	overlap(rig, a, b, fade);
	rig_wait(rig, RIG_ENDED, b);
	assert_in_range(rig_find(rig, RIG_STARTED, a), 0,
			rig_find(rig, RIG_STARTED, b));
	assert_int_equal(rig_find(rig, RIG_ENDED, a), -1);
	assert_int_equal(rig_count(rig, RIG_STARTED), 2);
	rig_stop(rig);
	rig_read_wav(rig->wav, ret_wav);
}

/* Before and after it the samples are the files' own. */
static void
two_songs_overlap_to_the_sample(void **state)
{
	struct rig_wav wav;

	play_pair(*state, A, B, FADE, &wav);
	assert_int_equal(wav.frames, A + B - FADE);
	assert_int_equal(rig_same(&wav, 0, 1, 0, A - FADE), A - FADE);
	check_mix(&wav, A - FADE, A - FADE, FADE);
	assert_int_equal(rig_same(&wav, A, 2, FADE, B - FADE), B - FADE);
	free(wav.samples);
}

static void
half_of_a_song_is_heard_alone(void **state)
{
	struct rig_wav wav;

	play_pair(*state, A, B, 10 * RIG_RATE, &wav);
	assert_int_equal(wav.frames, A + B - B / 2);
	check_mix(&wav, A - B / 2, A - B / 2, B / 2);
	free(wav.samples);
}

/* 50 ms is no overlap but a bad join. */
static void
a_song_of_a_moment_is_joined(void **state)
{
	struct rig_wav wav;

	play_pair(*state, A, RIG_RATE / 20, FADE, &wav);
	assert_int_equal(wav.frames, A + RIG_RATE / 20);
	assert_int_equal(rig_same(&wav, 0, 1, 0, A), A);
	free(wav.samples);
}

static void
a_song_of_one_frame_is_joined(void **state)
{
	struct rig_wav wav;

	play_pair(*state, A, 1, FADE, &wav);
	assert_int_equal(wav.frames, A + 1);
	assert_int_equal(rig_same(&wav, 0, 1, 0, A), A);
	assert_int_equal(rig_same(&wav, A, 2, 0, 1), 1);
	free(wav.samples);
}

static void
an_absurd_length_is_cut_to_half(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t a, b;

	rig_make(rig, "a.flac", 1, A);
	rig_make(rig, "b.flac", 2, B);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	engine_overlap(rig->engine, a, INT64_MAX); /* follows nothing */
	engine_overlap(rig->engine, b, INT64_MAX);
	engine_overlap(rig->engine, 12345, INT64_MAX); /* no such stream */
	rig_play(rig, a);
	rig_follow(rig, a, b);
	rig_wait(rig, RIG_ENDED, b);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, A + B - B / 2);
	free(wav.samples);
}

static double
level(const struct rig_wav *wav, size_t at, size_t frames)
{
	double sum = 0;
	size_t i;

	for (i = at * wav->channels; i < (at + frames) * wav->channels; i++)
		sum += (double)wav->samples[i] * wav->samples[i];
	return 10 * log10(sum / (double)(frames * wav->channels));
}

/* The loudness is what it was all the way, from the first frame to the last. */
static void
check_level(const struct rig_wav *wav, size_t begin, size_t end)
{
	enum { PART = RIG_RATE / 50 };
	const double before = level(wav, 0, A - FADE);
	size_t i;

	for (i = begin; i + PART < end; i += PART)
		if (fabs(level(wav, i, PART) - before) >= 1.0)
			fail_msg("%.2f dB at frame %zu, not %.2f",
				 level(wav, i, PART), i, before);
}

/* The card stays as it is; the song of another rate is resampled, and so is
 * the one behind it. */
static void
other_rates_and_channels_overlap(void **state)
{
	struct rig *rig = *state;
	const struct rig_song song_a = {"a.flac", 1, A, RIG_RATE, 1};
	const struct rig_song song_b = {"b.flac", 2, 16000, 48000, 2};
	const uint64_t frames = 16000 * RIG_RATE / 48000;
	struct rig_wav wav;
	uint64_t a, b, c;
	size_t i;

	rig_make_flac(rig, &song_a);
	rig_make_flac(rig, &song_b);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	c = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	overlap(rig, a, b, FADE);
	rig_follow(rig, b, c);
	rig_wait(rig, RIG_ENDED, c);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.rate_hz, RIG_RATE);
	assert_int_equal(wav.channels, 2);
	assert_in_range(wav.frames, A + 2 * frames - FADE - 1,
			A + 2 * frames - FADE + 1);
	for (i = 0; i < 2 * (A - FADE); i++)
		assert_int_equal(wav.samples[i], rig_sample(1, i / 2, 0));
	check_level(&wav, A - FADE, A - FADE + 2 * frames);
	free(wav.samples);
}

static void
check_no_second_file(const struct rig *rig)
{
	char path[160];

	rig_path(rig, "heard-2.wav", path, sizeof(path));
	assert_int_equal(access(path, F_OK), -1);
}

/* A song of six channels is mixed down rather than joined, and one of 8 kHz
 * does not bring the card down to that. */
static void
six_channels_and_a_low_rate_overlap(void **state)
{
	struct rig *rig = *state;
	const struct rig_song song_a = {"a.flac", 1, 6000, 8000, 1};
	const struct rig_song song_b = {"b.flac", 2, 24000, 48000, 6};
	/* More than the resampler of song a may hold. */
	const uint64_t fade = 48000 / 5;
	struct rig_wav wav;
	uint64_t a, b;

	rig_make_flac(rig, &song_a);
	rig_make_flac(rig, &song_b);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	engine_overlap(rig->engine, b, NS_PER_S / 5);
	rig_follow(rig, a, b);
	rig_wait(rig, RIG_ENDED, b);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.rate_hz, 48000);
	assert_int_equal(wav.channels, 2);
	assert_in_range(wav.frames, 36000 + 24000 - fade - 1,
			36000 + 24000 - fade + 1);
	check_no_second_file(rig);
	free(wav.samples);
}

#define OVERLAP_TEST(name)                                                     \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OVERLAP_TEST(two_songs_overlap_to_the_sample),
		OVERLAP_TEST(half_of_a_song_is_heard_alone),
		OVERLAP_TEST(a_song_of_a_moment_is_joined),
		OVERLAP_TEST(a_song_of_one_frame_is_joined),
		OVERLAP_TEST(an_absurd_length_is_cut_to_half),
		OVERLAP_TEST(other_rates_and_channels_overlap),
		OVERLAP_TEST(six_channels_and_a_low_rate_overlap),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#undef OVERLAP_TEST

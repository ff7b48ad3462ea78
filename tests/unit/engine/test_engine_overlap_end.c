/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_overlap_end.c - songs that are heard together, of which one is
 * over sooner than its header says. */
#include "tests/unit/engine/overlapping.h"

#include "lib/base/thread.h"

/* With rings so short that a file's true end shows only late. */
static int
set_up_short(void **state)
{
	const struct rig_options options = {
		.driver = &card_wav, .ring_bytes = 8 << 20, .buffer_ms = 60};

	return set_up_with(state, &options);
}

/* The first says that it is longer than it is, which shows in the midst of its
 * fade: that is made in what is left, without a step. */
static void
a_cut_song_fades_out_in_time(void **state)
{
	struct rig *rig = *state;
	enum { HZ = 192000, TRUE = HZ, TOLD = HZ + HZ / 10, FADED = HZ / 2 };
	const struct rig_song cut = {"a.flac", 0, TRUE, HZ, 8};
	const struct rig_song other = {"b.flac", 0, TRUE, HZ, 8};
	struct rig_wav wav;
	uint64_t a, b;
	size_t i, begin = 0;

	rig_make_level(rig, &cut, 8000, TOLD);
	rig_make_level(rig, &other, 1, TRUE);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	engine_overlap(rig->engine, b, NS_PER_S / 2);
	rig_follow(rig, a, b);
	rig_wait(rig, RIG_ENDED, b);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	while (wav.samples[8 * begin] == 8000)
		begin++;
	assert_in_range(begin, TOLD - FADED, TOLD - FADED + 500);
	for (i = 1; i < wav.frames; i++)
		assert_true(abs(wav.samples[8 * i] - wav.samples[8 * i - 8]) <
			    10);
	assert_in_range(wav.samples[8 * TRUE], 0, 4);
	assert_true(wav.samples[8 * (TRUE - HZ / 50)] > 100);
	assert_int_equal(wav.frames, TOLD - FADED + TRUE);
	free(wav.samples);
}

/* The second is: then the first comes back, and is heard to its end. */
static void
a_song_outlives_the_next(void **state)
{
	struct rig *rig = *state;
	enum { HZ = 192000, TRUE = HZ / 2, LONG = HZ * 2 };
	const struct rig_song first = {"a.flac", 0, LONG, HZ, 8};
	const struct rig_song cut = {"b.flac", 0, TRUE, HZ, 8};
	struct rig_wav wav;
	uint64_t a, b;
	size_t i;

	rig_make_level(rig, &first, 8000, LONG);
	rig_make_level(rig, &cut, 1, LONG);
	a = rig_open_ready(rig, "a.flac", 0);
	b = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, a);
	engine_overlap(rig->engine, b, NS_PER_S * 8 / 10);
	rig_follow(rig, a, b);
	rig_wait(rig, RIG_ENDED, b);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, LONG);
	for (i = 1; i < LONG; i++)
		assert_true(abs(wav.samples[8 * i] - wav.samples[8 * i - 8]) <
			    10);
	assert_in_range(wav.samples[8 * LONG - 8], 7997, 8003);
	assert_true(wav.samples[8 * (LONG - HZ * 4 / 10)] < 6000);
	free(wav.samples);
}

#define SHORT_RING_TEST(name)                                                  \
	cmocka_unit_test_setup_teardown(name, set_up_short, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SHORT_RING_TEST(a_cut_song_fades_out_in_time),
		SHORT_RING_TEST(a_song_outlives_the_next),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#undef SHORT_RING_TEST

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers come through unchanged where they fit, what is dithered has the
 * noise that theory says, and nothing depends on how calls are cut up. */
#include "daemon/audio/convert.h"
#include "daemon/audio/dither.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 20000 };

static uint32_t seed = 12345;

static uint32_t
next_random(void)
{
	seed = seed * 1664525U + 1013904223U;
	return seed ^ seed >> 15;
}

static const struct card_spec cards[] = {
	{48000, 2, CARD_S16, 16},   {48000, 2, CARD_S24, 24},
	{48000, 2, CARD_S24_3, 24}, {48000, 2, CARD_S32, 32},
	{48000, 2, CARD_S32, 24},
};

enum { CARDS = sizeof(cards) / sizeof(cards[0]) };

static void
test_integers_that_fit_are_exact(void **state)
{
	static int32_t in[512], back[512];
	static uint8_t out[sizeof(in)];

	(void)state;
	for (size_t card = 0; card < CARDS; card++) {
		for (uint32_t bits = 4; bits <= cards[card].bits; bits++) {
			for (size_t i = 0; i < 512; i++)
				in[i] = (int32_t)(next_random() >>
						  (32 - bits) << (32 - bits));
			in[0] = INT32_MIN;
			in[1] = (int32_t)(UINT32_MAX << (32 - bits) >> 1 &
					  UINT32_MAX << (32 - bits));
			convert_s32_to_card(&cards[card], out, in, 256, 7,
					    bits);
			convert_card_to_s32(cards[card].format, back, out, 512);
			assert_memory_equal(in, back, sizeof(in));
		}
	}
}

/* Every 16-bit value, there and back, and through floats as well. */
static void
test_sixteen_bits_through_floats(void **state)
{
	const struct card_spec exact = {48000, 1, CARD_S32, 32};

	(void)state;
	for (int32_t v = INT16_MIN; v <= INT16_MAX; v++) {
		const int32_t in = (int32_t)((uint32_t)v << 16);
		const int16_t card = (int16_t)v;
		int32_t back;
		float value;

		convert_s32_to_f32(&value, &in, 1);
		assert_true(value == (float)v / 32768.0F);
		convert_f32_to_card(&exact, &back, &value, 1, 0);
		assert_int_equal(back, in);
		convert_card_to_f32(CARD_S16, &value, &card, 1);
		assert_true(value == (float)v / 32768.0F);
	}
}

static void
test_layout_of_three_bytes(void **state)
{
	static const uint8_t want[6] = {0x56, 0x34, 0x12, 0x00, 0x00, 0x80};
	const int32_t in[2] = {0x12345600, INT32_MIN};
	uint8_t out[6];

	(void)state;
	convert_s32_to_card(&cards[2], out, in, 1, 0, 24);
	assert_memory_equal(out, want, 6);
}

static void
test_full_scale_is_clamped(void **state)
{
	static const float in[8] = {1.0F,     1.5F, -1.0F,     -1.5F,
				    INFINITY, NAN,  -INFINITY, 0.0F};
	int32_t back[8];
	uint8_t out[sizeof(back)];

	(void)state;
	for (size_t card = 0; card < CARDS; card++) {
		const int32_t step =
			(int32_t)(UINT32_C(1) << (32 - cards[card].bits));
		const int32_t max = INT32_MAX - step + 1;

		convert_f32_to_card(&cards[card], out, in, 4, 99);
		convert_card_to_s32(cards[card].format, back, out, 8);
		assert_true(back[1] == max && back[4] == max);
		assert_true(back[3] == INT32_MIN && back[6] == INT32_MIN);
		/* At the very edge the noise may take one step off. */
		assert_true(max - back[0] <= step);
		assert_true((int64_t)back[2] - INT32_MIN <= step);
		assert_true(labs((long)back[5]) <= step);
	}
}

/* Integers at the edge, with more bits than the card has. */
static void
test_dither_never_wraps(void **state)
{
	int32_t in[256];
	int16_t out[256];

	(void)state;
	for (size_t i = 0; i < 256; i++)
		in[i] = i % 2 == 0 ? INT32_MAX : INT32_MIN;
	convert_s32_to_card(&cards[0], out, in, 128, 0, 32);
	for (size_t i = 0; i < 256; i++)
		assert_true(i % 2 == 0 ? out[i] >= INT16_MAX - 1
				       : out[i] <= INT16_MIN + 1);
}

/* The error of a dithered quantizer: mean 0 and variance 1/4 (in steps), both
 * whatever the signal; bounded by 1.5. */
static void
test_dither_statistics(void **state)
{
	static const double levels[] = {0.0, 0.25, 0.5, 0.731, -3.4};
	static int32_t in[FRAMES * 2];
	static float floats[FRAMES * 2];
	static int16_t out[2][FRAMES * 2];

	(void)state;
	for (size_t level = 0; level < 5; level++) {
		double sum[2] = {0, 0}, square[2] = {0, 0};
		double lag = 0, across = 0;

		for (size_t i = 0; i < FRAMES * 2; i++) {
			in[i] = (int32_t)(levels[level] * 65536);
			floats[i] = (float)in[i] * 0x1p-31F;
		}
		convert_s32_to_card(&cards[0], out[0], in, FRAMES, 1000, 32);
		convert_f32_to_card(&cards[0], out[1], floats, FRAMES, 1000);
		for (int path = 0; path < 2; path++) {
			double before = 0;

			for (size_t i = 0; i < FRAMES; i++) {
				const double left =
					out[path][i * 2] - levels[level];
				const double right =
					out[path][i * 2 + 1] - levels[level];

				assert_true(fabs(left) <= 1.5001);
				sum[path] += left;
				square[path] += left * left;
				lag += left * before;
				across += left * right;
				before = left;
			}
			/* Four deviations of the means of 20000. */
			assert_true(fabs(sum[path] / FRAMES) < 0.0145);
			assert_true(fabs(square[path] / FRAMES - 0.25) < 0.015);
		}
		assert_true(fabs(lag / (2 * FRAMES)) < 0.01);
		assert_true(fabs(across / (2 * FRAMES)) < 0.01);
	}
}

static void
test_noise_is_triangular_and_its_own(void **state)
{
	uint32_t histogram[8] = {0};
	uint64_t same = 0;

	(void)state;
	for (uint64_t frame = 0; frame < 80000; frame++) {
		const int32_t noise = dither_tpdf(frame, 3);

		assert_true(noise > -DITHER_ONE && noise < DITHER_ONE);
		histogram[(noise + DITHER_ONE) / (DITHER_ONE / 4)]++;
		for (uint32_t other = 0; other < 8; other++)
			same += other != 3 &&
				dither_tpdf(frame, other) == noise;
		same += dither_tpdf(frame + 1, 3) == noise;
	}
	/* Eighths of the triangle hold 1, 3, 5, 7, 7, 5, 3, 1 parts of 32. */
	for (int i = 0; i < 8; i++) {
		const int parts = i < 4 ? 2 * i + 1 : 15 - 2 * i;

		assert_true(fabs(histogram[i] / 2500.0 - parts) < 0.25);
	}
	assert_true(same < 40);
}

static void
test_the_way_calls_are_cut_does_not_matter(void **state)
{
	static int32_t in[2000 * 7];
	static float floats[2000 * 7];
	static uint8_t whole[2][2000 * 7 * 4], pieces[2][2000 * 7 * 4];

	(void)state;
	for (size_t i = 0; i < 2000 * 7; i++) {
		in[i] = (int32_t)next_random();
		floats[i] = (float)in[i] * 0x1p-31F;
	}
	for (uint32_t channels = 1; channels <= 7; channels += 3) {
		const struct card_spec card = {48000, channels, CARD_S24_3, 24};
		const size_t frame_bytes = 3 * channels;
		size_t at = 0;

		convert_s32_to_card(&card, whole[0], in, 2000, 5000, 32);
		convert_f32_to_card(&card, whole[1], floats, 2000, 5000);
		while (at < 2000) {
			size_t count = 1 + next_random() % 300;

			if (count > 2000 - at)
				count = 2000 - at;
			convert_s32_to_card(&card, pieces[0] + at * frame_bytes,
					    in + at * channels, count,
					    5000 + at, 32);
			convert_f32_to_card(&card, pieces[1] + at * frame_bytes,
					    floats + at * channels, count,
					    5000 + at);
			at += count;
		}
		assert_memory_equal(whole[0], pieces[0], 2000 * frame_bytes);
		assert_memory_equal(whole[1], pieces[1], 2000 * frame_bytes);
	}
}

static void
test_floats_stay_as_they_are(void **state)
{
	const struct card_spec card = {48000, 2, CARD_F32, 32};
	static const float in[4] = {1.25F, -2.0F, 1e-30F, -0.0F};
	const int32_t integers[2] = {INT32_MIN, 1 << 8};
	float out[4];

	(void)state;
	convert_f32_to_card(&card, out, in, 2, 0);
	assert_memory_equal(in, out, sizeof(in));
	convert_s32_to_card(&card, out, integers, 1, 0, 24);
	assert_true(out[0] == -1.0F && out[1] == 0x1p-23F);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_that_fit_are_exact),
		cmocka_unit_test(test_sixteen_bits_through_floats),
		cmocka_unit_test(test_layout_of_three_bytes),
		cmocka_unit_test(test_full_scale_is_clamped),
		cmocka_unit_test(test_dither_never_wraps),
		cmocka_unit_test(test_dither_statistics),
		cmocka_unit_test(test_noise_is_triangular_and_its_own),
		cmocka_unit_test(test_the_way_calls_are_cut_does_not_matter),
		cmocka_unit_test(test_floats_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/audio/channels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void
assert_row(const struct channel_map *map, uint32_t out, const double *want)
{
	for (uint32_t in = 0; in < map->in; in++)
		assert_true(fabs((double)map->matrix[out][in] - want[in]) <
			    1e-6);
}

static void
test_same_channels_are_copied(void **state)
{
	(void)state;
	for (uint32_t channels = 1; channels <= 8; channels++) {
		struct channel_map map;

		channel_map_init(&map, channels, channels);
		assert_true(map.copies);
		for (uint32_t i = 0; i < channels; i++)
			assert_int_equal(map.source[i], i);
	}
}

static void
test_mono_goes_to_both_sides(void **state)
{
	const int32_t in[2] = {5, -7};
	struct channel_map map;
	int32_t out[12];

	(void)state;
	channel_map_init(&map, 1, 2);
	assert_true(map.copies);
	channel_map_copy(&map, out, in, 2);
	assert_true(out[0] == 5 && out[1] == 5 && out[2] == -7 && out[3] == -7);
	channel_map_init(&map, 1, 6);
	assert_true(map.copies);
	channel_map_copy(&map, out, in, 2);
	assert_true(out[0] == 5 && out[1] == 5 && out[2] == 0 && out[5] == 0 &&
		    out[6] == -7);
}

static void
test_stereo_to_mono(void **state)
{
	static const float in[4] = {1, 1, 0.5F, -0.5F};
	struct channel_map map;
	float out[2];

	(void)state;
	channel_map_init(&map, 2, 1);
	assert_false(map.copies);
	channel_map_mix(&map, out, in, 2);
	assert_true(fabsf(out[0] - 1) < 1e-6F && fabsf(out[1]) < 1e-6F);
}

/* BS.775-3, table 2: L' = L + 0.7071 C + 0.7071 Ls, here scaled by the sum. */
static void
test_surround_to_stereo(void **state)
{
	const double half = sqrt(0.5), sum = 1 + 2 * half;
	const double left[6] = {1 / sum, 0, half / sum, 0, half / sum, 0};
	const double right[6] = {0, 1 / sum, half / sum, 0, 0, half / sum};
	struct channel_map map;

	(void)state;
	channel_map_init(&map, 6, 2);
	assert_false(map.copies);
	assert_row(&map, 0, left);
	assert_row(&map, 1, right);
}

/* 1/0: C' = 0.7071 (L + R) + C + 0.5 (Ls + Rs). */
static void
test_surround_to_mono(void **state)
{
	const double half = sqrt(0.5), sum = 2 * half + 1 + 1;
	const double row[5] = {half / sum, half / sum, 1 / sum, 0.5 / sum,
			       0.5 / sum};
	struct channel_map map;

	(void)state;
	channel_map_init(&map, 5, 1);
	assert_row(&map, 0, row);
}

static void
test_up_is_exact(void **state)
{
	struct channel_map map;

	(void)state;
	channel_map_init(&map, 2, 8);
	assert_true(map.copies);
	assert_true(map.source[0] == 0 && map.source[1] == 1 &&
		    map.source[2] == -1 && map.source[7] == -1);
	/* Quadro: the rears have their places among six. */
	channel_map_init(&map, 4, 6);
	assert_true(map.copies);
	assert_true(map.source[4] == 2 && map.source[5] == 3 &&
		    map.source[2] == -1);
}

/* Places that the number of channels would not suggest. */
static void
test_places_that_are_told(void **state)
{
	const double half = sqrt(0.5), sum = 1 + half + 0.5;
	const double row[4] = {1 / sum, 0, half / sum, 0.5 / sum};
	const double plain[3] = {1, 0, 0};
	struct channel_map map;

	(void)state;
	/* L R C and one behind: not a quadro. */
	channel_map_init_mask(
		&map, 4, CHANNEL_FL | CHANNEL_FR | CHANNEL_FC | CHANNEL_BC, 2);
	assert_row(&map, 0, row);
	/* 2.1: its third is no centre. */
	channel_map_init_mask(&map, 3, CHANNEL_FL | CHANNEL_FR | CHANNEL_LFE,
			      2);
	assert_row(&map, 0, plain);
	/* The sides of a 5.1 are the same as its backs, to the bit. */
	channel_map_init_mask(&map, 6, 0x60f, 6);
	assert_true(map.copies && map.source[4] == 4 && map.source[5] == 5);
	/* What is not as many, or not known, is as if it were not there. */
	for (uint32_t mask = 0x1003; mask < 0x8000; mask += 0x1ff0) {
		struct channel_map usual;

		channel_map_init_mask(&map, 6, mask, 2);
		channel_map_init(&usual, 6, 2);
		assert_memory_equal(&map, &usual, sizeof(map));
	}
}

/* Full scale in stays full scale out, and no input but the LFE is lost. */
static void
test_every_pair_is_bounded_and_whole(void **state)
{
	(void)state;
	for (uint32_t in = 1; in <= 8; in++) {
		for (uint32_t out = 1; out <= 8; out++) {
			struct channel_map map;

			channel_map_init(&map, in, out);
			for (uint32_t i = 0; i < out; i++) {
				float sum = 0;

				for (uint32_t j = 0; j < in; j++)
					sum += map.matrix[i][j];
				assert_true(sum < 1.00001F);
			}
			for (uint32_t j = 0; j < in; j++) {
				float sum = 0;

				for (uint32_t i = 0; i < out; i++)
					sum += map.matrix[i][j];
				assert_true(sum > 0.1F || (in >= 6 && j == 3));
			}
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_channels_are_copied),
		cmocka_unit_test(test_mono_goes_to_both_sides),
		cmocka_unit_test(test_stereo_to_mono),
		cmocka_unit_test(test_surround_to_stereo),
		cmocka_unit_test(test_surround_to_mono),
		cmocka_unit_test(test_up_is_exact),
		cmocka_unit_test(test_places_that_are_told),
		cmocka_unit_test(test_every_pair_is_bounded_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_planes.c - every sample comes to its place, and none besides, whatever
 * the channels and however many frames. */
#include "daemon/decode/planes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { FRAMES_MAX = 67, CHANNELS_MAX = 8, SHIFT = 8 };

#define UNTOUCHED 0x5a5a5a5aU

static int32_t integers[CHANNELS_MAX][FRAMES_MAX];
static float floats[CHANNELS_MAX][FRAMES_MAX];

static void
fill(void)
{
	for (int c = 0; c < CHANNELS_MAX; c++)
		for (int i = 0; i < FRAMES_MAX; i++) {
			integers[c][i] =
				(i * CHANNELS_MAX + c) * (c % 2 ? -1 : 1);
			floats[c][i] = (float)integers[c][i];
		}
}

static void
check_integers(uint32_t channels, size_t frames)
{
	const int32_t *planes[CHANNELS_MAX];
	uint32_t to[FRAMES_MAX * CHANNELS_MAX + 1];

	for (int c = 0; c < CHANNELS_MAX; c++)
		planes[c] = integers[c];
	to[frames * channels] = UNTOUCHED;
	planes_join_s32(to, planes, channels, frames, SHIFT);
	for (size_t i = 0; i < frames; i++)
		for (uint32_t c = 0; c < channels; c++)
			assert_int_equal(to[i * channels + c],
					 (uint32_t)integers[c][i] << SHIFT);
	assert_int_equal(to[frames * channels], UNTOUCHED);
}

static void
check_floats(uint32_t channels, size_t frames)
{
	static const uint8_t map[CHANNELS_MAX] = {1, 0, 3, 2, 5, 4, 7, 6};
	static const uint8_t one[1] = {0};
	float *planes[CHANNELS_MAX];
	float to[FRAMES_MAX * CHANNELS_MAX + 1];

	for (int c = 0; c < CHANNELS_MAX; c++)
		planes[c] = floats[c];
	to[frames * channels] = -0.5F;
	planes_join_f32(to, planes, channels == 1 ? one : map, channels,
			frames);
	for (size_t i = 0; i < frames; i++)
		for (uint32_t c = 0; c < channels; c++) {
			const int from = channels == 1 ? 0 : map[c];

			assert_true(to[i * channels + c] == floats[from][i]);
		}
	assert_true(to[frames * channels] == -0.5F);
}

static void
test_all_shapes(void **state)
{
	static const size_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 64, FRAMES_MAX};

	(void)state;
	fill();
	for (uint32_t channels = 1; channels <= CHANNELS_MAX; channels++)
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]);
		     i++) {
			check_integers(channels, lengths[i]);
			if (channels % 2 == 0 || channels == 1)
				check_floats(channels, lengths[i]);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

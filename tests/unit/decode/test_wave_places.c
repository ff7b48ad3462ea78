/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Channels in any order, said by each container in its own words: they come out
 * in ours, with the mask of their places, and 5.1 is heard in stereo with the
 * coefficients of ITU-R BS.775 whichever it was. Files written by hand. */
#include "daemon/audio/channels.h"
#include "tests/kit/music/music.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 50, RATE = 48000 };
enum {
	SURROUND_BACK = CHANNEL_FL | CHANNEL_FR | CHANNEL_FC | CHANNEL_LFE |
			CHANNEL_BL | CHANNEL_BR,
	SURROUND_SIDE = CHANNEL_FL | CHANNEL_FR | CHANNEL_FC | CHANNEL_LFE |
			CHANNEL_SL | CHANNEL_SR,
};

/* What a file is to say of its channels. */
struct saying {
	uint32_t channels;
	uint32_t mask;          /* of a WAVE file */
	uint32_t tag;           /* of a layout */
	uint32_t bitmap;        /* likewise */
	const uint32_t *labels; /* likewise; NULL: none */
	const char *order;      /* of the file's, in which ours come */
	uint32_t want;          /* the mask */
};

static void
put(struct bytes *file, uint64_t value, unsigned count, bool big)
{
	for (unsigned i = 0; i < count; i++) {
		const unsigned place = big ? count - 1 - i : i;
		const uint8_t byte = (uint8_t)(value >> 8 * place);

		bytes_append(file, &byte, 1);
	}
}

static void
put_text(struct bytes *file, const char *text)
{
	bytes_append(file, text, strlen(text));
}

/* Of 16 bits: the channel, then the frame. */
static void
put_frames(struct bytes *file, uint32_t channels, bool big)
{
	for (uint32_t i = 0; i < FRAMES; i++)
		for (uint32_t c = 0; c < channels; c++)
			put(file, (c + 1) << 8 | i, 2, big);
}

static void
put_layout(struct bytes *file, const struct saying *saying)
{
	const uint32_t count = saying->labels != NULL ? saying->channels : 0;

	put(file, saying->tag, 4, true);
	put(file, saying->bitmap, 4, true);
	put(file, count, 4, true);
	for (uint32_t i = 0; i < count; i++) {
		put(file, saying->labels[i], 4, true);
		put(file, 0, 8, true);
		put(file, 0, 8, true);
	}
}

static size_t
layout_bytes(const struct saying *saying)
{
	return 12 + (saying->labels != NULL ? saying->channels * 20 : 0);
}

static void
make_wav(struct bytes *file, const struct saying *saying, bool big)
{
	const uint32_t frame = 2 * saying->channels;

	put_text(file, big ? "RIFX" : "RIFF");
	put(file, 4 + 48 + 8 + FRAMES * frame, 4, big);
	put_text(file, "WAVEfmt ");
	put(file, 40, 4, big);
	put(file, 0xfffe, 2, big);
	put(file, saying->channels, 2, big);
	put(file, RATE, 4, big);
	put(file, (uint64_t)RATE * frame, 4, big);
	put(file, frame, 2, big);
	put(file, 16, 2, big);
	put(file, 22, 2, big);
	put(file, 16, 2, big);
	put(file, saying->mask, 4, big);
	put(file, 1, big ? 4 : 2, big);
	bytes_append(file,
		     big ? "\0\0\0\x10\x80\0\0\xaa\0\x38\x9b\x71"
			 : "\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71",
		     big ? 12 : 14);
	put_text(file, "data");
	put(file, FRAMES * frame, 4, big);
	put_frames(file, saying->channels, big);
}

static void
make_caf(struct bytes *file, const struct saying *saying)
{
	put_text(file, "caff");
	put(file, 1 << 16, 4, true);
	put_text(file, "desc");
	put(file, 32, 8, true);
	put(file, 0x40e7700000000000, 8, true); /* 48000, as a double */
	put_text(file, "lpcm");
	put(file, 0, 4, true);
	put(file, 2 * saying->channels, 4, true);
	put(file, 1, 4, true);
	put(file, saying->channels, 4, true);
	put(file, 16, 4, true);
	put_text(file, "chan");
	put(file, layout_bytes(saying), 8, true);
	put_layout(file, saying);
	put_text(file, "data");
	put(file, 4 + FRAMES * 2 * saying->channels, 8, true);
	put(file, 0, 4, true);
	put_frames(file, saying->channels, true);
}

static void
make_aiff(struct bytes *file, const struct saying *saying)
{
	const size_t sound = 8 + (size_t)FRAMES * 2 * saying->channels;

	put_text(file, "FORM");
	put(file, 4 + 26 + 8 + layout_bytes(saying) + 8 + sound, 4, true);
	put_text(file, "AIFFCOMM");
	put(file, 18, 4, true);
	put(file, saying->channels, 2, true);
	put(file, FRAMES, 4, true);
	put(file, 16, 2, true);
	put(file, 0x400e, 2, true); /* 48000, of 80 bits */
	put(file, 0xbb80000000000000, 8, true);
	put_text(file, "CHAN");
	put(file, layout_bytes(saying), 4, true);
	put_layout(file, saying);
	put_text(file, "SSND");
	put(file, sound, 4, true);
	put(file, 0, 8, true);
	put_frames(file, saying->channels, true);
}

/* Our channel c is the file's order[c] ("0123..."), and it plays whole. */
static void
check(struct bytes *file, const struct saying *saying)
{
	struct bytes got = {0};
	struct decoder_info info;
	const int32_t *sample = NULL;

	assert_int_equal(play(file, &got, &info), DECODE_END);
	assert_int_equal(info.frames, FRAMES);
	assert_int_equal(info.spec.channels, saying->channels);
	assert_int_equal(info.channel_mask, saying->want);
	assert_int_equal(got.length, FRAMES * 4 * saying->channels);
	sample = (const int32_t *)(const void *)got.data;
	for (int32_t i = 0; i < FRAMES; i++)
		for (uint32_t c = 0; c < saying->channels; c++) {
			const int32_t from = saying->order[c] - '0' + 1;

			assert_int_equal(*sample++, (from << 8 | i) << 16);
		}
	bytes_finish(&got);
	bytes_finish(file);
}

static const uint32_t film[] = {1, 3, 2, 5, 6, 4}; /* L C R Ls Rs LFE */
static const uint32_t wide[] = {3, 1, 2, 5, 6, 33, 34, 4};
static const uint32_t twice[] = {1, 2, 3, 4, 5, 5};
static const uint32_t unknown[] = {1, 2, 3, 4, 5, 900};

static void
test_masks(void **state)
{
	static const struct saying sayings[] = {
		{.channels = 6, .mask = 0x3f, .want = SURROUND_BACK},
		{.channels = 6, .mask = 0x60f, .want = SURROUND_SIDE},
		{.channels = 4, .mask = 0x107, .want = 0x107},
		{.channels = 3, .mask = 0xb, .want = 0xb},
		{.channels = 8, .mask = 0x63f, .want = 0x63f},
		/* None, too few, too many, and beyond what we know. */
		{.channels = 6},
		{.channels = 6, .mask = 0x3},
		{.channels = 2, .mask = 0x3f},
		{.channels = 2, .mask = 0x3000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++)
		for (int big = 0; big < 2; big++) {
			struct saying saying = sayings[i];
			struct bytes file = {0};

			saying.order = "01234567";
			make_wav(&file, &saying, big != 0);
			check(&file, &saying);
		}
}

static void
test_layouts(void **state)
{
	static const struct saying sayings[] = {
		/* by name: L R C LFE Ls Rs, C L R Ls Rs LFE, 7.1 */
		{6, 0, 121 << 16 | 6, 0, NULL, "012345", SURROUND_BACK},
		{6, 0, 124 << 16 | 6, 0, NULL, "120534", SURROUND_BACK},
		{8, 0, 128 << 16 | 8, 0, NULL, "01236745", 0x63f},
		{4, 0, 116 << 16 | 4, 0, NULL, "1203", 0x107},
		{3, 0, 133 << 16 | 3, 0, NULL, "012", 0xb},
		/* by bitmap */
		{6, 0, 1 << 16, 0x3f, NULL, "012345", SURROUND_BACK},
		{6, 0, 1 << 16, 0x60f, NULL, "012345", SURROUND_SIDE},
		/* by labels */
		{6, 0, 0, 0, film, "021534", SURROUND_BACK},
		{8, 0, 0, 0, wide, "12075634", 0x63f},
		/* nothing that could be true */
		{6, 0, 121 << 16 | 6, 0, twice, "012345", SURROUND_BACK},
		{6, 0, 0, 0, twice, "012345", 0},
		{6, 0, 0, 0, unknown, "012345", 0},
		{6, 0, 0, 0, NULL, "012345", 0},
		{6, 0, 101 << 16 | 2, 0, NULL, "012345", 0},
		{6, 0, 65000U << 16 | 6, 0, NULL, "012345", 0},
		{6, 0, 1 << 16, 0x3, NULL, "012345", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++) {
		struct bytes caf = {0}, aiff = {0};

		make_caf(&caf, &sayings[i]);
		check(&caf, &sayings[i]);
		make_aiff(&aiff, &sayings[i]);
		check(&aiff, &sayings[i]);
	}
}

/* L' = L + 0.7071 C + 0.7071 Ls, scaled by their sum; the LFE is left out. */
static void
test_surround_in_each(void **state)
{
	static const struct saying saying = {
		.channels = 6, .mask = 0x3f, .labels = film};
	const float half = 0.70710678F, sum = 1 + 2 * half;

	(void)state;
	for (int container = 0; container < 3; container++) {
		struct bytes file = {0}, got = {0};
		struct decoder_info info;
		struct channel_map map;
		/* as the file has them: L C R Ls Rs LFE, or the usual */
		const int at[2][6] = {{0, 1, 2, 3, 4, 5}, {0, 2, 1, 5, 3, 4}};
		const int *place = at[container > 0];
		float in[6], out[2];

		if (container == 0)
			make_wav(&file, &saying, false);
		else if (container == 1)
			make_caf(&file, &saying);
		else
			make_aiff(&file, &saying);
		assert_int_equal(play(&file, &got, &info), DECODE_END);
		for (int c = 0; c < 6; c++)
			in[c] = (float)(((const int32_t *)(const void *)
						 got.data)[c] >>
					24);
		channel_map_init_mask(&map, 6, info.channel_mask, 2);
		channel_map_mix(&map, out, in, 1);
		for (int side = 0; side < 2; side++) {
			const float want =
				((float)(place[side] + 1) +
				 half * (float)(place[2] + 1) +
				 half * (float)(place[4 + side] + 1)) /
				sum;

			assert_true(fabsf(out[side] - want) < 1e-4F);
		}
		bytes_finish(&file);
		bytes_finish(&got);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_surround_in_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

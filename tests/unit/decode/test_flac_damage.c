/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Native FLAC, cut, damaged, and with headers that lie. */
#include "daemon/decode/flac_frame.h"
#include "tests/unit/decode/ears.h"

#include <stdlib.h>
#include <string.h>

static const struct recipe plain = {
	.rate_hz = 44100,
	.channels = 2,
	.bits = 16,
	.frames = 20000,
	.block = 1024,
	.seed = 1,
};

static void
test_a_cut_file_plays_its_valid_part(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};

	(void)state;
	make_flac(&plain, &file, &wanted);
	for (size_t length = 0; length < file.length;
	     length += length < 100 ? 1 : 211) {
		/* Only the very last frame may be made up of silence. */
		const size_t heard =
			check_cut(&file, &wanted, length,
				  plain.frames % plain.block * STEREO_BYTES);

		/* And nothing of what is there is missing. */
		if (length > 9000)
			assert_true(heard / STEREO_BYTES + 2 * plain.block >
				    (length - 9000) * plain.frames /
					    file.length);
	}
	bytes_finish(&file);
	bytes_finish(&wanted);
}

static void
test_damage_is_silence_of_its_length(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes bad = {0};
	struct bytes got = {0};
	struct dice dice = dice_seeded(4);
	size_t audio;

	(void)state;
	make_flac(&plain, &file, &wanted);
	audio = flac_audio_of(&file);
	for (int round = 0; round < 150; round++) {
		const uint32_t flips = 1 + dice_roll(&dice, 8);
		struct decoder_info info;
		size_t silent;
		size_t last;

		bytes_copy(&bad, &file);
		for (uint32_t i = 0; i < flips; i++)
			bad.data[audio +
				 dice_roll(&dice,
					   (uint32_t)(bad.length - audio))] ^=
				(uint8_t)(1 << dice_roll(&dice, 8));
		got.length = 0;
		assert_int_equal(play(&bad, &got, &info), DECODE_END);
		silent = check_silence(&got, &wanted, &last);
		assert_in_range(silent, 1, flips * plain.block);
		assert_in_range(info.gap_frames, silent, flips * plain.block);
	}
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&bad);
	bytes_finish(&got);
}

static void
test_any_damage_ends(void **state)
{
	struct bytes file = {0};
	struct dice dice = dice_seeded(9);
	struct recipe recipe = plain;

	(void)state;
	recipe.frames = 5000;
	make_flac(&recipe, &file, NULL);
	/* No gap is believed that the header contradicts by much. */
	for (int round = 0; round < 300; round++)
		assert_true(play_damaged(&file, &dice, 6,
					 round % 2 == 0
						 ? 60
						 : (uint32_t)file.length) <
			    (size_t)64 << 20);
	bytes_finish(&file);
}

static void
test_a_missing_frame_is_silence(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct flac_frame frame;
	struct decoder_info info;
	const size_t block_bytes = (size_t)plain.block * STEREO_BYTES;
	size_t third;
	size_t fourth;
	bool found;

	(void)state;
	make_flac(&plain, &file, &wanted);
	third = flac_audio_of(&file);
	for (int i = 0; i < 2; i++)
		third = flac_frame_find(file.data, file.length, third + 16,
					&frame, &found);
	assert_int_equal(frame.number, 2);
	fourth = flac_frame_find(file.data, file.length, third + 16, &frame,
				 &found);
	bytes_cut(&file, third, fourth - third);
	memset(wanted.data + 2 * block_bytes, 0, block_bytes);
	assert_int_equal(play(&file, &got, &info), DECODE_END);
	assert_same(&got, &wanted);
	assert_int_equal(info.gap_frames, plain.block);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

/* The place in STREAMINFO of what a test lies about. */
enum { AT_BLOCKS = 8, AT_STEREO_BYTES = 12, AT_RATE = 18, AT_TOTAL = 21 };

static void
check_lie(size_t at, const uint8_t *bytes, size_t length, uint64_t frames)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct decoder_info info;

	make_flac(&plain, &file, &wanted);
	memcpy(file.data + at, bytes, length);
	assert_int_equal(play(&file, &got, &info), DECODE_END);
	assert_int_equal(got.length, frames * STEREO_BYTES);
	assert_memory_equal(got.data, wanted.data, got.length);
	assert_int_equal(info.spec.rate_hz, plain.rate_hz);
	assert_int_equal(info.spec.channels, plain.channels);
	assert_int_equal(info.spec.bits, plain.bits);
	check_own_seeks(&file, at);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

static void
test_a_header_that_lies(void **state)
{
	static const uint8_t small_blocks[] = {0, 16, 0, 192};
	static const uint8_t smaller_blocks[] = {0, 16, 0, 16};
	static const uint8_t large_blocks[] = {0x20, 0, 0x20, 0};
	static const uint8_t small_frames[] = {0, 0, 14, 0, 0, 15};
	/* 96000 Hz, 1 channel, 24 bits, 20000 frames */
	static const uint8_t shape[] = {0x17, 0x70, 0x01, 0x70,
					0,    0,    0x4e, 0x20};
	static const uint8_t short_total[] = {0xf0, 0, 0, 0x27, 0x10};
	static const uint8_t long_total[] = {0xf0, 0, 0xff, 0, 0};

	(void)state;
	check_lie(AT_BLOCKS, small_blocks, 4, plain.frames);
	check_lie(AT_BLOCKS, smaller_blocks, 4, plain.frames);
	check_lie(AT_BLOCKS, large_blocks, 4, plain.frames);
	check_lie(AT_STEREO_BYTES, small_frames, 6, plain.frames);
	check_lie(AT_RATE, shape, sizeof(shape), plain.frames);
	check_lie(AT_TOTAL, short_total, 5, 10000);
	check_lie(AT_TOTAL, long_total, 5, plain.frames);
}

static void
test_metadata_however_broken(void **state)
{
	static const uint8_t junk[] = "\xff\xf8 some junk fLa \xff\xff";
	struct bytes file = {0};
	struct bytes bad = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	size_t audio;

	(void)state;
	make_flac(&plain, &file, &wanted);
	audio = flac_audio_of(&file);
	for (int round = 0; round < 6; round++) {
		bytes_copy(&bad, &file);
		switch (round) {
		case 0: /* bare frames */
			bytes_cut(&bad, 0, audio);
			break;
		case 1: /* no STREAMINFO, but the next block */
			bytes_cut(&bad, 4, 4 + FLAC_STREAM_INFO_BYTES);
			break;
		case 2: /* the last block claims more than it has */
			bad.data[42 + 2] += 5;
			break;
		case 3: /* ... and less */
			bad.data[42 + 3] -= 9;
			break;
		case 4: /* ... and a reserved type */
			bad.data[42] |= 0x1f;
			break;
		default: /* junk in front */
			bytes_append(&bad, NULL, sizeof(junk));
			memmove(bad.data + sizeof(junk), bad.data, file.length);
			memcpy(bad.data, junk, sizeof(junk));
			break;
		}
		got.length = 0;
		assert_int_equal(play(&bad, &got, NULL), DECODE_END);
		assert_same(&got, &wanted);
	}
	bytes_finish(&file);
	bytes_finish(&bad);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cut_file_plays_its_valid_part),
		cmocka_unit_test(test_damage_is_silence_of_its_length),
		cmocka_unit_test(test_any_damage_ends),
		cmocka_unit_test(test_a_missing_frame_is_silence),
		cmocka_unit_test(test_a_header_that_lies),
		cmocka_unit_test(test_metadata_however_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

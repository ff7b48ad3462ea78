/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ogg Vorbis, against libvorbisfile. */
#include "daemon/decode/ogg_page.h"
#include "tests/unit/decode/ears.h"
#include "tests/unit/decode/seal.h"

#include <ogg/ogg.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct recipe plain = {
	.rate_hz = 44100,
	.channels = 2,
	.frames = 60000,
	.seed = 2,
	.serial = 77,
};

/* From the order of Vorbis to that of WAVE, as its specification names the
 * channels (Vorbis I, 4.3.9). */
static void
reorder(struct bytes *samples, uint32_t channels)
{
	static const char *const vorbis[] = {"",       "M",       "LR",
					     "LCR",    "LRlr",    "LCRlr",
					     "LCRlrE", "LCRsSBE", "LCRsSlrE"};
	static const char *const wave[] = {"",       "M",       "LR",
					   "LRC",    "LRlr",    "LRClr",
					   "LRCElr", "LRCEBsS", "LRCElrsS"};
	const uint32_t frame_bytes = channels * 4;

	for (size_t at = 0; at < samples->length; at += frame_bytes) {
		uint32_t frame[8];

		memcpy(frame, samples->data + at, frame_bytes);
		for (uint32_t c = 0; c < channels; c++) {
			const char *from =
				strchr(vorbis[channels], wave[channels][c]);

			memcpy(samples->data + at + (size_t)c * 4,
			       &frame[from - vorbis[channels]], 4);
		}
	}
}

static void
test_each_channel_count(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct decoder_info info;

	(void)state;
	recipe.frames = 8000;
	recipe.rate_hz = 32000; /* at 44100 libvorbisenc leaks with 6 */
	for (uint32_t channels = 1; channels <= 8; channels++) {
		recipe.channels = channels;
		file.length = 0;
		wanted.length = 0;
		got.length = 0;
		make_vorbis(&recipe, &file);
		vorbisfile_decode(&file, &wanted);
		reorder(&wanted, channels);
		assert_int_equal(play(&file, &got, &info), DECODE_END);
		assert_int_equal(info.spec.channels, channels);
		assert_int_equal(info.spec.kind, SAMPLE_F32);
		assert_int_equal(info.frames, recipe.frames);
		assert_int_equal(got.length,
				 (size_t)recipe.frames * channels * 4);
		assert_same(&got, &wanted);
	}
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

static void
test_rates_and_lengths(void **state)
{
	static const uint32_t rates[] = {8000, 11025, 22050, 32000, 96000};
	static const uint32_t lengths[] = {1, 63, 64, 1000, 4097, 50000};
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};

	(void)state;
	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
		for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]);
		     l++) {
			struct decoder_info info;

			recipe.rate_hz = rates[r];
			recipe.frames = lengths[l];
			file.length = 0;
			wanted.length = 0;
			got.length = 0;
			make_vorbis(&recipe, &file);
			vorbisfile_decode(&file, &wanted);
			assert_int_equal(play(&file, &got, &info), DECODE_END);
			assert_int_equal(info.spec.rate_hz, rates[r]);
			assert_int_equal(info.frames, lengths[l]);
			assert_same(&got, &wanted);
		}
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

static void
test_scraps_give_the_same(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};

	(void)state;
	make_vorbis(&plain, &file);
	vorbisfile_decode(&file, &wanted);
	for (uint64_t seed = 0; seed < 10; seed++)
		check_scraps(&file, &wanted, 4096, 333, seed);
	bytes_finish(&file);
	bytes_finish(&wanted);
}

static void
test_a_cut_file_plays_its_valid_part(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};

	(void)state;
	make_vorbis(&plain, &file);
	vorbisfile_decode(&file, &wanted);
	/* A page short of the end, all but its frames are there. */
	assert_true(check_cuts(&file, &wanted, 0) > wanted.length / 2);
	bytes_finish(&file);
	bytes_finish(&wanted);
}

/* The place of the number-th page. */
static size_t
find_page(const struct bytes *file, int number, struct ogg_page_info *ret_page)
{
	size_t at = 0;

	for (;;) {
		assert_true(ogg_page_parse(file->data + at, file->length - at,
					   ret_page));
		if (number-- == 0)
			return at;
		at += ret_page->bytes;
	}
}

/* Frames behind the silence are right to the bit, in their place. */
static void
check_gap(const struct bytes *bad, const struct bytes *wanted)
{
	struct bytes got = {0};
	struct decoder_info info;
	size_t silent;
	size_t last = 0;

	assert_int_equal(play(bad, &got, &info), DECODE_END);
	silent = check_silence(&got, wanted, &last);
	assert_true(silent > 0 && last > 0);
	assert_true(info.gap_frames >= silent);
	assert_true(info.gap_frames < plain.frames / 2);
	bytes_finish(&got);
}

static void
test_a_lost_page_is_silence_in_its_place(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes bad = {0};
	struct ogg_page_info page;
	size_t at;

	(void)state;
	make_vorbis(&plain, &file);
	vorbisfile_decode(&file, &wanted);
	for (int number = 3; number < 6; number++) {
		at = find_page(&file, number, &page);
		bytes_copy(&bad, &file);
		bytes_cut(&bad, at, page.bytes);
		check_gap(&bad, &wanted);
		bytes_copy(&bad, &file);
		bad.data[at + page.bytes / 2] ^= 0x10;
		check_gap(&bad, &wanted);
	}
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&bad);
}

static void
test_any_damage_ends(void **state)
{
	struct bytes file = {0};
	struct dice dice = dice_seeded(9);
	struct recipe recipe = plain;

	(void)state;
	recipe.frames = 20000;
	make_vorbis(&recipe, &file);
	for (int round = 0; round < 100; round++)
		assert_true(
			play_damaged(&file, &dice, 4, (uint32_t)file.length) <=
			(size_t)recipe.frames * STEREO_BYTES);
	bytes_finish(&file);
}

static void
test_seeks_are_exact(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes whole = {0};

	(void)state;
	recipe.frames = 400000;
	make_vorbis(&recipe, &file);
	assert_int_equal(play(&file, &whole, NULL), DECODE_END);
	assert_int_equal(whole.length, (size_t)recipe.frames * STEREO_BYTES);
	check_seeks(&file, &whole, 3);
	bytes_finish(&file);
	bytes_finish(&whole);
}

static void
note_title(void *context, const char *name, const char *value, size_t length)
{
	assert_string_equal(name, "TITLE");
	assert_true(length == strlen(value));
	(void)memcpy(context, value, length + 1);
}

static void
test_tags_however_large(void **state)
{
	const size_t huge = 1 << 20;
	char *picture = malloc(huge + 1);
	const char *tags[] = {"METADATA_BLOCK_PICTURE", picture, "TITLE",
			      "\xff?", NULL};
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct player player;
	char title[32] = "";

	(void)state;
	assert_non_null(picture);
	memset(picture, 'A', huge);
	picture[huge] = '\0';
	recipe.frames = 3000;
	recipe.tags = tags;
	make_vorbis(&recipe, &file);
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
	assert_int_equal(
		player.decoder->ops->tags(player.decoder, note_title, title),
		0);
	assert_string_equal(title, "\xff?");
	player_close(&player);
	check_without_memory(&file);
	bytes_finish(&file);
	free(picture);
}

static void
test_too_many_channels(void **state)
{
	struct bytes file = {0};
	struct ogg_page_info page;
	struct player player;

	(void)state;
	make_vorbis(&plain, &file);
	assert_true(ogg_page_parse(file.data, file.length, &page));
	file.data[page.head_bytes + 11] = 9;
	seal_page(file.data, &page);
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), -ENOTSUP);
	assert_non_null(strstr(player.reason, "8 channels"));
	player_close(&player);
	bytes_finish(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_channel_count),
		cmocka_unit_test(test_too_many_channels),
		cmocka_unit_test(test_rates_and_lengths),
		cmocka_unit_test(test_scraps_give_the_same),
		cmocka_unit_test(test_a_cut_file_plays_its_valid_part),
		cmocka_unit_test(test_a_lost_page_is_silence_in_its_place),
		cmocka_unit_test(test_any_damage_ends),
		cmocka_unit_test(test_seeks_are_exact),
		cmocka_unit_test(test_tags_however_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

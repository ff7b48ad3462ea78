/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FLAC in Ogg, against what the encoder was given. */
#include "daemon/decode/ogg_page.h"
#include "tests/unit/decode/ears.h"

#include <stdlib.h>
#include <string.h>

static const struct recipe plain = {
	.rate_hz = 44100,
	.channels = 2,
	.bits = 16,
	.frames = 30000,
	.block = 1024,
	.seed = 3,
	.serial = 5,
	.ogg = true,
};

static void
test_widths_and_channels(void **state)
{
	static const uint32_t widths[] = {8, 16, 24, 32};
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};

	(void)state;
	recipe.frames = 2500;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		for (uint32_t channels = 1; channels <= 8; channels += 3) {
			struct decoder_info info;

			recipe.bits = widths[i];
			recipe.channels = channels;
			recipe.unknown_total = channels == 4;
			file.length = wanted.length = got.length = 0;
			make_flac(&recipe, &file, &wanted);
			assert_int_equal(play(&file, &got, &info), DECODE_END);
			assert_int_equal(info.spec.bits, recipe.bits);
			assert_int_equal(info.frames, recipe.frames);
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
	make_flac(&plain, &file, &wanted);
	for (uint64_t seed = 0; seed < 8; seed++)
		check_scraps(&file, &wanted, 4096, 500, seed);
	bytes_finish(&file);
	bytes_finish(&wanted);
}

static void
test_a_cut_file_plays_its_valid_part(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};

	(void)state;
	make_flac(&plain, &file, &wanted);
	(void)check_cuts(&file, &wanted,
			 plain.frames % plain.block * STEREO_BYTES);
	bytes_finish(&file);
	bytes_finish(&wanted);
}

/* Where a page behind the first of audio begins. */
static size_t
some_page(const struct bytes *file, int number, struct ogg_page_info *ret_page)
{
	size_t at = 0;

	do {
		assert_true(ogg_page_parse(file->data + at, file->length - at,
					   ret_page));
		if (ret_page->granule > 0 && number-- == 0)
			return at;
		at += ret_page->bytes;
	} while (at < file->length);
	fail();
	return 0;
}

static void
test_a_lost_page_is_silence_in_its_place(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes bad = {0};
	struct bytes got = {0};

	(void)state;
	make_flac(&plain, &file, &wanted);
	for (int round = 0; round < 8; round++) {
		struct ogg_page_info page;
		const size_t at = some_page(&file, 1 + round / 2, &page);
		struct decoder_info info;
		size_t silent;
		size_t last;

		bytes_copy(&bad, &file);
		if (round % 2 == 0)
			bytes_cut(&bad, at, page.bytes);
		else
			bad.data[at + page.bytes / 2] ^= 1;
		got.length = 0;
		assert_int_equal(play(&bad, &got, &info), DECODE_END);
		silent = check_silence(&got, &wanted, &last);
		assert_in_range(silent, 1, info.gap_frames);
		assert_true(info.gap_frames < plain.frames / 2);
	}
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&bad);
	bytes_finish(&got);
}

static void
test_seeks_are_exact(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes wanted = {0};

	(void)state;
	recipe.frames = 200000;
	make_flac(&recipe, &file, &wanted);
	check_seeks(&file, &wanted, 8);
	bytes_finish(&file);
	bytes_finish(&wanted);
}

static void
test_links_of_both_codecs(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes got = {0};
	uint32_t rates[3];
	uint64_t offset = 0;
	uint64_t frames = 0;
	int links = 0;

	(void)state;
	make_flac(&recipe, &file, NULL);
	recipe.serial = 6;
	recipe.rate_hz = 48000;
	make_vorbis(&recipe, &file);
	recipe.serial = 7;
	recipe.rate_hz = 96000;
	make_flac(&recipe, &file, NULL);
	for (enum decode_status status = DECODE_LINK; status == DECODE_LINK;
	     links++) {
		const struct decoder_info *info;
		struct player player;

		assert_int_equal(player_open(&player, &file, offset, 0, NULL),
				 0);
		player_go_to_scraps(&player, 1);
		info = player.decoder->ops->info(player.decoder);
		rates[links] = info->spec.rate_hz;
		frames += info->frames;
		status = player_decode(&player, 1000, &got);
		offset = info->link_offset;
		player_close(&player);
	}
	assert_int_equal(links, 3);
	assert_int_equal(rates[0], 44100);
	assert_int_equal(rates[1], 48000);
	assert_int_equal(rates[2], 96000);
	assert_int_equal(frames, 3 * plain.frames);
	assert_int_equal(got.length, frames * STEREO_BYTES);
	bytes_finish(&file);
	bytes_finish(&got);
}

static void
note_title(void *context, const char *name, const char *value, size_t length)
{
	if (strcmp(name, "TITLE") == 0)
		memcpy(context, value, length + 1);
}

static void
test_tags_and_no_memory(void **state)
{
	static const char *const tags[] = {"TITLE", "Song", NULL};
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct player player;
	char title[32] = "";

	(void)state;
	recipe.frames = 3000;
	recipe.tags = tags;
	make_flac(&recipe, &file, NULL);
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
	assert_int_equal(
		player.decoder->ops->tags(player.decoder, note_title, title),
		0);
	assert_string_equal(title, "Song");
	player_close(&player);
	check_without_memory(&file);
	bytes_finish(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths_and_channels),
		cmocka_unit_test(test_scraps_give_the_same),
		cmocka_unit_test(test_a_cut_file_plays_its_valid_part),
		cmocka_unit_test(test_a_lost_page_is_silence_in_its_place),
		cmocka_unit_test(test_seeks_are_exact),
		cmocka_unit_test(test_links_of_both_codecs),
		cmocka_unit_test(test_tags_and_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Native FLAC, against what the encoder was given. */
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
check_whole(const struct recipe *recipe)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct decoder_info info;

	make_flac(recipe, &file, &wanted);
	assert_int_equal(play(&file, &got, &info), DECODE_END);
	assert_int_equal(info.spec.rate_hz, recipe->rate_hz);
	assert_int_equal(info.spec.channels, recipe->channels);
	assert_int_equal(info.spec.bits, recipe->bits);
	assert_int_equal(info.frames,
			 recipe->unknown_total ? 0 : recipe->frames);
	assert_int_equal(info.gap_frames, 0);
	assert_same(&got, &wanted);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

static void
test_each_width_and_channel_count(void **state)
{
	static const uint32_t widths[] = {4, 5, 8, 12, 15, 16, 20, 24, 31, 32};
	struct recipe recipe = {.rate_hz = 48000, .frames = 1500, .block = 256};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		for (uint32_t channels = 1; channels <= 8; channels++) {
			recipe.bits = widths[i];
			recipe.channels = channels;
			recipe.seed = i;
			check_whole(&recipe);
		}
}

static void
test_odd_rates_and_block_sizes(void **state)
{
	static const uint32_t rates[] = {1,      255,    8000,   11025,
					 35467,  44099,  192000, 384000,
					 655350, 768000, 1048575};
	static const uint32_t blocks[] = {16, 192, 577, 4608, 65535};
	struct recipe recipe = plain;

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		recipe.rate_hz = rates[i];
		check_whole(&recipe);
	}
	recipe = plain;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		recipe.block = blocks[i];
		recipe.frames = 3 * blocks[i] + 7;
		check_whole(&recipe);
	}
	recipe = plain;
	recipe.unknown_total = true;
	check_whole(&recipe);
	recipe.frames = 1;
	check_whole(&recipe);
}

static void
test_scraps_give_the_same(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};

	(void)state;
	make_flac(&plain, &file, &wanted);
	for (uint64_t seed = 0; seed < 12; seed++)
		check_scraps(&file, &wanted, seed % 3 == 0 ? 2048 : 8192, 333,
			     seed);
	bytes_finish(&file);
	bytes_finish(&wanted);
}

static void
test_seeks_are_exact(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	size_t audio;

	(void)state;
	recipe.frames = 150000;
	make_flac(&recipe, &file, NULL);
	check_own_seeks(&file, 1);
	/* Over damage too. */
	audio = flac_audio_of(&file);
	memset(file.data + audio + 30000, 0x55, 20000);
	check_own_seeks(&file, 2);
	file.length = 0;
	recipe.unknown_total = true;
	make_flac(&recipe, &file, NULL);
	check_own_seeks(&file, 3);
	bytes_finish(&file);
}

static void
test_another_rate_is_another_link(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes second = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct player player;
	uint64_t offset;

	(void)state;
	make_flac(&recipe, &file, &wanted);
	recipe.rate_hz = 48000;
	recipe.channels = 1;
	make_flac(&recipe, &second, &wanted);
	offset = file.length;
	/* Bare frames, without a second header. */
	bytes_append(&file, second.data + flac_audio_of(&second),
		     second.length - flac_audio_of(&second));
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
	assert_int_equal(player_decode(&player, 1000, &got), DECODE_LINK);
	assert_int_equal(player.decoder->ops->info(player.decoder)->link_offset,
			 offset);
	player_close(&player);
	assert_int_equal(player_open(&player, &file, offset, 0, NULL), 0);
	assert_int_equal(
		player.decoder->ops->info(player.decoder)->spec.rate_hz, 48000);
	assert_int_equal(player_decode(&player, 1000, &got), DECODE_END);
	player_close(&player);
	assert_same(&got, &wanted);
	bytes_finish(&file);
	bytes_finish(&second);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

static void
test_files_one_behind_the_other_are_links(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	uint64_t offset = 0;
	int links = 0;

	(void)state;
	make_flac(&recipe, &file, &wanted);
	make_flac(&recipe, &file, &wanted);
	recipe.bits = 24;
	make_flac(&recipe, &file, &wanted);
	for (enum decode_status status = DECODE_LINK; status == DECODE_LINK;) {
		struct player player;

		assert_int_equal(player_open(&player, &file, offset, 0, NULL),
				 0);
		status = player_decode(&player, 1000, &got);
		offset = player.decoder->ops->info(player.decoder)->link_offset;
		player_close(&player);
		links++;
	}
	assert_int_equal(links, 3);
	assert_same(&got, &wanted);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

struct found {
	int count;
	size_t longest;
	char title[64];
	char artist[64];
};

static void
note_tag(void *context, const char *name, const char *value, size_t length)
{
	struct found *found = context;

	found->count++;
	if (length > found->longest)
		found->longest = length;
	assert_int_equal(value[length], '\0');
	if (strcmp(name, "TITLE") == 0)
		memcpy(found->title, value, length + 1);
	if (strcmp(name, "ARTIST") == 0)
		memcpy(found->artist, value, length + 1);
}

static void
test_tags_however_odd(void **state)
{
	const size_t huge = 3 << 20;
	char *picture = malloc(huge + 1);
	const char *tags[] = {"METADATA_BLOCK_PICTURE",
			      picture,
			      "TITLE",
			      "GrXXe",
			      "LYRICS",
			      picture,
			      "BADNAME",
			      "x",
			      "ARTIST",
			      "a=b",
			      NULL};
	uint8_t *at;
	struct recipe recipe = plain;
	struct found found = {0};
	struct bytes file = {0};
	struct player player;

	(void)state;
	assert_non_null(picture);
	memset(picture, 'A', huge);
	picture[huge] = '\0';
	recipe.tags = tags;
	make_flac(&recipe, &file, NULL);
	/* What the encoder would not write: no UTF-8, and no name. */
	at = memmem(file.data, file.length, "GrXXe", 5);
	memcpy(at, "Gr\xfc\xdf", 4);
	at = memmem(file.data, file.length, "BADNAME", 7);
	*at = 1;
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
	assert_int_equal(
		player.decoder->ops->tags(player.decoder, note_tag, &found), 0);
	player_close(&player);
	assert_string_equal(found.title, "Gr\xfc\xdf"
					 "e");
	assert_string_equal(found.artist, "a=b");
	assert_int_equal(found.count, 2);
	bytes_finish(&file);
	free(picture);
}

static void
test_other_tags_around_it(void **state)
{
	static const uint8_t id3[] = {'I', 'D', '3', 4, 0, 0, 0, 0, 1, 0};
	static const uint8_t id3v1[128] = {'T', 'A', 'G', 0xff, 0xf8};
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct decoder_info info;

	(void)state;
	for (int i = 0; i < 2; i++) {
		bytes_append(&file, id3, sizeof(id3));
		bytes_append(&file, NULL, 128);
	}
	make_flac(&plain, &file, &wanted);
	bytes_append(&file, id3v1, sizeof(id3v1));
	assert_int_equal(play(&file, &got, &info), DECODE_END);
	assert_same(&got, &wanted);
	assert_int_equal(info.gap_frames, 0);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

static void
test_no_memory(void **state)
{
	struct bytes file = {0};

	(void)state;
	make_flac(&plain, &file, NULL);
	assert_true(check_without_memory(&file) > 2);
	bytes_finish(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_width_and_channel_count),
		cmocka_unit_test(test_odd_rates_and_block_sizes),
		cmocka_unit_test(test_scraps_give_the_same),
		cmocka_unit_test(test_seeks_are_exact),
		cmocka_unit_test(test_another_rate_is_another_link),
		cmocka_unit_test(test_files_one_behind_the_other_are_links),
		cmocka_unit_test(test_tags_however_odd),
		cmocka_unit_test(test_other_tags_around_it),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PCM files of every container and coding, as libsndfile writes them. */
#include "tests/unit/decode/ears.h"

#include <sndfile.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const struct recipe plain = {
	.rate_hz = 44100,
	.channels = 2,
	.frames = 5001,
	.seed = 4,
};

static const int containers[] = {
	SF_FORMAT_WAV,
	SF_FORMAT_WAV | SF_ENDIAN_BIG,
	SF_FORMAT_WAVEX,
	SF_FORMAT_RF64,
	SF_FORMAT_W64,
	SF_FORMAT_AIFF,
	SF_FORMAT_AIFF | SF_ENDIAN_LITTLE,
	SF_FORMAT_AU,
	SF_FORMAT_AU | SF_ENDIAN_LITTLE,
	SF_FORMAT_CAF,
	SF_FORMAT_CAF | SF_ENDIAN_LITTLE,
};

static const int codings[] = {
	SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16,
	SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
	SF_FORMAT_DOUBLE, SF_FORMAT_ALAW,   SF_FORMAT_ULAW,
};

enum {
	CONTAINERS = sizeof(containers) / sizeof(containers[0]),
	CODINGS = sizeof(codings) / sizeof(codings[0]),
};

static bool
is_valid(int format)
{
	SF_INFO info = {.samplerate = 44100, .channels = 2, .format = format};

	return sf_format_check(&info) != 0;
}

static void
check_kind(int format, const struct recipe *recipe)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct decoder_info info;
	const int coding = format & SF_FORMAT_SUBMASK;

	make_wave(recipe, format, &file, &wanted);
	assert_int_equal(play(&file, &got, &info), DECODE_END);
	assert_int_equal(info.spec.rate_hz, recipe->rate_hz);
	assert_int_equal(info.spec.channels, recipe->channels);
	assert_int_equal(info.frames, recipe->frames);
	assert_false(info.cut);
	if (coding == SF_FORMAT_FLOAT || coding == SF_FORMAT_DOUBLE)
		assert_int_equal(info.spec.kind, SAMPLE_F32);
	else
		assert_int_equal(info.spec.kind, SAMPLE_S32);
	if (coding == SF_FORMAT_PCM_24)
		assert_int_equal(info.spec.bits, 24);
	assert_same(&got, &wanted);
	for (uint64_t seed = 0; seed < 3; seed++)
		check_scraps(&file, &wanted, 4096, 333, seed);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

static void
test_each_container_and_coding(void **state)
{
	int kinds = 0;

	(void)state;
	for (int i = 0; i < CONTAINERS; i++)
		for (int k = 0; k < CODINGS; k++)
			if (is_valid(containers[i] | codings[k])) {
				check_kind(containers[i] | codings[k], &plain);
				kinds++;
			}
	/* libsndfile writes at least these: it would be no test else. */
	assert_true(kinds >= 60);
}

static void
test_each_channel_count_and_rate(void **state)
{
	struct recipe recipe = plain;

	(void)state;
	recipe.frames = 777;
	for (uint32_t channels = 1; channels <= 8; channels++) {
		recipe.channels = channels;
		check_kind(SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, &recipe);
		check_kind(SF_FORMAT_AIFF | SF_FORMAT_DOUBLE, &recipe);
	}
	recipe.channels = 1;
	for (recipe.rate_hz = 1; recipe.rate_hz <= 1000000;
	     recipe.rate_hz *= 10)
		check_kind(SF_FORMAT_WAV | SF_FORMAT_PCM_16, &recipe);
	recipe.rate_hz = 768000;
	for (recipe.frames = 1; recipe.frames < 4; recipe.frames++)
		check_kind(SF_FORMAT_WAV | SF_FORMAT_PCM_U8, &recipe);
}

static void
test_seeks_are_exact(void **state)
{
	struct recipe recipe = plain;
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct player player;

	(void)state;
	recipe.frames = 60000;
	make_wave(&recipe, SF_FORMAT_WAV | SF_FORMAT_PCM_24, &file, &wanted);
	check_seeks(&file, &wanted, 5);
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
	check_seek(&player, &wanted, UINT64_MAX);
	player_close(&player);
	bytes_finish(&file);
	bytes_finish(&wanted);
}

static void
test_a_cut_file_plays_its_valid_part(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};

	(void)state;
	for (int i = 0; i < CONTAINERS; i++) {
		file.length = 0;
		wanted.length = 0;
		make_wave(&plain, containers[i] | SF_FORMAT_PCM_16, &file,
			  &wanted);
		/* It takes two bytes a sample where we have four. */
		assert_true(check_cuts(&file, &wanted, 0) + 2000 >
			    wanted.length / 2);
	}
	bytes_finish(&file);
	bytes_finish(&wanted);
}

/* The file shrinks behind the decoder's back. */
static void
test_a_file_cut_while_it_plays(void **state)
{
	struct bytes file = {0};
	struct bytes got = {0};
	struct player player;
	struct recipe recipe = plain;

	(void)state;
	recipe.frames = 60000;
	make_wave(&recipe, SF_FORMAT_WAV | SF_FORMAT_PCM_16, &file, NULL);
	assert_int_equal(player_open(&player, &file, 0, 4096, NULL), 0);
	assert_int_equal(ftruncate(player.fd, 100001), 0);
	assert_int_equal(player_decode(&player, 4096, &got), DECODE_END);
	assert_true(got.length / 8 <= (100001 - 44) / 4);
	assert_true(got.length / 8 > 20000);
	assert_true(player.decoder->ops->info(player.decoder)->cut);
	player_close(&player);
	bytes_finish(&file);
	bytes_finish(&got);
}

static void
test_any_damage_ends(void **state)
{
	struct bytes file = {0};
	struct dice dice = dice_seeded(11);
	struct recipe recipe = plain;

	(void)state;
	recipe.frames = 500;
	for (int i = 0; i < CONTAINERS; i++) {
		file.length = 0;
		make_wave(&recipe, containers[i] | SF_FORMAT_PCM_24, &file,
			  NULL);
		for (int round = 0; round < 200; round++)
			assert_true(play_damaged(&file, &dice, 3, 100) <=
				    file.length * 8);
	}
	bytes_finish(&file);
}

static void
test_each_allocation_may_fail(void **state)
{
	struct bytes file = {0};

	(void)state;
	make_wave(&plain, SF_FORMAT_WAV | SF_FORMAT_PCM_16, &file, NULL);
	assert_true(check_without_memory(&file) > 0);
	bytes_finish(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_container_and_coding),
		cmocka_unit_test(test_each_channel_count_and_rate),
		cmocka_unit_test(test_seeks_are_exact),
		cmocka_unit_test(test_a_cut_file_plays_its_valid_part),
		cmocka_unit_test(test_a_file_cut_while_it_plays),
		cmocka_unit_test(test_any_damage_ends),
		cmocka_unit_test(test_each_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

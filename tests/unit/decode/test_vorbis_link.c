/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chains of Ogg Vorbis, and links that begin late. */
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

static void
check_chain(const struct bytes *file, const struct recipe *recipes, int count,
	    bool scraps)
{
	uint64_t offset = 0;

	for (int i = 0; i < count; i++) {
		struct bytes single = {0};
		struct bytes wanted = {0};
		struct bytes got = {0};
		struct player player;
		const struct decoder_info *info;
		enum decode_status status;

		make_vorbis(&recipes[i], &single);
		vorbisfile_decode(&single, &wanted);
		assert_int_equal(player_open(&player, file, offset, 0, NULL),
				 0);
		info = player.decoder->ops->info(player.decoder);
		assert_int_equal(info->spec.rate_hz, recipes[i].rate_hz);
		assert_int_equal(info->spec.channels, recipes[i].channels);
		assert_int_equal(info->frames, recipes[i].frames);
		if (scraps)
			player_go_to_scraps(&player, (uint64_t)i);
		status = player_decode(&player, 1000, &got);
		assert_int_equal(status,
				 i + 1 < count ? DECODE_LINK : DECODE_END);
		assert_same(&got, &wanted);
		if (status == DECODE_LINK)
			assert_int_equal(info->link_offset,
					 offset + single.length);
		offset = info->link_offset;
		player_close(&player);
		bytes_finish(&single);
		bytes_finish(&wanted);
		bytes_finish(&got);
	}
}

static void
test_chains(void **state)
{
	struct recipe recipes[4];
	struct bytes file = {0};

	(void)state;
	for (int i = 0; i < 4; i++) {
		recipes[i] = plain;
		recipes[i].serial = 100 + i;
		recipes[i].seed = (uint64_t)i;
		recipes[i].frames = 30000 + (uint32_t)i * 999;
	}
	recipes[1].rate_hz = 22050;
	recipes[2].channels = 1;
	recipes[3].rate_hz = 48000;
	for (int i = 0; i < 4; i++)
		make_vorbis(&recipes[i], &file);
	check_chain(&file, recipes, 4, false);
	check_chain(&file, recipes, 4, true);
	bytes_finish(&file);
}

/* The same file twice, so that both links have the same serial number. */
static void
test_a_file_behind_itself(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct player player;

	(void)state;
	make_vorbis(&plain, &file);
	vorbisfile_decode(&file, &wanted);
	make_vorbis(&plain, &file);
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
	assert_int_equal(player_decode(&player, 1000, &got), DECODE_LINK);
	assert_int_equal(player.decoder->ops->info(player.decoder)->link_offset,
			 file.length / 2);
	player_close(&player);
	assert_same(&got, &wanted);
	assert_int_equal(player_open(&player, &file, file.length / 2, 0, NULL),
			 0);
	got.length = 0;
	assert_int_equal(player_decode(&player, 1000, &got), DECODE_END);
	assert_same(&got, &wanted);
	player_close(&player);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

/* Adds to the granule of each page of audio. */
static void
shift_granules(struct bytes *file, int64_t shift)
{
	size_t at = 0;
	struct ogg_page_info page;

	while (at < file->length &&
	       ogg_page_parse(file->data + at, file->length - at, &page)) {
		const int64_t granule = page.granule + shift;

		if (page.granule > 0)
			for (int i = 0; i < 8; i++)
				file->data[at + 6 + (size_t)i] =
					(uint8_t)(granule >> (8 * i));
		seal_page(file->data + at, &page);
		at += page.bytes;
	}
}

static void
test_a_broadcast_begins_late(void **state)
{
	struct bytes file = {0};
	struct bytes wanted = {0};
	struct bytes got = {0};
	struct decoder_info info;
	struct player player;

	(void)state;
	make_vorbis(&plain, &file);
	vorbisfile_decode(&file, &wanted);
	shift_granules(&file, INT64_C(5000000000));
	assert_int_equal(play(&file, &got, &info), DECODE_END);
	assert_same(&got, &wanted);
	assert_int_equal(info.frames, plain.frames);
	assert_int_equal(player_open(&player, &file, 0, 0, NULL), 0);
	assert_int_equal(player.decoder->ops->seek(player.decoder, 40000), 0);
	got.length = 0;
	assert_int_equal(player_decode(&player, 100, &got), DECODE_END);
	assert_int_equal(got.length, (plain.frames - 40000) * STEREO_BYTES);
	assert_memory_equal(got.data, wanted.data + 40000 * STEREO_BYTES,
			    got.length);
	player_close(&player);
	bytes_finish(&file);
	bytes_finish(&wanted);
	bytes_finish(&got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_a_file_behind_itself),
		cmocka_unit_test(test_a_broadcast_begins_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ears.h - what each decoder's tests ask of it: that it gives the right
 * samples, also in scraps, from any frame on, and without some piece of memory.
 */
#ifndef ROTARY_TEST_DECODE_EARS_H
#define ROTARY_TEST_DECODE_EARS_H

#include "tests/kit/dice.h"
#include "tests/kit/failing_allocator.h"
#include "tests/kit/music/music.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { STEREO_BYTES = 8, PAST_END = 100, SEEKS = 40 };

static inline void
assert_same(const struct bytes *got, const struct bytes *wanted)
{
	assert_int_equal(got->length, wanted->length);
	assert_memory_equal(got->data, wanted->data, wanted->length);
}

/* Fed in scraps by that seed, and asked for step frames at most. */
static inline void
check_scraps(const struct bytes *file, const struct bytes *wanted, size_t ring,
	     uint32_t step, uint64_t seed)
{
	struct bytes got = {0};
	struct player player;

	assert_int_equal(player_open(&player, file, 0, ring, NULL), 0);
	player_go_to_scraps(&player, seed);
	if (seed == 1)
		player.scrap_max = 1;
	assert_int_equal(player_decode(&player, step, &got), DECODE_END);
	player_close(&player);
	assert_same(&got, wanted);
	bytes_finish(&got);
}

/* What comes from frame on is the end of the whole. */
static inline void
check_seek(struct player *player, const struct bytes *whole, uint64_t frame)
{
	const uint64_t frames = whole->length / STEREO_BYTES;
	struct bytes got = {0};

	assert_int_equal(player->decoder->ops->seek(player->decoder, frame), 0);
	assert_int_equal(player_decode(player, 4096, &got), DECODE_END);
	if (frame > frames)
		frame = frames;
	assert_int_equal(got.length, (frames - frame) * STEREO_BYTES);
	if (got.length > 0)
		assert_memory_equal(got.data,
				    whole->data + frame * STEREO_BYTES,
				    got.length);
	bytes_finish(&got);
}

/* To the first and the last frames, and to many by chance, past the end too. */
static inline void
check_seeks(const struct bytes *file, const struct bytes *whole, uint64_t seed)
{
	const uint64_t frames = whole->length / STEREO_BYTES;
	struct dice dice = dice_seeded(seed);
	struct player player;

	assert_int_equal(player_open(&player, file, 0, 0, NULL), 0);
	for (uint64_t i = 0; i < 3; i++) {
		check_seek(&player, whole, i);
		check_seek(&player, whole, frames + 1 - i);
	}
	for (int i = 0; i < SEEKS; i++)
		check_seek(&player, whole,
			   dice_roll(&dice, (uint32_t)frames + PAST_END));
	player_close(&player);
}

/* Against what the decoder itself gives from the begin. */
static inline void
check_own_seeks(const struct bytes *file, uint64_t seed)
{
	struct bytes whole = {0};

	assert_int_equal(play(file, &whole, NULL), DECODE_END);
	check_seeks(file, &whole, seed);
	bytes_finish(&whole);
}

/* Opens the file as often as it allocates, each time without one piece; nothing
 * is left behind. Without memory for its tags a file may still play. Returns
 * how often. */
static inline size_t
check_without_memory(const struct bytes *file)
{
	struct failing_allocator allocator;
	struct player player;
	size_t calls;

	failing_allocator_init(&allocator, 0);
	assert_int_equal(player_open(&player, file, 0, 0, &allocator.base), 0);
	player_close(&player);
	assert_int_equal(allocator.live, 0);
	calls = allocator.calls;
	for (size_t at = calls; at > 0; at--) {
		failing_allocator_init(&allocator, at);
		(void)player_open(&player, file, 0, 0, &allocator.base);
		player_close(&player);
		assert_int_equal(allocator.live, 0);
	}
	return calls;
}

/* Of a file that is cut at length nothing is heard but its beginning; only of
 * the last ragged bytes of the whole may some be made up. Returns how many
 * bytes are heard. */
static inline size_t
check_cut(const struct bytes *file, const struct bytes *wanted, size_t length,
	  size_t ragged)
{
	struct bytes cut = {0};
	struct bytes got = {0};
	size_t heard, common;

	bytes_copy(&cut, file);
	cut.length = length;
	(void)play(&cut, &got, NULL);
	assert_true(got.length <= wanted->length);
	assert_int_equal(got.length % STEREO_BYTES, 0);
	common =
		got.length == wanted->length ? got.length - ragged : got.length;
	if (common > 0)
		assert_memory_equal(got.data, wanted->data, common);
	heard = got.length;
	bytes_finish(&cut);
	bytes_finish(&got);
	return heard;
}

/* Each length that a header may be cut at, and many others. Returns how many
 * bytes of the longest of them are heard. */
static inline size_t
check_cuts(const struct bytes *file, const struct bytes *wanted, size_t ragged)
{
	size_t heard = 0;

	for (size_t length = 0; length < file->length;
	     length += length < 200 ? 1 : 977)
		heard = check_cut(file, wanted, length, ragged);
	return heard;
}

/* Plays the file with so many of its first reach bytes changed. Returns how
 * many bytes are heard. */
static inline size_t
play_damaged(const struct bytes *file, struct dice *dice, int changes,
	     uint32_t reach)
{
	struct bytes bad = {0};
	struct bytes got = {0};
	size_t heard;

	bytes_copy(&bad, file);
	for (int i = 0; i < changes; i++)
		bad.data[dice_roll(dice, reach)] =
			(uint8_t)dice_roll(dice, 256);
	(void)play(&bad, &got, NULL);
	heard = got.length;
	bytes_finish(&bad);
	bytes_finish(&got);
	return heard;
}

/* Of as many frames as are wanted those that differ are silent. Returns how
 * many; *ret_last is the last of them. */
static inline size_t
check_silence(const struct bytes *got, const struct bytes *wanted,
	      size_t *ret_last)
{
	static const uint8_t zero[STEREO_BYTES];
	size_t silent = 0;

	assert_int_equal(got->length, wanted->length);
	for (size_t at = 0; at < got->length; at += STEREO_BYTES)
		if (memcmp(got->data + at, wanted->data + at, STEREO_BYTES) !=
		    0) {
			assert_memory_equal(got->data + at, zero, STEREO_BYTES);
			silent++;
			*ret_last = at / STEREO_BYTES;
		}
	return silent;
}

#endif

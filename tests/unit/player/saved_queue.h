/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_queue.h - for tests of the state: a temporary folder, songs with tags,
 * random edits that the same seed repeats, and the whole of a queue as one
 * text to compare. */
#ifndef ROTARY_TESTS_SAVED_QUEUE_H
#define ROTARY_TESTS_SAVED_QUEUE_H

#include "daemon/player/player.h"
#include "daemon/player/state_db.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "tests/kit/dice.h"
#include "tests/kit/folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static inline int
begin(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/rotary-state-XXXXXX");
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static inline int
end(void **state)
{
	(void)state;
	folder_remove(folder);
	return 0;
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

static inline struct state_db *
open_db(bool wanted_new)
{
	struct state_db *db;
	bool is_new;

	assert_int_equal(state_db_open(folder, &db, &is_new), 0);
	assert_int_equal(is_new, wanted_new);
	return db;
}

static inline struct song *
tagged_song(unsigned number)
{
	const struct audio_spec spec = {44100 + number % 3, 2, SAMPLE_S32, 16};
	struct song_builder *builder;
	struct song *song;
	char name[64];

	snprintf(name, sizeof(name), "artist %u/album/%u.flac", number % 7,
		 number);
	builder = song_builder_create(name);
	song_builder_tag(builder, TAG_TITLE, name, strlen(name));
	song_builder_tag(builder, TAG_ARTIST, name, 8 + number % 2);
	if (number % 5 != 0)
		song_builder_audio(builder, &spec, (int64_t)number * 1000007);
	song_builder_mtime(builder, (int64_t)number * 1000);
	song = song_builder_finish(builder);
	assert_non_null(song);
	return song;
}

static inline void
insert_song(struct play_queue *queue, uint32_t position, unsigned number)
{
	struct song *song = tagged_song(number);

	assert_int_equal(play_queue_insert(queue, position, song, 0, NULL), 0);
	song_unref(song);
}

static inline uint32_t
roll(void *context, uint32_t below)
{
	return dice_roll((struct dice *)context, below);
}

/* One random edit; a function of dice and queue alone. */
static inline void
edit_queue(struct play_queue *queue, struct dice *dice)
{
	const uint32_t length = play_queue_length(queue);
	const uint32_t a = dice_roll(dice, length + 1);
	const uint32_t b = dice_roll(dice, length + 1);
	const uint32_t from = a < b ? a : b;
	const uint32_t to = a < b ? b : a;
	int error = 0;

	switch (dice_roll(dice, 12)) {
	case 0:
		error = play_queue_delete(queue, from, to);
		break;
	case 1:
		error = play_queue_shuffle(queue, from, to, roll, dice);
		break;
	case 2:
		error = play_queue_set_priority(queue, from, to,
						(uint8_t)dice_roll(dice, 3));
		break;
	case 3:
		error = play_queue_move(queue, from, to, 0);
		break;
	case 4:
		if (dice_roll(dice, 20) == 0)
			play_queue_clear(queue);
		break;
	default:
		insert_song(queue, a, dice_roll(dice, 100000));
	}
	assert_int_equal(error, 0);
}

static inline void
add_song_text(struct text *text, const struct play_queue_item *item)
{
	const struct song *song = item->song;

	text_printf(text, "%s %u %lld %lld %u %u", song_uri(song),
		    item->priority, (long long)song_duration_ns(song),
		    (long long)song_mtime_s(song), song_spec(song)->rate_hz,
		    song_spec(song)->bits);
	for (size_t i = 0; i < song_tag_count(song); i++) {
		const char *value;
		const enum tag tag = song_tag(song, i, &value);

		text_printf(text, " %d=%s", (int)tag, value);
	}
	text_add_char(text, '\n');
}

static inline void
add_queue_text(struct text *text, const struct play_queue *queue)
{
	for (uint32_t i = 0; i < play_queue_length(queue); i++)
		add_song_text(text, play_queue_at(queue, i));
}

static inline bool
same_queue(const struct play_queue *a, const struct play_queue *b)
{
	struct text first = {0};
	struct text second = {0};
	bool same;

	add_queue_text(&first, a);
	add_queue_text(&second, b);
	same = strcmp(text_string(&first), text_string(&second)) == 0;
	text_finish(&first);
	text_finish(&second);
	return same;
}

#endif

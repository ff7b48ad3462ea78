/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What AUTO makes of each song: told of its stream before that is heard, also
 * of what is only prepared, and again when the queue changes. */
#include "tests/unit/player/fake_engine.h"

enum { STREAMS = 32 };

static bool albums[STREAMS + 1]; /* by stream */
static bool was_used[STREAMS + 1];
static enum replay_gain_mode told_mode;

static void
note_album(void *context, uint64_t stream, bool album)
{
	const struct fake_engine *fake = (const struct fake_engine *)context;

	assert_true(stream >= 1 && stream <= fake->count);
	assert_true(albums[stream] != album);
	albums[stream] = album;
}

static void
note_mode(void *context, enum replay_gain_mode mode)
{
	(void)context;
	told_mode = mode;
}

/* Begun with what it was told so far: nothing that comes later counts. */
static void
note_follow(void *context, uint64_t stream, uint64_t next)
{
	fake_follow(context, stream, next);
	if (next != 0)
		was_used[next] = albums[next];
}

static struct player_ops ops;

static void
add(struct fake_engine *fake, char letter, const char *album,
    const char *artist)
{
	const char uri[] = {letter, '\0'};
	struct song_builder *builder = song_builder_create(uri);
	struct song *song;

	assert_non_null(builder);
	if (album != NULL)
		song_builder_tag(builder, TAG_ALBUM, album, strlen(album));
	if (artist != NULL)
		song_builder_tag(builder, TAG_ALBUM_ARTIST, artist,
				 strlen(artist));
	song = song_builder_finish(builder);
	assert_non_null(song);
	assert_int_equal(play_queue_insert(fake->queue,
					   play_queue_length(fake->queue), song,
					   0, NULL),
			 0);
	song_unref(song);
	player_queue_changed(fake->player);
}

static struct fake_engine *
create(void)
{
	struct fake_engine *fake = fake_create();

	memset(albums, 0, sizeof(albums));
	memset(was_used, 0, sizeof(was_used));
	ops = fake_ops;
	ops.set_album = note_album;
	ops.set_replay_gain = note_mode;
	ops.follow = note_follow;
	player_destroy(fake->player);
	fake->player = player_create(fake->queue, &ops, fake);
	assert_non_null(fake->player);
	return fake;
}

/* The first of the queue is heard, the next one follows: streams 1 and 2. */
static void
play(struct fake_engine *fake)
{
	assert_int_equal(player_play(fake->player, 0), 0);
	fake_ready(fake, 1);
	fake_started(fake, 1);
	if (fake->count > 1)
		fake_ready(fake, 2);
}

static void delete (struct fake_engine *fake, uint32_t position)
{
	assert_int_equal(play_queue_delete(fake->queue, position, position + 1),
			 0);
	player_queue_changed(fake->player);
}

/* Each song by its own neighbours, and not by those of what is heard. */
static void
test_each_song_by_its_neighbours(void **state)
{
	struct fake_engine *fake = create();

	(void)state;
	add(fake, 'a', "A", NULL);
	add(fake, 'b', "B", NULL);
	add(fake, 'c', "B", NULL);
	add(fake, 'd', NULL, NULL);
	add(fake, 'e', NULL, NULL);
	play(fake);
	assert_false(albums[1]);
	assert_true(albums[2] && was_used[2]);
	fake_started(fake, 2);
	fake_ready(fake, 3);
	assert_true(albums[3] && was_used[3]);
	fake_started(fake, 3);
	fake_ready(fake, 4);
	assert_false(albums[4]);
	fake_destroy(fake);
}

static void
test_the_queue_changes(void **state)
{
	struct fake_engine *fake = create();

	(void)state;
	add(fake, 'a', NULL, NULL);
	add(fake, 'b', "B", NULL);
	play(fake);
	assert_false(albums[2]);
	add(fake, 'c', "B", NULL); /* b is prepared already */
	assert_true(albums[2]);
	delete (fake, 2);
	assert_false(albums[2]);
	fake_destroy(fake);
}

/* What is heard becomes part of an album when the rest is added, and stays it
 * when that is gone; by a seek too. */
static void
test_what_is_heard_keeps_its_gain(void **state)
{
	struct fake_engine *fake = create();

	(void)state;
	add(fake, 'a', "A", NULL);
	play(fake);
	assert_false(albums[1]);
	add(fake, 'b', "A", NULL);
	assert_true(albums[1]);
	delete (fake, 1);
	assert_true(albums[1]);
	assert_int_equal(player_seek_current(fake->player, NS_PER_S, false), 0);
	assert_true(albums[fake->count] && fake->count > 1);
	player_set_random(fake->player, true);
	assert_false(albums[fake->count]);
	fake_destroy(fake);
}

/* The song before it leaves the queue when it begins. */
static void
test_consumed(void **state)
{
	struct fake_engine *fake = create();

	(void)state;
	player_set_consume(fake->player, PLAYER_ON);
	add(fake, 'a', "A", NULL);
	add(fake, 'b', "A", NULL);
	play(fake);
	assert_true(albums[1] && was_used[2]);
	fake_started(fake, 2);
	assert_int_equal(play_queue_length(fake->queue), 1);
	assert_true(albums[2]);
	fake_destroy(fake);
}

static void
test_what_is_no_album(void **state)
{
	struct fake_engine *fake = create();

	(void)state;
	add(fake, 'a', "Hits", "One");
	add(fake, 'b', "Hits", "Another");
	play(fake);
	assert_false(albums[1] || albums[2]);
	add(fake, 'c', "Hits", NULL);
	assert_true(albums[2]);
	player_set_random(fake->player, true);
	assert_false(albums[1] || albums[2]);
	fake_destroy(fake);
}

static void
test_the_mode_is_told_as_it_is(void **state)
{
	struct fake_engine *fake = create();

	(void)state;
	for (int i = REPLAY_GAIN_TRACK; i <= REPLAY_GAIN_AUTO; i++) {
		player_set_replay_gain(fake->player, (enum replay_gain_mode)i);
		assert_int_equal(told_mode, i);
	}
	fake_destroy(fake);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_song_by_its_neighbours),
		cmocka_unit_test(test_the_queue_changes),
		cmocka_unit_test(test_what_is_heard_keeps_its_gain),
		cmocka_unit_test(test_consumed),
		cmocka_unit_test(test_what_is_no_album),
		cmocka_unit_test(test_the_mode_is_told_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

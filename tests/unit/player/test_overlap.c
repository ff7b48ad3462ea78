/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_overlap.c - crossfade: for which songs the player asks for it, how long,
 * and when it takes that back. */
#include "tests/unit/player/fake_engine.h"

#include "lib/base/log.h"

enum { A1 = 1, B1, C1, FADE_S = 5 };

#define ALBUM(name, track) "Album=" name, "Track=" track

/* Two songs that follow each other, and how long they overlap. */
struct pair {
	const char *a[6], *b[6];
	int64_t length_s; /* 0: 100 s */
	bool random;
	enum player_mode single;
	int64_t fade_s;
};

static const struct pair pairs[] = {
	{.fade_s = FADE_S},
	/* At least twice as long. */
	{.length_s = 10, .fade_s = FADE_S},
	{.length_s = 9},
	{.length_s = -1},
	{.single = PLAYER_ON},
	{.single = PLAYER_ONESHOT},
	/* On an album. */
	{.a = {ALBUM("x", "1")}, .b = {ALBUM("x", "2")}},
	{.a = {ALBUM("x", "01/12")}, .b = {ALBUM("x", "02/12")}},
	{.a = {ALBUM("x", "9")}, .b = {ALBUM("x", "10")}, .random = true},
	{.a = {ALBUM("x", "1")}, .b = {ALBUM("x", "3")}, .fade_s = FADE_S},
	{.a = {ALBUM("x", "2")}, .b = {ALBUM("x", "1")}, .fade_s = FADE_S},
	{.a = {ALBUM("x", "2")}, .b = {ALBUM("x", "2")}, .fade_s = FADE_S},
	{.a = {ALBUM("x", "1")}, .b = {ALBUM("y", "2")}, .fade_s = FADE_S},
	{.a = {"Track=1"}, .b = {"Track=2"}, .fade_s = FADE_S},
	{.a = {ALBUM("x", "1"), "AlbumArtist=m"},
	 .b = {ALBUM("x", "2"), "AlbumArtist=m"}},
	{.a = {ALBUM("x", "1"), "AlbumArtist=m"},
	 .b = {ALBUM("x", "2"), "AlbumArtist=n"},
	 .fade_s = FADE_S},
	{.a = {ALBUM("x", "1"), "AlbumArtist=m"},
	 .b = {ALBUM("x", "2")},
	 .fade_s = FADE_S},
	/* Who plays a song may be another on a compilation. */
	{.a = {ALBUM("x", "1"), "Artist=m"},
	 .b = {ALBUM("x", "2"), "Artist=n"}},
	/* On several discs. */
	{.a = {ALBUM("x", "9"), "Disc=1"}, .b = {ALBUM("x", "1"), "Disc=2"}},
	{.a = {ALBUM("x", "9")}, .b = {ALBUM("x", "1"), "Disc=2"}},
	{.a = {ALBUM("x", "1"), "Disc=1"}, .b = {ALBUM("x", "2")}},
	{.a = {ALBUM("x", "9"), "Disc=1"},
	 .b = {ALBUM("x", "2"), "Disc=2"},
	 .fade_s = FADE_S},
	{.a = {ALBUM("x", "9"), "Disc=1"},
	 .b = {ALBUM("x", "1"), "Disc=3"},
	 .fade_s = FADE_S},
	{.a = {ALBUM("x", "1"), "Disc=1"},
	 .b = {ALBUM("x", "2"), "Disc=2"},
	 .fade_s = FADE_S},
	/* Without numbers the order of the queue tells. */
	{.a = {"Album=x"}, .b = {"Album=x"}},
	{.a = {"Album=x"}, .b = {ALBUM("x", "2")}},
	{.a = {ALBUM("x", "no number")}, .b = {"Album=x"}},
	{.a = {"Album=x"}, .b = {"Album=x"}, .random = true, .fade_s = FADE_S},
	{.a = {"Album=x"}, .b = {"Album=y"}, .fade_s = FADE_S},
};

static struct fake_engine *
create(int64_t length_s)
{
	struct fake_engine *fake = fake_create();

	fake->length_ns = length_s != 0 ? length_s * NS_PER_S : fake->length_ns;
	return fake;
}

static void
assert_wishes(struct fake_engine *fake, const char *wanted)
{
	assert_string_equal(text_string(&fake->wishes), wanted);
	text_clear(&fake->wishes);
}

static void
play_first(struct fake_engine *fake)
{
	player_queue_changed(fake->player);
	assert_int_equal(player_play(fake->player, 0), 0);
	fake_ready(fake, A1);
	fake_started(fake, A1);
	text_clear(&fake->wishes);
}

static void
check_pair(const struct pair *pair)
{
	struct fake_engine *fake = create(pair->length_s);
	char wanted[64] = "follow a1 b1";

	if (pair->fade_s > 0)
		snprintf(wanted, sizeof(wanted),
			 "overlap b1 %lld, follow a1 b1",
			 (long long)pair->fade_s);
	fake_insert_tagged(fake, 'a', 0, pair->a);
	fake_insert_tagged(fake, 'b', 1, pair->b);
	player_set_crossfade(fake->player, FADE_S);
	player_set_random(fake->player, pair->random);
	player_set_repeat(fake->player, pair->single != PLAYER_OFF);
	play_first(fake);
	if (pair->single != PLAYER_OFF) {
		/* The same again. */
		player_set_single(fake->player, pair->single);
		snprintf(wanted, sizeof(wanted), "follow a1 a2");
		text_clear(&fake->wishes);
		fake_ready(fake, C1);
	} else {
		fake_ready(fake, B1);
	}
	if (strcmp(text_string(&fake->wishes), wanted) != 0)
		fail_msg("pair %zu: \"%s\", not \"%s\"", (size_t)(pair - pairs),
			 text_string(&fake->wishes), wanted);
	fake_destroy(fake);
}

static void
which_songs_overlap(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		check_pair(&pairs[i]);
}

/* The song that goes is another than the one that comes. */
static void
both_songs_have_to_be_long(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fake_engine *fake = create(i == 0 ? 9 : 100);

		fake_insert(fake, 'a', 0);
		fake_insert(fake, 'b', 1);
		player_set_crossfade(fake->player, FADE_S);
		play_first(fake);
		fake->length_ns = (i == 0 ? 100 : 9) * NS_PER_S;
		fake_ready(fake, B1);
		assert_wishes(fake, "follow a1 b1");
		fake_destroy(fake);
	}
}

static void
a_change_is_told_while_the_song_plays(void **state)
{
	struct fake_engine *fake = create(0);

	(void)state;
	fake_insert(fake, 'a', 0);
	fake_insert(fake, 'b', 1);
	play_first(fake);
	fake_ready(fake, B1);
	assert_wishes(fake, "follow a1 b1");
	fake->changes = 0;
	/* A card that is opened now is opened for both. */
	fake->overlaps = false;
	player_set_crossfade(fake->player, 0);
	assert_int_equal(fake->changes, PLAYER_CHANGE_OPTIONS);
	assert_wishes(fake, "");
	player_preset_crossfade(fake->player, 0);
	assert_wishes(fake, "");
	fake->overlaps = true;
	fake_destroy(fake);
}

/* None before there is one; what has been told is told once. */
static void
it_is_told_once(void **state)
{
	struct fake_engine *fake = create(0);

	(void)state;
	player_preset_crossfade(fake->player, FADE_S);
	assert_true(fake->overlaps);
	fake_insert(fake, 'a', 0);
	fake_insert(fake, 'b', 1);
	play_first(fake);
	fake_ready(fake, B1);
	assert_wishes(fake, "overlap b1 5, follow a1 b1");
	fake_insert(fake, 'c', 2);
	player_queue_changed(fake->player);
	player_set_consume(fake->player, PLAYER_ON);
	assert_wishes(fake, "");
	player_set_crossfade(fake->player, 60);
	assert_wishes(fake, "overlap b1 0");
	player_set_crossfade(fake->player, 50);
	assert_wishes(fake, "overlap b1 50");
	player_set_crossfade(fake->player, 0);
	assert_wishes(fake, "overlap b1 0");
	assert_false(fake->overlaps);
	fake_destroy(fake);
}

/* Another song comes between two of an album without numbers, and goes. */
static void
the_order_of_the_queue_tells(void **state)
{
	static const char *const tags[] = {"Album=x", NULL};
	struct fake_engine *fake = create(0);

	(void)state;
	player_set_crossfade(fake->player, FADE_S);
	fake_insert_tagged(fake, 'a', 0, tags);
	fake_insert_tagged(fake, 'b', 1, tags);
	play_first(fake);
	fake_ready(fake, B1);
	assert_wishes(fake, "follow a1 b1");
	player_set_random(fake->player, true);
	assert_wishes(fake, "overlap b1 5");
	player_set_random(fake->player, false);
	assert_wishes(fake, "overlap b1 0");
	fake_destroy(fake);
}

/* A skip goes over at once, and a seek begins anew. */
static void
commands_do_not_overlap(void **state)
{
	struct fake_engine *fake = create(0);

	(void)state;
	player_set_crossfade(fake->player, FADE_S);
	fake_insert(fake, 'a', 0);
	fake_insert(fake, 'b', 1);
	fake_insert(fake, 'c', 2);
	play_first(fake);
	fake_ready(fake, B1);
	assert_wishes(fake, "overlap b1 5, follow a1 b1");
	player_next(fake->player);
	assert_wishes(fake, "play b1, release a1, open c1");
	fake_started(fake, B1);
	fake_ready(fake, C1);
	assert_wishes(fake, "overlap c1 5, follow b1 c1");
	fake_destroy(fake);
}

/* The option counts until a command says otherwise, and that is kept. */
static void
the_command_wins_and_is_kept(void **state)
{
	struct fake_engine *fake = create(0);
	struct player_status status;
	struct player_saved saved;

	(void)state;
	player_preset_crossfade(fake->player, 3);
	player_get_saved(fake->player, &saved);
	assert_false(saved.has_crossfade);
	player_restore(fake->player, &saved);
	player_get_status(fake->player, &status);
	assert_int_equal(status.crossfade_s, 3);
	player_set_crossfade(fake->player, 0);
	player_get_saved(fake->player, &saved);
	assert_true(saved.has_crossfade);
	fake_destroy(fake);
	fake = create(0);
	player_preset_crossfade(fake->player, 3);
	player_restore(fake->player, &saved);
	player_get_status(fake->player, &status);
	assert_int_equal(status.crossfade_s, 0);
	assert_false(fake->overlaps);
	/* As long as it gets. */
	fake->length_ns = INT64_MAX;
	fake_insert(fake, 'a', 0);
	fake_insert(fake, 'b', 1);
	player_set_crossfade(fake->player, UINT32_MAX);
	play_first(fake);
	fake_ready(fake, B1);
	assert_wishes(fake, "overlap b1 4294967295, follow a1 b1");
	fake_destroy(fake);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_songs_overlap),
		cmocka_unit_test(both_songs_have_to_be_long),
		cmocka_unit_test(a_change_is_told_while_the_song_plays),
		cmocka_unit_test(it_is_told_once),
		cmocka_unit_test(the_order_of_the_queue_tells),
		cmocka_unit_test(commands_do_not_overlap),
		cmocka_unit_test(the_command_wins_and_is_kept),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_versions.c - a state.db of each format there ever was, as the daemon of
 * its time wrote it (versions/N.sql), is brought to ours with all that it
 * holds; and which outputs are enabled. */
#include "daemon/player/state_db.h"

#include "lib/base/log.h"
#include "tests/unit/player/saved_queue.h"

#include <sqlite3.h>

enum { VERSION = 5 };

static void
run_sql(const char *sql)
{
	char path[128];
	sqlite3 *sqlite;
	char *why = NULL;

	snprintf(path, sizeof(path), "%s/state.db", folder);
	assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
	if (sqlite3_exec(sqlite, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	assert_int_equal(sqlite3_close(sqlite), SQLITE_OK);
}

/* Makes a state.db of this format. */
static void
make_version(int version)
{
	char path[256];
	struct text sql = {0};
	FILE *file;
	int byte;

	snprintf(path, sizeof(path),
		 ROTARY_SOURCE "/tests/unit/player/versions/%d.sql", version);
	file = fopen(path, "r");
	assert_non_null(file);
	while ((byte = getc(file)) != EOF)
		text_add_char(&sql, (char)byte);
	fclose(file);
	run_sql(text_string(&sql));
	text_finish(&sql);
}

static int
read_number(const char *name, const char *sql)
{
	char path[128];
	sqlite3_stmt *statement;
	sqlite3 *sqlite;
	int number;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(
		sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READWRITE, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
	return number;
}

static const char *
tag_of(const struct song *song, enum tag wanted)
{
	const char *value;

	for (size_t i = 0; i < song_tag_count(song); i++)
		if (song_tag(song, i, &value) == wanted)
			return value;
	return "";
}

static void
assert_queue(const struct play_queue *queue)
{
	char name[16], title[16];

	assert_int_equal(play_queue_length(queue), 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct play_queue_item *item = play_queue_at(queue, i);

		snprintf(name, sizeof(name), "%u.flac", i + 1);
		snprintf(title, sizeof(title), "Song %u", i + 1);
		assert_string_equal(song_uri(item->song), name);
		assert_string_equal(tag_of(item->song, TAG_TITLE), title);
		assert_string_equal(tag_of(item->song, TAG_ARTIST),
				    "S\xc3\xb6meone");
		assert_int_equal(item->priority, i == 2 ? 7 : 0);
		assert_true(song_duration_ns(item->song) == 20 * NS_PER_S);
		assert_int_equal(song_spec(item->song)->rate_hz, 44100);
	}
}

static void
assert_player(const struct player_saved *saved, int64_t elapsed_ms)
{
	assert_int_equal(saved->volume, 42);
	assert_true(saved->repeat && !saved->random);
	assert_int_equal(saved->single, PLAYER_OFF);
	assert_int_equal(saved->consume, PLAYER_ON);
	assert_int_equal(saved->state, PLAYER_PAUSE);
	assert_int_equal(saved->song, 1);
	assert_true(saved->elapsed_ns == elapsed_ms * NS_PER_MS);
}

/* And what is saved then comes back as well. */
static void
assert_usable(struct state_db *db, const struct player_saved *saved)
{
	struct play_queue *queue = play_queue_create();
	struct state_image image = {
		.player = *saved,
		.outputs = {1, {{"Kitchen", false}}},
	};
	struct state_outputs outputs;
	struct player_saved again;

	image.player.has_replay_gain = true;
	image.player.replay_gain = REPLAY_GAIN_TRACK;
	image.player.mixramp_db = -17.5;
	image.player.mixramp_delay_s = 2.5;
	image.player.has_crossfade = true;
	image.player.crossfade_s = 7;
	assert_int_equal(state_db_save(db, &image), 0);
	state_db_close(db);
	db = open_db(false);
	assert_int_equal(state_db_load(db, queue, &again), 0);
	assert_int_equal(state_db_load_outputs(db, &outputs), 0);
	assert_queue(queue);
	assert_player(&again, saved->elapsed_ns / NS_PER_MS);
	assert_int_equal(again.replay_gain, REPLAY_GAIN_TRACK);
	assert_true(again.mixramp_db == -17.5);
	assert_true(again.mixramp_delay_s == 2.5);
	assert_true(again.has_crossfade);
	assert_int_equal(again.crossfade_s, 7);
	assert_int_equal(outputs.count, 1);
	assert_string_equal(outputs.at[0].name, "Kitchen");
	assert_false(outputs.at[0].enabled);
	state_db_close(db);
	play_queue_destroy(queue);
}

static void
upgrade_from(int version, struct player_saved *ret_saved)
{
	struct play_queue *queue = play_queue_create();
	struct state_outputs outputs = {.count = 9};
	struct state_db *db;

	make_version(version);
	assert_int_equal(read_number("state.db", "PRAGMA user_version"),
			 version);
	db = open_db(false);
	assert_int_equal(state_db_load(db, queue, ret_saved), 0);
	assert_int_equal(state_db_load_outputs(db, &outputs), 0);
	assert_int_equal(outputs.count, version < 3 ? 0 : 1);
	assert_true(ret_saved->mixramp_db == (version < 4 ? 0 : -3.5));
	assert_true(ret_saved->mixramp_delay_s == (version < 4 ? -1 : 1.5));
	assert_false(ret_saved->has_crossfade);
	assert_queue(queue);
	play_queue_destroy(queue);
	assert_usable(db, ret_saved);
	assert_int_equal(read_number("state.db", "PRAGMA user_version"),
			 VERSION);
	assert_int_equal(read_number("state.db", "PRAGMA application_id"),
			 1383035500);
}

static void
test_version_1(void **state)
{
	struct player_saved saved;

	(void)state;
	upgrade_from(1, &saved);
	assert_player(&saved, 7001);
	assert_false(saved.has_replay_gain);
}

static void
test_version_2(void **state)
{
	struct player_saved saved;

	(void)state;
	upgrade_from(2, &saved);
	assert_player(&saved, 7000);
	assert_true(saved.has_replay_gain);
	assert_int_equal(saved.replay_gain, REPLAY_GAIN_ALBUM);
}

static void
test_version_3(void **state)
{
	struct player_saved saved;

	(void)state;
	upgrade_from(3, &saved);
	assert_player(&saved, 7000);
	assert_true(saved.has_replay_gain);
	assert_int_equal(saved.replay_gain, REPLAY_GAIN_ALBUM);
}

static void
test_version_4(void **state)
{
	struct player_saved saved;

	(void)state;
	upgrade_from(4, &saved);
	assert_player(&saved, 7000);
	assert_true(saved.has_replay_gain);
	assert_int_equal(saved.replay_gain, REPLAY_GAIN_ALBUM);
}

/* One of a daemon to come is kept, and not touched. */
static void
test_version_to_come(void **state)
{
	struct state_db *db;

	(void)state;
	make_version(2);
	run_sql("PRAGMA user_version = 6");
	db = open_db(true);
	state_db_close(db);
	assert_int_equal(
		read_number("state.db.broken-1", "PRAGMA user_version"), 6);
	assert_int_equal(
		read_number("state.db.broken-1", "SELECT count(*) FROM queue"),
		3);
}

/* An upgrade that cannot be ends where it began. */
static void
test_upgrade_is_all_or_nothing(void **state)
{
	struct state_db *db;

	(void)state;
	make_version(1);
	run_sql("CREATE TABLE output(not_ours)");
	db = open_db(true);
	state_db_close(db);
	assert_int_equal(
		read_number("state.db.broken-1", "PRAGMA user_version"), 1);
	assert_int_equal(
		read_number("state.db.broken-1",
			    "SELECT count(*) FROM pragma_table_info('player')"
			    " WHERE name = 'replay_gain'"),
		0);
}

static void
test_outputs(void **state)
{
	struct state_image image = {
		.outputs = {3,
			    {{"alsa", true},
			     {"K\xc3\xbc\x63he '1'", false},
			     {"b", false}}},
	};
	struct state_outputs outputs;
	struct state_db *db = open_db(false);

	(void)state;
	assert_int_equal(state_db_save(db, &image), 0);
	/* A save without a word about them leaves them. */
	image.outputs.count = 0;
	assert_int_equal(state_db_save(db, &image), 0);
	assert_int_equal(state_db_load_outputs(db, &outputs), 0);
	assert_int_equal(outputs.count, 3);
	assert_string_equal(outputs.at[0].name, "K\xc3\xbc\x63he '1'");
	assert_string_equal(outputs.at[1].name, "alsa");
	assert_true(outputs.at[1].enabled && !outputs.at[0].enabled);
	/* One that has another name now is forgotten. */
	image.outputs = (struct state_outputs){1, {{"alsa", false}}};
	assert_int_equal(state_db_save(db, &image), 0);
	assert_int_equal(state_db_load_outputs(db, &outputs), 0);
	assert_int_equal(outputs.count, 1);
	assert_false(outputs.at[0].enabled);
	state_db_close(db);
	/* More of them, and longer names, than we ever write. */
	run_sql("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1"
		" FROM n WHERE i < 50) INSERT INTO output"
		" SELECT printf('%.*c', i * 3, 'x'), 0 FROM n");
	db = open_db(false);
	assert_int_equal(state_db_load_outputs(db, &outputs), 0);
	assert_int_equal(outputs.count, STATE_OUTPUTS_MAX);
	state_db_close(db);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FOLDER_TEST(test_version_1),
		FOLDER_TEST(test_version_2),
		FOLDER_TEST(test_version_3),
		FOLDER_TEST(test_version_4),
		FOLDER_TEST(test_version_to_come),
		FOLDER_TEST(test_upgrade_is_all_or_nothing),
		FOLDER_TEST(test_outputs),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state_rows.c - queue and options as rows of state.db.
 *
 * The queue is one row a position. A save writes the rows whose version is
 * newer than what was saved last, and cuts the tail; the options and the
 * position are one row of a table of their own, which fills one page. */
#include "daemon/player/state_db_parts.h"

#include "daemon/player/song_pack.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

static int
prepare(struct state_db *db, const char *sql, sqlite3_stmt **ret_statement)
{
	return state_db_check(db, sqlite3_prepare_v2(db->sqlite, sql, -1,
						     ret_statement, NULL));
}

/* reading */

static int
column_in(sqlite3_stmt *row, int column, int min, int max)
{
	const sqlite3_int64 value = sqlite3_column_int64(row, column);

	return value < min ? min : value > max ? max : (int)value;
}

static double
real_in(sqlite3_stmt *row, int column, double min, double max)
{
	const double value = sqlite3_column_double(row, column);

	return value > min ? value < max ? value : max : min;
}

static void
read_player(sqlite3_stmt *row, struct player_saved *ret_saved)
{
	const sqlite3_int64 song = sqlite3_column_int64(row, 6);
	const sqlite3_int64 elapsed_ms = sqlite3_column_int64(row, 7);
	const sqlite3_int64 crossfade_s = sqlite3_column_int64(row, 11);

	*ret_saved = (struct player_saved){
		.volume = (unsigned)column_in(row, 0, 0, 100),
		.repeat = column_in(row, 1, 0, 1) != 0,
		.random = column_in(row, 2, 0, 1) != 0,
		.single = (enum player_mode)column_in(row, 3, PLAYER_OFF,
						      PLAYER_ONESHOT),
		.consume = (enum player_mode)column_in(row, 4, PLAYER_OFF,
						       PLAYER_ONESHOT),
		.state = (enum player_state)column_in(row, 5, PLAYER_STOP,
						      PLAYER_PAUSE),
		.has_replay_gain = sqlite3_column_int64(row, 8) >= 0,
		.replay_gain = (enum replay_gain_mode)column_in(
			row, 8, REPLAY_GAIN_OFF, REPLAY_GAIN_AUTO),
		.mixramp_db = real_in(row, 9, -MIXRAMP_MAX, MIXRAMP_MAX),
		.mixramp_delay_s = real_in(row, 10, -1, MIXRAMP_MAX),
		.has_crossfade = crossfade_s >= 0 && crossfade_s <= UINT32_MAX,
		.crossfade_s = crossfade_s >= 0 && crossfade_s <= UINT32_MAX
				       ? (uint32_t)crossfade_s
				       : 0,
		.song = song >= 0 && song < QUEUE_SONGS_MAX ? song : -1,
		.elapsed_ns =
			elapsed_ms > 0 && elapsed_ms < INT64_MAX / NS_PER_MS
				? elapsed_ms * NS_PER_MS
				: 0,
	};
}

static int
load_player(struct state_db *db, struct player_saved *ret_saved)
{
	sqlite3_stmt *statement = NULL;
	int error = prepare(db,
			    "SELECT volume, repeat, random, single, consume,"
			    " state, song, elapsed_ms, replay_gain,"
			    " mixramp_db, mixramp_delay_s, crossfade_s"
			    " FROM player",
			    &statement);
	int result = 0;

	if (error == 0) {
		result = sqlite3_step(statement);
		error = state_db_check(db, result);
		if (result == SQLITE_ROW)
			read_player(statement, ret_saved);
		else if (error == 0)
			error = -ENOENT;
	}
	(void)sqlite3_finalize(statement);
	return error;
}

static int
load_row(sqlite3_stmt *row, struct play_queue *queue)
{
	const uint32_t position = play_queue_length(queue);
	const char *uri = (const char *)sqlite3_column_text(row, 0);
	const void *bytes = sqlite3_column_blob(row, 2);
	const size_t length = (size_t)sqlite3_column_bytes(row, 2);
	const uint8_t priority = (uint8_t)column_in(row, 1, 0, UINT8_MAX);
	struct song *song = NULL;
	int error = 0;

	if (uri == NULL || uri[0] == '\0')
		return -EUCLEAN;
	song = song_unpack(uri, bytes, length);
	if (song == NULL)
		return -ENOMEM;
	error = play_queue_insert(queue, position, song, 0, NULL);
	song_unref(song);
	if (error == 0 && priority > 0)
		error = play_queue_set_priority(queue, position, position + 1,
						priority);
	return error == -ENOSPC ? -EUCLEAN : error;
}

int
state_db_load(struct state_db *db, struct play_queue *queue,
	      struct player_saved *ret_saved)
{
	sqlite3_stmt *statement = NULL;
	int error = load_player(db, ret_saved);
	int result = SQLITE_ROW;

	if (error == 0)
		error = prepare(db,
				"SELECT uri, priority, song FROM queue"
				" ORDER BY position",
				&statement);
	while (error == 0 && result == SQLITE_ROW) {
		result = sqlite3_step(statement);
		error = result == SQLITE_ROW ? load_row(statement, queue)
					     : state_db_check(db, result);
	}
	(void)sqlite3_finalize(statement);
	return error;
}

int
state_db_load_outputs(struct state_db *db, struct state_outputs *ret_outputs)
{
	sqlite3_stmt *statement = NULL;
	int error = prepare(db, "SELECT name, enabled FROM output", &statement);
	int result = SQLITE_ROW;

	ret_outputs->count = 0;
	while (error == 0 && result == SQLITE_ROW &&
	       ret_outputs->count < STATE_OUTPUTS_MAX) {
		struct state_output *output =
			&ret_outputs->at[ret_outputs->count];
		const char *name = NULL;

		result = sqlite3_step(statement);
		error = state_db_check(db, result);
		if (result != SQLITE_ROW)
			break;
		name = (const char *)sqlite3_column_text(statement, 0);
		/* A longer one is none of ours. */
		if (name == NULL || strlen(name) >= STATE_NAME_MAX)
			continue;
		strcpy(output->name, name);
		output->enabled = sqlite3_column_int64(statement, 1) != 0;
		ret_outputs->count++;
	}
	(void)sqlite3_finalize(statement);
	return error;
}

/* writing */

static int
save_output(struct state_db *db, sqlite3_stmt *statement,
	    const struct state_output *output)
{
	int error =
		state_db_check(db, sqlite3_bind_text(statement, 1, output->name,
						     -1, SQLITE_STATIC));

	(void)sqlite3_bind_int(statement, 2, output->enabled);
	if (error == 0)
		error = state_db_check(db, sqlite3_step(statement));
	(void)sqlite3_reset(statement);
	return error;
}

/* All there are: what has another name now is forgotten. */
static int
save_outputs(struct state_db *db, const struct state_outputs *outputs)
{
	sqlite3_stmt *statement = NULL;
	int error = state_db_run(db, "DELETE FROM output");

	if (error == 0)
		error = prepare(db,
				"INSERT OR REPLACE INTO output VALUES(?, ?)",
				&statement);
	for (unsigned i = 0; error == 0 && i < outputs->count; i++)
		error = save_output(db, statement, &outputs->at[i]);
	(void)sqlite3_finalize(statement);
	return error;
}

static int
save_player(struct state_db *db, const struct player_saved *saved)
{
	sqlite3_stmt *statement = NULL;
	int error = prepare(db,
			    "INSERT OR REPLACE INTO player VALUES"
			    "(1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			    &statement);
	const int64_t values[] = {
		saved->volume,
		saved->repeat,
		saved->random,
		saved->single,
		saved->consume,
		saved->state,
		saved->song,
		saved->elapsed_ns / NS_PER_MS,
		saved->has_replay_gain ? (int64_t)saved->replay_gain : -1,
	};

	for (int i = 0; error == 0 && i < 9; i++)
		error = state_db_check(
			db, sqlite3_bind_int64(statement, i + 1, values[i]));
	if (error == 0)
		error = state_db_check(
			db,
			sqlite3_bind_double(statement, 10, saved->mixramp_db));
	if (error == 0)
		error = state_db_check(
			db, sqlite3_bind_double(statement, 11,
						saved->mixramp_delay_s));
	if (error == 0)
		error = state_db_check(
			db,
			sqlite3_bind_int64(statement, 12,
					   saved->has_crossfade
						   ? (int64_t)saved->crossfade_s
						   : -1));
	if (error == 0)
		error = state_db_check(db, sqlite3_step(statement));
	(void)sqlite3_finalize(statement);
	return error;
}

static int
save_row(struct state_db *db, sqlite3_stmt *statement, uint32_t position,
	 const struct play_queue_item *item, struct text *pack)
{
	int error = 0;

	text_clear(pack);
	song_pack(item->song, pack);
	if (pack->failed)
		return -ENOMEM;
	(void)sqlite3_bind_int64(statement, 1, position);
	error = state_db_check(db, sqlite3_bind_text(statement, 2,
						     song_uri(item->song), -1,
						     SQLITE_STATIC));
	(void)sqlite3_bind_int(statement, 3, item->priority);
	if (error == 0)
		error = state_db_check(
			db, sqlite3_bind_blob64(statement, 4, pack->bytes,
						pack->length, SQLITE_STATIC));
	if (error == 0)
		error = state_db_check(db, sqlite3_step(statement));
	(void)sqlite3_reset(statement);
	return error;
}

static int
save_rows(struct state_db *db, const struct state_image *image)
{
	const uint32_t length = play_queue_view_length(image->queue);
	sqlite3_stmt *statement = NULL;
	struct text pack = {0};
	int error =
		prepare(db, "INSERT OR REPLACE INTO queue VALUES(?, ?, ?, ?)",
			&statement);

	for (uint32_t i = 0; error == 0 && i < length; i++) {
		const struct play_queue_item *item =
			play_queue_view_at(image->queue, i);

		if (image->all || item->version > image->since_version)
			error = save_row(db, statement, i, item, &pack);
	}
	(void)sqlite3_finalize(statement);
	text_finish(&pack);
	return error;
}

static int
cut_tail(struct state_db *db, uint32_t length)
{
	sqlite3_stmt *statement = NULL;
	int error = prepare(db, "DELETE FROM queue WHERE position >= ?",
			    &statement);

	if (error == 0)
		error = state_db_check(
			db, sqlite3_bind_int64(statement, 1, length));
	if (error == 0)
		error = state_db_check(db, sqlite3_step(statement));
	(void)sqlite3_finalize(statement);
	return error;
}

int
state_db_save(struct state_db *db, const struct state_image *image)
{
	int error = state_db_run(db, "BEGIN IMMEDIATE");

	if (error == 0 && image->queue != NULL) {
		error = cut_tail(
			db,
			image->all ? 0 : play_queue_view_length(image->queue));
		if (error == 0)
			error = save_rows(db, image);
	}
	if (error == 0)
		error = save_player(db, &image->player);
	if (error == 0 && image->outputs.count > 0)
		error = save_outputs(db, &image->outputs);
	if (error == 0)
		error = state_db_run(db, "COMMIT");
	/* Whatever went wrong: not a transaction left open. */
	if (error < 0 && sqlite3_get_autocommit(db->sqlite) == 0)
		(void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

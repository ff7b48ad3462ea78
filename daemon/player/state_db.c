/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state_db.c - the file state.db.
 *
 * SQLite in WAL mode with synchronous = FULL: a commit appends the changed
 * pages to state.db-wal and syncs that one file; what was committed survives a
 * power cut, what was not is as if it had never been. The position's row alone
 * is one page, so a save of it is one page and one fsync.
 *
 * The file may be anything: empty, cut short, of another program. What SQLite
 * or the schema's version does not accept is moved aside with its -wal, never
 * deleted, and a new file is begun. -shm is only a cache of -wal. */
#include "daemon/player/state_db_parts.h"

#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SCHEMA_VERSION = 5,
	BUSY_MS = 2000,
	BROKEN_MAX = 100, /* files put aside; then the last is replaced */
};

static const char SCHEMA[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE queue(position INTEGER PRIMARY KEY, uri TEXT NOT NULL,"
	" priority INTEGER NOT NULL, song BLOB NOT NULL);"
	"CREATE TABLE player(id INTEGER PRIMARY KEY CHECK(id = 1),"
	" volume INTEGER NOT NULL, repeat INTEGER NOT NULL,"
	" random INTEGER NOT NULL, single INTEGER NOT NULL,"
	" consume INTEGER NOT NULL, state INTEGER NOT NULL,"
	" song INTEGER NOT NULL, elapsed_ms INTEGER NOT NULL,"
	" replay_gain INTEGER NOT NULL DEFAULT -1,"
	" mixramp_db REAL NOT NULL DEFAULT 0,"
	" mixramp_delay_s REAL NOT NULL DEFAULT -1,"
	" crossfade_s INTEGER NOT NULL DEFAULT -1);"
	"CREATE TABLE output(name TEXT PRIMARY KEY, enabled INTEGER NOT NULL)"
	" WITHOUT ROWID;"
	"PRAGMA application_id = 1383035500;"
	"PRAGMA user_version = 5;"
	"COMMIT;";

/* What each version lacks that the next one has; tests/unit/player/versions
 * holds a file of each. */
static const char *const UPGRADES[SCHEMA_VERSION] = {
	/* -1: the configuration's. */
	[1] = "ALTER TABLE player ADD COLUMN"
	      " replay_gain INTEGER NOT NULL DEFAULT -1;",
	[2] = "CREATE TABLE output(name TEXT PRIMARY KEY,"
	      " enabled INTEGER NOT NULL) WITHOUT ROWID;",
	/* -1: none. */
	[3] = "ALTER TABLE player ADD COLUMN"
	      " mixramp_db REAL NOT NULL DEFAULT 0;"
	      "ALTER TABLE player ADD COLUMN"
	      " mixramp_delay_s REAL NOT NULL DEFAULT -1;",
	[4] = "ALTER TABLE player ADD COLUMN"
	      " crossfade_s INTEGER NOT NULL DEFAULT -1;",
};

static int
error_of(int result)
{
	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* no such table or column */
	case SQLITE_SCHEMA:
	case SQLITE_MISMATCH:
	case SQLITE_CONSTRAINT:
	case SQLITE_TOOBIG:
		return -EUCLEAN;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

int
state_db_check(struct state_db *db, int result)
{
	const int error = error_of(result);

	if (error < 0)
		(void)snprintf(db->message, sizeof(db->message), "%s",
			       sqlite3_errmsg(db->sqlite));
	return error;
}

int
state_db_run(struct state_db *db, const char *sql)
{
	return state_db_check(db,
			      sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
}

const char *
state_db_message(const struct state_db *db)
{
	return db == NULL ? "" : db->message;
}

void
state_db_close(struct state_db *db)
{
	if (db == NULL)
		return;
	(void)sqlite3_close(db->sqlite);
	free(db);
}

static int
take_int(void *context, int count, char **values, char **names)
{
	int64_t *number = context;

	(void)names;
	if (count > 0 && values[0] != NULL &&
	    text_parse_int(values[0], INT32_MIN, INT32_MAX, number) < 0)
		*number = -1;
	return 0;
}

/* One transaction from version to ours. */
static int
upgrade(struct state_db *db, int64_t version)
{
	struct text sql = {0};
	int error = -ENOMEM;

	text_add(&sql, "BEGIN IMMEDIATE;");
	for (; version < SCHEMA_VERSION; version++)
		text_add(&sql, UPGRADES[version]);
	text_printf(&sql, "PRAGMA user_version = %d; COMMIT;", SCHEMA_VERSION);
	if (!sql.failed)
		error = state_db_run(db, sql.bytes);
	text_finish(&sql);
	if (error < 0 && sqlite3_get_autocommit(db->sqlite) == 0)
		(void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

/* Makes the tables, or checks that they are those of our version. */
static int
check_schema(struct state_db *db)
{
	int64_t version = 0;
	int64_t tables = 0;
	int error = 0;

	error = state_db_check(db,
			       sqlite3_exec(db->sqlite, "PRAGMA user_version",
					    take_int, &version, NULL));
	if (error == 0)
		error = state_db_check(
			db, sqlite3_exec(db->sqlite,
					 "SELECT count(*) FROM sqlite_schema",
					 take_int, &tables, NULL));
	if (error < 0)
		return error;
	if (version == 0 && tables == 0)
		return state_db_run(db, SCHEMA);
	if (version == SCHEMA_VERSION)
		return 0;
	if (version > 0 && version < SCHEMA_VERSION)
		return upgrade(db, version);
	(void)snprintf(db->message, sizeof(db->message),
		       "its format is number %d, not %d", (int)version,
		       SCHEMA_VERSION);
	return -EUCLEAN;
}

static int
open_path(const char *path, int flags, struct state_db **ret_db)
{
	struct state_db *db = calloc(1, sizeof(*db));
	int error = 0;

	if (db == NULL)
		return -ENOMEM;
	error = state_db_check(db, sqlite3_open_v2(path, &db->sqlite,
						   flags | SQLITE_OPEN_NOMUTEX,
						   NULL));
	*ret_db = db;
	if (error < 0)
		return error;
	(void)sqlite3_busy_timeout(db->sqlite, BUSY_MS);
	return state_db_run(db, "PRAGMA cache_size = -256;"
				"PRAGMA temp_store = MEMORY;");
}

static int
open_once(const char *folder, struct state_db **ret_db)
{
	struct text path = {0};
	int error = -ENOMEM;

	text_printf(&path, "%s/state.db", folder);
	if (!path.failed)
		error = open_path(path.bytes,
				  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
				  ret_db);
	text_finish(&path);
	/* Where the file system has no shared memory WAL is refused, and the
	 * rollback journal is as safe and only slower. */
	if (error == 0)
		error = state_db_run(*ret_db, "PRAGMA journal_mode = WAL;"
					      "PRAGMA synchronous = FULL;");
	return error == 0 ? check_schema(*ret_db) : error;
}

int
state_db_open(const char *folder, struct state_db **ret_db, bool *ret_new)
{
	struct state_db *db = NULL;
	int error = open_once(folder, &db);

	*ret_new = false;
	if (error == -EUCLEAN) {
		log_warn("state", "%s/state.db cannot be used: %s", folder,
			 state_db_message(db));
		state_db_close(db);
		db = NULL;
		state_db_put_aside(folder);
		*ret_new = true;
		error = open_once(folder, &db);
	}
	if (error < 0) {
		state_db_close(db);
		return error;
	}
	*ret_db = db;
	return 0;
}

int
state_db_open_frozen(const char *folder, struct state_db **ret_db)
{
	struct state_db *db = NULL;
	struct text path = {0};
	int error = -ENOMEM;

	/* immutable: reads without making -shm beside it. */
	text_add(&path, "file:");
	for (const char *i = folder; *i != '\0'; i++) {
		if (strchr("%?#", *i) != NULL)
			text_printf(&path, "%%%02X", (unsigned char)*i);
		else
			text_add_char(&path, *i);
	}
	text_add(&path, "/state.db?immutable=1");
	if (!path.failed)
		error = open_path(path.bytes,
				  SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, &db);
	text_finish(&path);
	if (error < 0) {
		state_db_close(db);
		return error;
	}
	*ret_db = db;
	return 0;
}

static void
move(const char *folder, const char *suffix, int number)
{
	struct text from = {0};
	struct text to = {0};

	text_printf(&from, "%s/state.db%s", folder, suffix);
	text_printf(&to, "%s/state.db.broken-%d%s", folder, number, suffix);
	if (!from.failed && !to.failed)
		(void)rename(from.bytes, to.bytes);
	text_finish(&from);
	text_finish(&to);
}

void
state_db_put_aside(const char *folder)
{
	struct text path = {0};
	int number = 0;
	bool taken = false;

	do {
		number++;
		text_clear(&path);
		text_printf(&path, "%s/state.db.broken-%d", folder, number);
		taken = !path.failed && access(path.bytes, F_OK) == 0;
	} while (taken && number < BROKEN_MAX);
	move(folder, "", number);
	move(folder, "-wal", number);
	move(folder, "-shm", number);
	log_warn("state", "it is kept as state.db.broken-%d; a new one begins",
		 number);
	text_finish(&path);
}

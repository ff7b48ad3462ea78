/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state_db_parts.h - what state_db.c and state_rows.c share. */
#ifndef ROTARY_PLAYER_STATE_DB_PARTS_H
#define ROTARY_PLAYER_STATE_DB_PARTS_H

#include "daemon/player/state_db.h"

#include <sqlite3.h>

struct state_db {
	sqlite3 *sqlite;
	char message[160];
};

/* Turns a result of SQLite into -errno and keeps its message; SQLITE_OK, ROW
 * and DONE give 0. */
NODISCARD int state_db_check(struct state_db *db, int result);
NODISCARD int state_db_run(struct state_db *db, const char *sql);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state_db.h - state.db: opening it, whatever is there; reading it; writing
 * what has changed.
 *
 * Threads: one at a time (main at start, then a worker). RT: MAY_BLOCK.
 * Errors: -EUCLEAN (the file is damaged, or not ours), -ENOSPC, -EROFS,
 * -EACCES, -EBUSY, -ENOMEM, -EIO. */
#ifndef ROTARY_PLAYER_STATE_DB_H
#define ROTARY_PLAYER_STATE_DB_H

#include "daemon/player/state.h"

struct state_db;

/* What a save writes. */
struct state_image {
	struct player_saved player;
	const struct play_queue_view *queue; /* NULL: as it was */
	/* Rows newer than this are written; with all, every row is. */
	uint32_t since_version;
	bool all;
	struct state_outputs outputs; /* count 0: as they were */
};

/* folder/state.db, made if there is none. A damaged one is moved to
 * state.db.broken-N and another begun (*ret_new is true then). */
NODISCARD int state_db_open(const char *folder, struct state_db **ret_db,
			    bool *ret_new);
/* The same for a folder that cannot be written: only to be loaded from. */
NODISCARD int state_db_open_frozen(const char *folder,
				   struct state_db **ret_db);
void state_db_close(struct state_db *db);
/* What SQLite said to the last call that failed. */
const char *state_db_message(const struct state_db *db);

/* Appends the rows to queue and fills ret_saved; -ENOENT: nothing was ever
 * saved. On -EUCLEAN what could be read has been. */
NODISCARD int state_db_load(struct state_db *db, struct play_queue *queue,
			    struct player_saved *ret_saved);
NODISCARD int state_db_load_outputs(struct state_db *db,
				    struct state_outputs *ret_outputs);
/* One transaction: all of it or nothing. */
NODISCARD int state_db_save(struct state_db *db,
			    const struct state_image *image);
/* Puts a damaged file aside. */
void state_db_put_aside(const char *folder);

#endif

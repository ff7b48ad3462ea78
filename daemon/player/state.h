/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state.h - keeps queue, options, outputs and position in state.db, so that
 * they survive a kill -9 or a power cut at any moment.
 *
 * SQLite in WAL mode with synchronous = FULL: one transaction, one fsync a
 * save. Table queue holds one row a position; a save writes only rows whose
 * version is newer than the last saved one and cuts the tail, so that the
 * position's own save each 10 s of play touches one page. Saves run on a
 * worker, one at a time, the latest wins; bursts within 1 s are joined. A
 * damaged file is put aside as state.db.broken-N and a new one begun, with a
 * line in the log. Where nothing can be written (read-only, full) a line says
 * so, playing goes on, and it is tried again each 30 s.
 * Threads: control; state_load() on main before the loop. */
#ifndef ROTARY_PLAYER_STATE_H
#define ROTARY_PLAYER_STATE_H

#include "daemon/player/player.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct state;
struct text;
struct work;

enum { STATE_OUTPUTS_MAX = 8, STATE_NAME_MAX = 64 };

/* Which outputs are enabled, by their names. */
struct state_output {
	char name[STATE_NAME_MAX];
	bool enabled;
};

struct state_outputs {
	unsigned count;
	struct state_output at[STATE_OUTPUTS_MAX];
};

/* Opens or makes folder/state.db and reads it into queue, which is empty, and
 * ret_saved (*ret_found false: nothing was saved). A folder that cannot be used
 * is no failure, see above. 0, -ENOMEM; ret_error says what to do. */
MAY_BLOCK NODISCARD int state_load(const char *folder, struct play_queue *queue,
				   struct player_saved *ret_saved,
				   bool *ret_found, struct state **ret_state,
				   struct text *ret_error);
/* From now on changes are saved. All three outlive state_finish(). */
void state_start(struct state *state, struct work *work,
		 struct play_queue *queue, struct player *player);
/* Something changed: it is saved within 1 s. changes: enum player_change. */
void state_changed(struct state *state, unsigned changes);
/* Those that there are now; saved when they are not what they were. Before
 * state_start() nothing is. */
void state_set_outputs(struct state *state,
		       const struct state_outputs *outputs);
/* As it was loaded or set; one that is not known is on. */
bool state_output_is_off(const struct state *state, const char *name);
/* Does what is due; returns when it wants to be called again (INT64_MAX:
 * never), which state_changed() and the end of a save may bring forward: ask
 * again before each wait. Saves the position each interval_ns of play. */
int64_t state_tick(struct state *state, int64_t now_ns, int64_t interval_ns);
/* True when all changes are in the file. */
bool state_is_saved(const struct state *state);
/* Saves what is unsaved, waiting at most wait_ns, and closes; before
 * work_destroy(). NULL is allowed. */
MAY_BLOCK void state_finish(struct state *state, int64_t wait_ns);

#endif

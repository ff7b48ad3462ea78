/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state_parts.h - what state.c and state_load.c share. */
#ifndef ROTARY_PLAYER_STATE_PARTS_H
#define ROTARY_PLAYER_STATE_PARTS_H

#include "daemon/player/state.h"
#include "daemon/player/state_db.h"
#include "daemon/work/work.h"

#define STATE_NEVER INT64_MAX

/* A save under way. */
struct save {
	struct work_job job;
	struct state *state;          /* NULL: the state is gone */
	char *folder;                 /* its own */
	struct state_db *db;          /* NULL: opened by the worker */
	struct play_queue_view *view; /* NULL: the queue has not changed */
	struct state_image image;
	bool last; /* close the database afterwards */
	int64_t since_ns;
};

struct state {
	char *folder;
	struct work *work;
	struct play_queue *queue;
	struct player *player;
	struct state_db *db; /* NULL: to be opened, or the save's */
	struct save *save;   /* NULL: idle */

	uint32_t saved_version; /* of the queue in the file */
	bool rewrite;           /* the file's rows are not known */
	struct player_saved saved;
	struct state_outputs outputs; /* as they were loaded or set */
	bool queue_changed;
	bool player_changed;
	bool outputs_changed;
	int64_t due_ns;
	int64_t position_due_ns;
	int64_t retry_ns; /* not before */
	bool failing;     /* the log has it */
	bool slow;
};

/* Says once that nothing is kept, and why. */
void state_complain(struct state *state, int error);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state_load.c - what was saved, at the start: from a file that can be written,
 * or at least read; a damaged one is put aside. Nothing that is wrong with it
 * keeps the player from starting. */
#include "daemon/player/state_parts.h"

#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the folder and those above it, as far as they are missing. */
static void
make_folders(const char *folder)
{
	char *path = strdup(folder);

	for (char *i = path; i != NULL; i = strchr(i + 1, '/')) {
		if (i == path)
			continue;
		*i = '\0';
		(void)mkdir(path, 0755);
		*i = '/';
	}
	if (path != NULL)
		(void)mkdir(path, 0700);
	free(path);
}

static const char *
advice(int error)
{
	switch (error) {
	case -ENOSPC:
		return "the disk is full";
	case -EROFS:
		return "it cannot be written to";
	case -EACCES:
		return "it cannot be opened; does the folder exist, and may "
		       "rotaryd write there?";
	case -EBUSY:
		return "another program holds it";
	case -ENOMEM:
		return "there is not enough memory";
	default:
		return "the disk does not work";
	}
}

void
state_complain(struct state *state, int error)
{
	if (state->failing)
		return;
	state->failing = true;
	log_warn("state",
		 "%s/state.db: %s; queue and position are not kept until it "
		 "works again",
		 state->folder, advice(error));
}

/* Opens the file for reading and writing, or else for reading only. */
static void
open_for_load(struct state *state, struct state_db **ret_frozen)
{
	bool is_new = false;
	int error = state_db_open(state->folder, &state->db, &is_new);

	state->rewrite = error < 0;
	if (error == 0)
		return;
	state_complain(state, error);
	if (state_db_open_frozen(state->folder, ret_frozen) < 0)
		*ret_frozen = NULL;
}

static int
load(struct state *state, struct play_queue *queue,
     struct player_saved *ret_saved, bool *ret_found)
{
	struct player_saved saved = {0};
	struct state_db *frozen = NULL;
	struct state_db *db = NULL;
	int error = -ENOENT;

	open_for_load(state, &frozen);
	db = state->db != NULL ? state->db : frozen;
	if (db != NULL)
		error = state_db_load(db, queue, &saved);
	if (db != NULL && state_db_load_outputs(db, &state->outputs) < 0)
		state->outputs.count = 0;
	*ret_found = error == 0 || play_queue_length(queue) > 0;
	if (error == -EUCLEAN && state->db != NULL) {
		log_warn("state", "%s/state.db is damaged: %s", state->folder,
			 state_db_message(db));
		state_db_close(state->db);
		state->db = NULL;
		state->rewrite = true;
		state_db_put_aside(state->folder);
	} else if (error < 0 && error != -ENOENT && error != -ENOMEM) {
		state_complain(state, error);
	}
	state_db_close(frozen);
	if (*ret_found)
		*ret_saved = saved;
	return error == -ENOMEM ? error : 0;
}

int
state_load(const char *folder, struct play_queue *queue,
	   struct player_saved *ret_saved, bool *ret_found,
	   struct state **ret_state, struct text *ret_error)
{
	struct state *state = calloc(1, sizeof(*state));
	int error = -ENOMEM;

	if (state != NULL)
		state->folder = strdup(folder);
	if (state != NULL && state->folder != NULL) {
		make_folders(folder);
		error = load(state, queue, ret_saved, ret_found);
	}
	if (error < 0) {
		text_printf(ret_error,
			    "there is not enough memory for the queue that was "
			    "saved in %s/state.db; to begin without it, move "
			    "that file away",
			    folder);
		if (state != NULL) {
			state_db_close(state->db);
			free(state->folder);
		}
		free(state);
		return error;
	}
	state->due_ns = STATE_NEVER;
	state->position_due_ns = STATE_NEVER;
	state->saved_version = play_queue_version(queue);
	*ret_state = state;
	return 0;
}

bool
state_output_is_off(const struct state *state, const char *name)
{
	unsigned i;

	for (i = 0; i < state->outputs.count; i++)
		if (strcmp(state->outputs.at[i].name, name) == 0)
			return !state->outputs.at[i].enabled;
	return false;
}

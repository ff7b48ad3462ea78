/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state.c - when to save, and what.
 *
 *   IDLE --change--> DUE (within 1 s) --tick--> SAVING --done--> IDLE or DUE
 *                                                  |
 *                                                  +-failed-> DUE (in 30 s)
 *
 * state_load.c loads. One save at a time. It gets a frozen copy of the queue,
 * the player's state, and the database connection, which is the worker's until
 * the save is done; what changes meanwhile is the next save's. A connection
 * that failed is closed by the worker, and the next save begins with a new one
 * and writes all rows, since nobody knows what the file holds then. The job is
 * of no domain: a disk that hangs keeps one worker and stops saving, nothing
 * else.
 *
 * At the end, if even the last save hangs, the job keeps what it works on and
 * is left behind with it. */
#include "daemon/player/state_parts.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static const int64_t JOIN_NS = 900 * NS_PER_MS;
static const int64_t RETRY_NS = 30 * NS_PER_S;
static const int64_t SLOW_NS = 10 * NS_PER_S;
static const int64_t NEVER = STATE_NEVER;

/* saving: on a worker */

static int
run_save(struct work_job *job)
{
	struct save *save = (struct save *)(void *)job;
	bool is_new = false;
	int error = 0;

	if (save->db == NULL)
		error = state_db_open(save->folder, &save->db, &is_new);
	if (error == 0)
		error = state_db_save(save->db, &save->image);
	if (error == -EUCLEAN)
		log_warn("state", "%s/state.db is damaged: %s", save->folder,
			 state_db_message(save->db));
	if (error < 0 || save->last) {
		state_db_close(save->db);
		save->db = NULL;
	}
	if (error == -EUCLEAN)
		state_db_put_aside(save->folder);
	return error;
}

/* Abandoned at the end of the program: the queue's frozen copy is control's to
 * give back, and control is gone. */
static void
orphan_save(struct work_job *job)
{
	struct save *save = (struct save *)(void *)job;

	state_db_close(save->db);
	free(save->folder);
	free(save);
}

/* saving: on control */

static void
save_failed(struct state *state, int error)
{
	const int64_t now_ns = clock_now_ns();

	state->rewrite = true;
	state->queue_changed = true;
	state->player_changed = true;
	state->outputs_changed = true;
	state->due_ns = now_ns;
	/* A damaged file is out of the way by now. */
	state->retry_ns = now_ns + (error == -EUCLEAN ? NS_PER_S : RETRY_NS);
	if (error != -EUCLEAN && error != -ECANCELED)
		state_complain(state, error);
}

static void
save_worked(struct state *state, const struct save *save)
{
	state->db = save->db;
	state->saved = save->image.player;
	if (save->view != NULL) {
		state->saved_version = play_queue_view_version(save->view);
		state->rewrite = false;
	}
	state->retry_ns = 0;
	if (state->failing || state->slow)
		log_info("state", "%s/state.db is kept again", state->folder);
	state->failing = false;
	state->slow = false;
}

static void
save_done(struct work_job *job, int result)
{
	struct save *save = (struct save *)(void *)job;
	struct state *state = save->state;

	if (state != NULL) {
		state->save = NULL;
		if (result == 0)
			save_worked(state, save);
		else
			save_failed(state, result);
	}
	if (result == -ETIMEDOUT)
		return; /* orphan_save() has it */
	if (state == NULL || result != 0)
		state_db_close(save->db);
	play_queue_view_unref(save->view);
	free(save->folder);
	free(save);
}

static const struct work_job_ops save_ops = {
	.run = run_save,
	.done = save_done,
	.orphan = orphan_save,
};

/* Copies what is to be written. False: no memory. */
static bool
fill(struct save *save, const struct state *state)
{
	const bool all =
		state->rewrite || state->db == NULL ||
		play_queue_version(state->queue) < state->saved_version;

	save->folder = strdup(state->folder);
	if (save->folder == NULL)
		return false;
	if (all || state->queue_changed) {
		save->view = play_queue_view(state->queue);
		if (save->view == NULL)
			return false;
	}
	player_get_saved(state->player, &save->image.player);
	if (all || state->outputs_changed)
		save->image.outputs = state->outputs;
	save->image.queue = save->view;
	save->image.since_version = state->saved_version;
	save->image.all = all;
	return true;
}

static void
begin(struct state *state, int64_t now_ns, bool last)
{
	struct save *save = calloc(1, sizeof(*save));

	if (save == NULL || !fill(save, state)) {
		if (save != NULL)
			free(save->folder);
		free(save);
		state->retry_ns = now_ns + NS_PER_S;
		return;
	}
	save->job.ops = &save_ops;
	save->job.what = "state";
	save->job.order = (uint64_t)(uintptr_t)state;
	save->state = state;
	save->db = state->db;
	save->last = last;
	save->since_ns = now_ns;
	state->db = NULL;
	state->save = save;
	state->queue_changed = false;
	state->player_changed = false;
	state->outputs_changed = false;
	state->due_ns = NEVER;
	work_submit(state->work, &save->job);
}

/* public */

void
state_start(struct state *state, struct work *work, struct play_queue *queue,
	    struct player *player)
{
	state->work = work;
	state->queue = queue;
	state->player = player;
	player_get_saved(player, &state->saved);
	if (state->rewrite)
		state_changed(state, PLAYER_CHANGE_QUEUE);
}

void
state_changed(struct state *state, unsigned changes)
{
	if ((changes & PLAYER_CHANGE_QUEUE) != 0)
		state->queue_changed = true;
	state->player_changed = true;
	if (state->due_ns == NEVER)
		state->due_ns = clock_now_ns() + JOIN_NS;
}

void
state_set_outputs(struct state *state, const struct state_outputs *outputs)
{
	bool changed = outputs->count != state->outputs.count;
	unsigned i;

	for (i = 0; i < outputs->count && !changed; i++) {
		const struct state_output *now = &outputs->at[i];
		const struct state_output *was = &state->outputs.at[i];

		changed = now->enabled != was->enabled ||
			  strcmp(now->name, was->name) != 0;
	}
	state->outputs = *outputs;
	if (!changed || state->work == NULL)
		return;
	state->outputs_changed = true;
	state_changed(state, 0);
}

bool
state_is_saved(const struct state *state)
{
	return state->save == NULL && !state->queue_changed &&
	       !state->player_changed && !state->outputs_changed;
}

static bool
same(const struct player_saved *a, const struct player_saved *b)
{
	return a->volume == b->volume && a->repeat == b->repeat &&
	       a->random == b->random && a->single == b->single &&
	       a->consume == b->consume && a->state == b->state &&
	       a->has_replay_gain == b->has_replay_gain &&
	       a->replay_gain == b->replay_gain &&
	       a->mixramp_db == b->mixramp_db &&
	       a->mixramp_delay_s == b->mixramp_delay_s && a->song == b->song &&
	       a->elapsed_ns == b->elapsed_ns;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
tick_saving(struct state *state, int64_t now_ns, bool playing)
{
	const int64_t slow_ns = state->save->since_ns + SLOW_NS;
	int64_t next_ns = NEVER;

	if (now_ns >= slow_ns && !state->slow) {
		state->slow = true;
		log_warn("state",
			 "%s/state.db: the disk has not answered for %d s; "
			 "queue and position are not kept until it does",
			 state->folder, (int)(SLOW_NS / NS_PER_S));
	}
	if (!state->slow)
		next_ns = slow_ns;
	if (state->player_changed || playing)
		next_ns = earlier(next_ns, now_ns + NS_PER_S);
	return next_ns;
}

int64_t
state_tick(struct state *state, int64_t now_ns, int64_t interval_ns)
{
	struct player_saved saved;
	bool playing = false;

	if (state->work == NULL)
		return NEVER;
	player_get_saved(state->player, &saved);
	playing = saved.state == PLAYER_PLAY;
	if (!playing) {
		state->position_due_ns = NEVER;
	} else if (state->position_due_ns == NEVER) {
		state->position_due_ns = now_ns + interval_ns;
	} else if (now_ns >= state->position_due_ns) {
		state->position_due_ns = now_ns + interval_ns;
		state->player_changed = true;
		state->due_ns = earlier(state->due_ns, now_ns);
	}
	if (state->save != NULL)
		return tick_saving(state, now_ns, playing);
	if (!state->queue_changed && !state->outputs_changed &&
	    !state->rewrite && same(&saved, &state->saved)) {
		state->player_changed = false;
		state->due_ns = NEVER;
	}
	if (now_ns >= state->due_ns && now_ns >= state->retry_ns) {
		begin(state, now_ns, false);
		if (playing)
			state->position_due_ns = now_ns + interval_ns;
		if (state->save != NULL)
			return tick_saving(state, now_ns, playing);
	}
	if (state->due_ns == NEVER)
		return state->position_due_ns;
	return earlier(state->due_ns > state->retry_ns ? state->due_ns
						       : state->retry_ns,
		       state->position_due_ns);
}

static void
wait_for_save(struct state *state, int64_t deadline_ns)
{
	struct pollfd event = {
		.fd = work_event_fd(state->work),
		.events = POLLIN,
	};

	while (state->save != NULL) {
		const int64_t left_ns = deadline_ns - clock_now_ns();

		if (left_ns <= 0)
			return;
		(void)poll(&event, 1, (int)(left_ns / NS_PER_MS) + 1);
		work_dispatch(state->work);
	}
}

void
state_finish(struct state *state, int64_t wait_ns)
{
	const int64_t deadline_ns = clock_now_ns() + wait_ns;

	if (state == NULL)
		return;
	if (state->work != NULL) {
		wait_for_save(state, deadline_ns);
		if (state->save == NULL)
			begin(state, clock_now_ns(), true);
		wait_for_save(state, deadline_ns);
	}
	if (state->save != NULL) {
		log_warn("state",
			 "%s/state.db: the disk does not answer; the last "
			 "changes are not kept",
			 state->folder);
		state->save->state = NULL;
	}
	state_db_close(state->db);
	free(state->folder);
	free(state);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue_edit.c - commands that change the queue's order and contents, but for
 * adding, which reads files (add.c). */
#include "daemon/server/groups.h"

#include "daemon/player/player.h"
#include "daemon/server/args.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <sys/random.h>

static struct play_queue *
queue_of(const struct session *session)
{
	return session->server->links.queue;
}

/* Ends every command that has changed the queue, or could not. */
static enum command_result
changed(struct session *session, int r)
{
	if (r == 0)
		player_queue_changed(session->server->links.player);
	return arg_queue_result(session, r);
}

enum command_result
queue_clear(struct session *session, const struct request *request)
{
	(void)request;
	play_queue_clear(queue_of(session));
	return changed(session, 0);
}

enum command_result
queue_delete(struct session *session, const struct request *request)
{
	const uint32_t length = play_queue_length(queue_of(session));
	const char *text = request->args[0];
	struct range range;

	if (!arg_range(session, text, &range))
		return COMMAND_ERROR;
	if (range.from > length)
		return session_ack(session, ACK_ARGUMENT, "Bad song index");
	if (range.to > length)
		range.to = length;
	if (range.from == range.to)
		return COMMAND_OK;
	return changed(session, play_queue_delete(queue_of(session), range.from,
						  range.to));
}

enum command_result
queue_deleteid(struct session *session, const struct request *request)
{
	uint32_t position = 0;

	if (!arg_song_id(session, request->args[0], &position))
		return COMMAND_ERROR;
	return changed(session, play_queue_delete(queue_of(session), position,
						  position + 1));
}

static enum command_result
move(struct session *session, const struct range *range, const char *to)
{
	uint32_t target = 0;

	if (!arg_move_target(session, to, range, &target))
		return COMMAND_ERROR;
	if (range->from == range->to || target == range->from)
		return COMMAND_OK;
	return changed(session, play_queue_move(queue_of(session), range->from,
						range->to, target));
}

enum command_result
queue_move(struct session *session, const struct request *request)
{
	struct range range;

	if (!arg_range(session, request->args[0], &range))
		return COMMAND_ERROR;
	if (range.to == RANGE_OPEN)
		return session_ack(session, ACK_ARGUMENT,
				   "Open-ended range not supported");
	if (range.to > play_queue_length(queue_of(session)))
		return session_ack(session, ACK_ARGUMENT, "Bad song index");
	return move(session, &range, request->args[1]);
}

enum command_result
queue_moveid(struct session *session, const struct request *request)
{
	struct range range;

	if (!arg_song_id(session, request->args[0], &range.from))
		return COMMAND_ERROR;
	range.to = range.from + 1;
	return move(session, &range, request->args[1]);
}

enum command_result
queue_swap(struct session *session, const struct request *request)
{
	uint32_t a = 0, b = 0;

	if (!arg_unsigned(session, request->args[0], INT32_MAX, &a) ||
	    !arg_unsigned(session, request->args[1], INT32_MAX, &b))
		return COMMAND_ERROR;
	return changed(session, play_queue_swap(queue_of(session), a, b));
}

enum command_result
queue_swapid(struct session *session, const struct request *request)
{
	uint32_t a = 0, b = 0;

	if (!arg_song_id(session, request->args[0], &a) ||
	    !arg_song_id(session, request->args[1], &b))
		return COMMAND_ERROR;
	return changed(session, play_queue_swap(queue_of(session), a, b));
}

/* splitmix64, multiplied down: good enough to mix songs. */
static uint32_t
random_below(void *context, uint32_t below)
{
	uint64_t *state = context;
	uint64_t z = 0;

	*state += UINT64_C(0x9E3779B97F4A7C15);
	z = *state;
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	z ^= z >> 31;
	return (uint32_t)(((z >> 32) * below) >> 32);
}

/* The song that plays goes to the front of the range, if it lies in there, and
 * stays: all others are still to come. 0, or -errno of the queue. */
static int
keep_current(struct session *session, struct range *range)
{
	struct player_status status;

	player_get_status(session->server->links.player, &status);
	if (status.state == PLAYER_STOP || status.song < range->from ||
	    status.song >= range->to)
		return 0;
	return play_queue_swap(queue_of(session), range->from++,
			       (uint32_t)status.song);
}

enum command_result
queue_shuffle(struct session *session, const struct request *request)
{
	struct range range = {0, play_queue_length(queue_of(session))};
	uint64_t seed = 0;
	int error = 0;

	if (request->count > 0 &&
	    !arg_queue_range(session, request->args[0], &range))
		return COMMAND_ERROR;
	if (range.to - range.from < 2)
		return COMMAND_OK;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint64_t)clock_now_ns();
	error = keep_current(session, &range);
	if (error == 0)
		error = play_queue_shuffle(queue_of(session), range.from,
					   range.to, random_below, &seed);
	return changed(session, error);
}

enum command_result
queue_prio(struct session *session, const struct request *request)
{
	const uint32_t length = play_queue_length(queue_of(session));
	uint32_t priority = 0;
	size_t i = 0;
	int r = 0;

	if (!arg_unsigned(session, request->args[0], UINT8_MAX, &priority))
		return COMMAND_ERROR;
	for (i = 1; i < request->count && r == 0; i++) {
		struct range range;

		if (!arg_range(session, request->args[i], &range))
			return COMMAND_ERROR;
		if (range.from >= length)
			return arg_queue_result(session, -ERANGE);
		if (range.to > length)
			range.to = length;
		r = play_queue_set_priority(queue_of(session), range.from,
					    range.to, (uint8_t)priority);
		if (r == 0)
			player_queue_changed(session->server->links.player);
	}
	return arg_queue_result(session, r);
}

enum command_result
queue_prioid(struct session *session, const struct request *request)
{
	uint32_t priority = 0, position = 0;
	size_t i = 0;
	int r = 0;

	if (!arg_unsigned(session, request->args[0], UINT8_MAX, &priority))
		return COMMAND_ERROR;
	for (i = 1; i < request->count && r == 0; i++) {
		if (!arg_song_id(session, request->args[i], &position))
			return COMMAND_ERROR;
		r = play_queue_set_priority(queue_of(session), position,
					    position + 1, (uint8_t)priority);
		if (r == 0)
			player_queue_changed(session->server->links.player);
	}
	return arg_queue_result(session, r);
}

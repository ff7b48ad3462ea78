/* SPDX-License-Identifier: GPL-3.0-or-later */
/* args.c - numbers, ranges, times and places of the queue, as clients write
 * them.
 *
 * Relative places count from the current song, which a stopped player may still
 * have. In a move they count in the queue without the moved songs, and every
 * result from 0 to its length is a legal one. */
#include "daemon/server/args.h"

#include "daemon/player/player.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Which strtol() passes over, and with it MPD. */
static const char white_space[] = " \t\n\v\f\r";

/* Digits to a number, saturated; returns what follows them, text if none. */
static const char *
take_digits(const char *text, int64_t *ret_value)
{
	int64_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		if (value <= INT64_MAX / 10 - 1)
			value = value * 10 + (*text - '0');
	*ret_value = value;
	return text;
}

static const char *
take_int(const char *text, int64_t *ret_value)
{
	const char *sign = text + strspn(text, white_space);
	const bool negative = *sign == '-';
	const char *digits = *sign == '-' || *sign == '+' ? sign + 1 : sign;
	const char *end = take_digits(digits, ret_value);

	if (end == digits)
		return text;
	if (negative)
		*ret_value = -*ret_value;
	return end;
}

bool
arg_int(struct session *session, const char *text, int64_t min, int64_t max,
	int64_t *ret_value)
{
	int64_t value = 0;
	const char *end = take_int(text, &value);

	if (end == text || *end != '\0') {
		session_ack(session, ACK_ARGUMENT, "Integer expected: %s",
			    text);
		return false;
	}
	if (value < min || value > max) {
		session_ack(session, ACK_ARGUMENT, "Number too large: %s",
			    text);
		return false;
	}
	*ret_value = value;
	return true;
}

bool
arg_unsigned(struct session *session, const char *text, uint32_t max,
	     uint32_t *ret_value)
{
	int64_t value = 0;

	if (!arg_int(session, text, 0, max, &value))
		return false;
	*ret_value = (uint32_t)value;
	return true;
}

bool
arg_bool(struct session *session, const char *text, bool *ret_value)
{
	int64_t value = 0;
	const char *end = take_int(text, &value);

	if (end == text || *end != '\0' || value < 0 || value > 1) {
		session_ack(session, ACK_ARGUMENT, "Boolean (0/1) expected: %s",
			    text);
		return false;
	}
	*ret_value = value == 1;
	return true;
}

bool
arg_real(struct session *session, const char *text, double max,
	 double *ret_value)
{
	double value = 0.0;
	const int error = text_parse_double(text, &value);

	if (error < 0 && error != -ERANGE) {
		session_ack(session, ACK_ARGUMENT, "Float expected: %s", text);
		return false;
	}
	if (error < 0 || fabs(value) > max) {
		session_ack(session, ACK_ARGUMENT, "Number too large: %s",
			    text);
		return false;
	}
	*ret_value = value;
	return true;
}

bool
arg_seconds_signed(struct session *session, const char *text, int64_t *ret_ns,
		   bool *ret_relative)
{
	double seconds = 0.0;

	/* A sign is ours to read: "+-1" is no number. */
	if (text_parse_double(text + (*text == '+'), &seconds) < 0 ||
	    (*text == '+' && text[1] == '-') || !isfinite(seconds)) {
		session_ack(session, ACK_ARGUMENT, "Float expected: %s", text);
		return false;
	}
	if (fabs(seconds) > 1e9) {
		session_ack(session, ACK_ARGUMENT, "Number too large: %s",
			    text);
		return false;
	}
	*ret_ns = (int64_t)llround(seconds * 1e9);
	*ret_relative = *text == '+' || *text == '-';
	return true;
}

bool
arg_seconds(struct session *session, const char *text, int64_t *ret_ns)
{
	bool relative = false;
	int64_t ns = 0;

	if (!arg_seconds_signed(session, text, &ns, &relative))
		return false;
	if (ns < 0) {
		session_ack(session, ACK_ARGUMENT,
			    "Negative value not allowed: %s", text);
		return false;
	}
	*ret_ns = ns;
	return true;
}

static bool
range_number(struct session *session, const char *text, int64_t value,
	     uint32_t *ret_value)
{
	if (value < 0) {
		session_ack(session, ACK_ARGUMENT, "Number is negative: %s",
			    text);
		return false;
	}
	if (value >= INT32_MAX) {
		session_ack(session, ACK_ARGUMENT, "Number too large: %s",
			    text);
		return false;
	}
	*ret_value = (uint32_t)value;
	return true;
}

static bool
range_expected(struct session *session, const char *text)
{
	session_ack(session, ACK_ARGUMENT, "Integer or range expected: %s",
		    text);
	return false;
}

bool
arg_range(struct session *session, const char *text, struct range *ret_range)
{
	struct range range;
	int64_t value = 0;
	const char *end = take_int(text, &value);
	const char *second = NULL;

	if (end == text || (*end != '\0' && *end != ':'))
		return range_expected(session, text);
	if (value == -1 && *end == '\0') {
		*ret_range = (struct range){0, RANGE_OPEN};
		return true;
	}
	if (!range_number(session, text, value, &range.from))
		return false;
	range.to = range.from + 1;
	if (*end == ':' && end[1] == '\0') {
		range.to = RANGE_OPEN;
	} else if (*end == ':') {
		second = end + 1;
		end = take_int(second, &value);
		if (end == second || *end != '\0')
			return range_expected(session, text);
		if (!range_number(session, text, value, &range.to))
			return false;
	}
	if (range.to < range.from) {
		session_ack(session, ACK_ARGUMENT, "Malformed range: %s", text);
		return false;
	}
	*ret_range = range;
	return true;
}

bool
arg_queue_range(struct session *session, const char *text,
		struct range *ret_range)
{
	const uint32_t length = play_queue_length(session->server->links.queue);
	struct range range;

	if (!arg_range(session, text, &range))
		return false;
	if (range.from > length) {
		session_ack(session, ACK_ARGUMENT, "Bad song index");
		return false;
	}
	if (range.to > length)
		range.to = length;
	*ret_range = range;
	return true;
}

bool
arg_song_id(struct session *session, const char *text, uint32_t *ret_position)
{
	int64_t position = 0;
	uint32_t id = 0;

	if (!arg_unsigned(session, text, INT32_MAX, &id))
		return false;
	position = play_queue_find(session->server->links.queue, id);
	if (position < 0) {
		session_ack(session, ACK_NO_EXIST, "No such song");
		return false;
	}
	*ret_position = (uint32_t)position;
	return true;
}

static bool
current_song(struct session *session, uint32_t *ret_position)
{
	struct player_status status;

	player_get_status(session->server->links.player, &status);
	if (status.song < 0) {
		session_ack(session, ACK_PLAYER_SYNC, "No current song");
		return false;
	}
	*ret_position = (uint32_t)status.song;
	return true;
}

/* "+N", "-N" from current in a queue of length songs, or an absolute place. */
static bool
arg_place(struct session *session, const char *text, uint32_t current,
	  uint32_t length, uint32_t *ret_place)
{
	uint32_t steps = 0;

	if (*text == '+') {
		if (!arg_unsigned(session, text + 1, length - current - 1,
				  &steps))
			return false;
		*ret_place = current + 1 + steps;
		return true;
	}
	if (!arg_unsigned(session, text + 1, current, &steps))
		return false;
	*ret_place = current - steps;
	return true;
}

bool
arg_insert_position(struct session *session, const char *text,
		    uint32_t *ret_position)
{
	const uint32_t length = play_queue_length(session->server->links.queue);
	uint32_t current = 0;

	if (*text != '+' && *text != '-')
		return arg_unsigned(session, text, length, ret_position);
	return current_song(session, &current) &&
	       arg_place(session, text, current, length, ret_position);
}

bool
arg_move_target(struct session *session, const char *text,
		const struct range *moved, uint32_t *ret_target)
{
	const uint32_t count = moved->to - moved->from;
	const uint32_t length =
		play_queue_length(session->server->links.queue) - count;
	uint32_t current = 0;

	if (*text != '+' && *text != '-') {
		int64_t target = 0;

		if (!arg_int(session, text, 0, INT32_MAX, &target))
			return false;
		if (target > length) {
			session_ack(session, ACK_ARGUMENT, "Bad song index");
			return false;
		}
		*ret_target = (uint32_t)target;
		return true;
	}
	if (!current_song(session, &current))
		return false;
	if (current >= moved->from && current < moved->to) {
		session_ack(session, ACK_ARGUMENT,
			    "Cannot move current song relative to itself");
		return false;
	}
	if (current >= moved->to)
		current -= count;
	return arg_place(session, text, current, length, ret_target);
}

enum command_result
arg_queue_result(struct session *session, int error)
{
	switch (error) {
	case 0:
		return COMMAND_OK;
	case -ENOENT:
		return session_ack(session, ACK_NO_EXIST, "No such song");
	case -ERANGE:
	case -EINVAL:
		return session_ack(session, ACK_ARGUMENT, "Bad song index");
	case -ENOSPC:
		return session_ack(session, ACK_FULL, "Playlist is too large");
	case -ESRCH:
		return session_ack(session, ACK_PLAYER_SYNC, "Not playing");
	case -ENOMEM:
		return session_no_memory(session);
	default:
		return session_ack(session, ACK_SYSTEM, "%s",
				   text_of_error(error));
	}
}

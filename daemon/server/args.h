/* SPDX-License-Identifier: GPL-3.0-or-later */
/* args.h - reads the arguments of commands. Each function writes the ACK and
 * returns false when the argument is not what it should be: then the handler
 * returns COMMAND_ERROR.
 *
 * Threads: control. */
#ifndef ROTARY_SERVER_ARGS_H
#define ROTARY_SERVER_ARGS_H

#include "daemon/server/command.h"
#include "lib/base/attr.h"

#include <stdbool.h>

/* Half open; from <= to. */
struct range {
	uint32_t from;
	uint32_t to; /* RANGE_OPEN: to the end */
};
#define RANGE_OPEN UINT32_MAX

bool arg_int(struct session *session, const char *text, int64_t min,
	     int64_t max, int64_t *ret_value);
bool arg_unsigned(struct session *session, const char *text, uint32_t max,
		  uint32_t *ret_value);
bool arg_bool(struct session *session, const char *text, bool *ret_value);
/* Of this size at most, with either sign. */
bool arg_real(struct session *session, const char *text, double max,
	      double *ret_value);
/* Seconds with a fraction, not negative. */
bool arg_seconds(struct session *session, const char *text, int64_t *ret_ns);
/* The same with a sign, which makes it relative. */
bool arg_seconds_signed(struct session *session, const char *text,
			int64_t *ret_ns, bool *ret_relative);
/* "A", "A:B", "A:", "-1" (all). */
bool arg_range(struct session *session, const char *text,
	       struct range *ret_range);
/* The range cut at the queue's end; ACK when it begins behind it. */
bool arg_queue_range(struct session *session, const char *text,
		     struct range *ret_range);
/* The position of the song with this id. */
bool arg_song_id(struct session *session, const char *text,
		 uint32_t *ret_position);
/* Where to insert: absolute, or "+N" behind, "-N" before the current song. */
bool arg_insert_position(struct session *session, const char *text,
			 uint32_t *ret_position);
/* Where the first song of moved shall stand afterwards. */
bool arg_move_target(struct session *session, const char *text,
		     const struct range *moved, uint32_t *ret_target);
/* What a -errno of queue or player means to a client. 0 is COMMAND_OK. */
enum command_result arg_queue_result(struct session *session, int error);

#endif

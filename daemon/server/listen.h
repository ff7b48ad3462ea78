/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listen.h - the socket that clients connect to.
 *
 * A socket file that nobody answers at is taken over; one with a daemon behind
 * it is left alone. With socket activation the descriptor is given to us, and
 * its file is not ours to remove. Running out of descriptors never spins: one
 * is kept in reserve, with which the newcomer is told and closed.
 * Threads: control. */
#ifndef ROTARY_SERVER_LISTEN_H
#define ROTARY_SERVER_LISTEN_H

#include "lib/base/attr.h"

struct listener;
struct server;
struct text;

/* 0, -EADDRINUSE (a daemon answers there), -ENAMETOOLONG, -EPERM (the folder is
 * not ours), -errno; ret_error: one sentence with the next step. */
NODISCARD int listener_create(struct server *server, const char *path,
			      struct listener **ret_listener,
			      struct text *ret_error);
/* Removes the socket file if it is ours. */
void listener_destroy(struct listener *listener);

#endif

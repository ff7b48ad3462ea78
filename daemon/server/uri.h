/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uri.h - URIs as clients name them, and what is said when they lead nowhere.
 * Threads: control. */
#ifndef ROTARY_SERVER_URI_H
#define ROTARY_SERVER_URI_H

#include "daemon/server/command.h"
#include "lib/base/attr.h"

struct session;

/* A copy to be freed: "" and "/" are the music folder; absolute paths and
 * file:// only on the local socket. NULL: the ACK was written. missing: what
 * to call a name that cannot be one of ours, "No such directory". */
NODISCARD char *uri_argument(struct session *session, const char *text,
			     const char *missing);
/* Says what a -errno of a walk means. */
enum command_result uri_ack(struct session *session, int error,
			    const char *missing);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link.h - a connection to a daemon that never waits: for programs with a loop
 * of their own. Whoever has the link polls its descriptor, writes lines into
 * it and takes lines out of it; what an answer is, the caller knows.
 *
 * Threads: one. RT: MAY_BLOCK: opening a socket file does not wait, a host is
 * connected to for at most a second (its name may take longer to look up).
 * Errors: -errno; after one the link is of no more use.
 * Overload: LINK_OUT_MAX bytes that the daemon has not taken: -ENOBUFS. */
#ifndef ROTARY_CLIENT_LINK_H
#define ROTARY_CLIENT_LINK_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct link;
struct text;

enum { LINK_OUT_MAX = 64 * 1024, LINK_LINE_MAX = 64 * 1024 };

/* where as for client_connect(). ret_error: one sentence. */
NODISCARD int link_open(const char *where, struct link **ret_link,
			struct text *ret_error);
void link_close(struct link *link);

int link_fd(const struct link *link);
/* What to poll for. */
short link_events(const struct link *link);
const char *link_where(const struct link *link);

/* Keeps line, and a newline, until link_flush(). -EINVAL: it holds one. */
NODISCARD int link_write(struct link *link, const char *line);
/* Sends what it can. */
NODISCARD int link_flush(struct link *link);

/* Receives what is there. -ECONNRESET: the daemon hung up. */
NODISCARD int link_receive(struct link *link);
/* The next line, valid until the next call: 1; 0: no whole line is there;
 * -EBADMSG: a line too long. */
NODISCARD int link_next(struct link *link, const char **ret_line);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.h - where a daemon may be: a socket file, or host and port. Inside of
 * lib/client. Errors: -errno as listed. */
#ifndef ROTARY_CLIENT_PLACE_H
#define ROTARY_CLIENT_PLACE_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

enum { PLACE_NAME_BYTES = 256, PLACE_PORT_BYTES = 8 };

struct place {
	bool is_socket;
	char name[PLACE_NAME_BYTES]; /* the file, or the host */
	char port[PLACE_PORT_BYTES];
};

/* PATH (with a '/'), HOST, HOST:PORT, [ADDRESS]:PORT. 0, -EINVAL. */
NODISCARD int place_parse(const char *where, struct place *ret_place);

/* As a user writes it. */
void place_add(struct text *text, const struct place *place);

/* Connects, waiting at most timeout_ns for each address. 0, -errno; -EPERM: a
 * socket below /tmp in a folder that is not this user's own. */
NODISCARD int place_connect(const struct place *place, int64_t timeout_ns,
			    int *ret_fd);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listening.h - for tests that are what the remote speaks to: a socket of
 * theirs, in a folder of its own. */
#ifndef ROTARY_TEST_MONITOR_LISTENING_H
#define ROTARY_TEST_MONITOR_LISTENING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/rotary-peer-XXXXXX";
static char path[64]; /* of the socket */
static int listening;

static inline int
open_socket(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/s", folder);
	strcpy(address.sun_path, path);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(listening, (struct sockaddr *)&address, sizeof(address)) ||
	       listen(listening, 4);
}

static inline int
close_socket(void **state)
{
	(void)state;
	close(listening);
	unlink(path);
	return rmdir(folder);
}

#endif

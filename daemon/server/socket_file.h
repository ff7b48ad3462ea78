/* SPDX-License-Identifier: GPL-3.0-or-later */
/* socket_file.h - a listening Unix socket with a name in the file system.
 *
 * Threads: any, at the start and the end of the program. RT: MAY_BLOCK. */
#ifndef ROTARY_SERVER_SOCKET_FILE_H
#define ROTARY_SERVER_SOCKET_FILE_H

#include "lib/base/attr.h"

#include <sys/types.h>

struct text;

struct socket_file {
	int fd; /* -1: closed */
	char *path;
	dev_t device; /* of the file that we made */
	ino_t inode;
};

/* Makes the folder if there is none (0700, the system's daemon 0755), takes
 * over a file that nobody answers at, and listens, non-blocking. 0,
 * -ENAMETOOLONG, -EPERM (the folder is somebody else's), -EADDRINUSE (a daemon
 * answers), -EEXIST (the file is no socket), -errno. */
MAY_BLOCK NODISCARD int socket_file_open(struct socket_file *file,
					 const char *path,
					 struct text *ret_error);
/* Removes the file if it is still the one that we made. */
MAY_BLOCK void socket_file_close(struct socket_file *file);

#endif

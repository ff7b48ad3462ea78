/* SPDX-License-Identifier: GPL-3.0-or-later */
/* socket_file.c - the name under which clients find us.
 *
 * A file left behind by a daemon that was killed refuses connections; one with
 * a daemon behind it takes them (or has its queue full). Only the first kind is
 * removed. Two daemons that start at once would each remove what the other has
 * just made, so the folder is locked from the look to the listen.
 * The folder must belong to us or to root, so that nobody else can put a
 * socket of his in our place; where everyone may write, only with the sticky
 * bit. The file is given its mode before listen(): until then nobody gets in.
 */
#include "daemon/server/socket_file.h"

#include "lib/base/places.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128, PATH_BYTES_MAX = 107 };

static int
check_folder(int folder_fd, const char *folder, struct text *ret_error)
{
	struct stat status;

	if (fstat(folder_fd, &status) < 0)
		return -errno;
	if (status.st_uid != geteuid() && status.st_uid != 0) {
		text_printf(ret_error,
			    "the folder %s belongs to another user: remove "
			    "it, or choose another place with --socket",
			    folder);
		return -EPERM;
	}
	if ((status.st_mode & S_IWOTH) != 0 &&
	    (status.st_mode & S_ISVTX) == 0) {
		text_printf(ret_error,
			    "everyone may write to the folder %s: take that "
			    "right away with chmod o-w, or choose another "
			    "place with --socket",
			    folder);
		return -EPERM;
	}
	return 0;
}

/* Makes and opens the folder. */
static int
open_folder(const char *path, struct text *ret_error)
{
	const char *slash = strrchr(path, '/');
	const mode_t mode = places_are_system() ? 0755 : 0700;
	char folder[PATH_BYTES_MAX + 1] = ".";
	int fd = 0, r = 0;

	if (slash == path)
		memcpy(folder, "/", 2);
	else if (slash != NULL) {
		memcpy(folder, path, (size_t)(slash - path));
		folder[slash - path] = '\0';
	}
	if (mkdir(folder, mode) < 0 && errno != EEXIST) {
		r = -errno;
		text_printf(ret_error, "cannot make the folder %s: %s", folder,
			    text_of_error(r));
		return r;
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		text_printf(ret_error, "cannot open the folder %s: %s", folder,
			    text_of_error(r));
		return r;
	}
	r = check_folder(fd, folder, ret_error);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static struct sockaddr_un
address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path, path, strlen(path) + 1);
	return address;
}

/* 0: nobody is there. */
static int
probe(const char *path)
{
	const struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	r = connect(fd, (const struct sockaddr *)&address, sizeof(address));
	r = r < 0 ? -errno : 0;
	close(fd);
	if (r == 0 || r == -EAGAIN || r == -EINPROGRESS || r == -EPROTOTYPE)
		return -EADDRINUSE;
	return r == -ECONNREFUSED || r == -ENOENT ? 0 : r;
}

static int
remove_stale(const char *path, struct text *ret_error)
{
	struct stat status;
	int r = 0;

	if (lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode)) {
		text_printf(ret_error,
			    "%s is there and is no socket: remove it, or "
			    "choose another place with --socket",
			    path);
		return -EEXIST;
	}
	r = probe(path);
	if (r == -EADDRINUSE)
		text_printf(ret_error,
			    "a daemon already serves %s: stop it, or choose "
			    "another place with --socket",
			    path);
	else if (r < 0)
		text_printf(ret_error, "cannot take over %s: %s", path,
			    text_of_error(r));
	if (r < 0)
		return r;
	if (unlink(path) < 0 && errno != ENOENT) {
		r = -errno;
		text_printf(ret_error, "cannot remove the old socket %s: %s",
			    path, text_of_error(r));
		return r;
	}
	return 0;
}

static int
bind_and_listen(struct socket_file *file, int fd, const char *path)
{
	const struct sockaddr_un address = address_of(path);
	struct stat status;

	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (chmod(path, places_are_system() ? 0660 : 0600) < 0 ||
	    lstat(path, &status) < 0 || listen(fd, BACKLOG) < 0) {
		const int r = -errno;

		unlink(path);
		return r;
	}
	file->device = status.st_dev;
	file->inode = status.st_ino;
	return 0;
}

static int
open_locked(struct socket_file *file, const char *path, struct text *ret_error)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = 0;

	if (fd < 0)
		r = -errno;
	else
		r = bind_and_listen(file, fd, path);
	if (r == -EADDRINUSE) {
		r = remove_stale(path, ret_error);
		if (r < 0)
			goto out;
		r = bind_and_listen(file, fd, path);
	}
	if (r < 0) {
		text_printf(ret_error, "cannot listen at %s: %s", path,
			    text_of_error(r));
		goto out;
	}
	file->path = strdup(path);
	if (file->path == NULL) {
		text_add(ret_error, "out of memory");
		r = -ENOMEM;
		goto out;
	}
	file->fd = fd;
	return 0;
out:
	if (fd >= 0)
		close(fd);
	return r;
}

int
socket_file_open(struct socket_file *file, const char *path,
		 struct text *ret_error)
{
	int folder_fd = 0, r = 0;

	*file = (struct socket_file){.fd = -1};
	if (strlen(path) > PATH_BYTES_MAX) {
		text_printf(ret_error,
			    "the socket's path has %zu bytes, %d is the most: "
			    "choose a shorter one with --socket",
			    strlen(path), PATH_BYTES_MAX);
		return -ENAMETOOLONG;
	}
	folder_fd = open_folder(path, ret_error);
	if (folder_fd < 0)
		return folder_fd;
	r = flock(folder_fd, LOCK_EX | LOCK_NB);
	if (r < 0 && errno == EWOULDBLOCK) {
		text_printf(ret_error,
			    "another daemon is just starting at %s: try again",
			    path);
		r = -EADDRINUSE;
	} else {
		r = open_locked(file, path, ret_error);
	}
	close(folder_fd);
	return r;
}

void
socket_file_close(struct socket_file *file)
{
	struct stat status;

	if (file->fd < 0)
		return;
	if (lstat(file->path, &status) == 0 && status.st_dev == file->device &&
	    status.st_ino == file->inode)
		unlink(file->path);
	free(file->path);
	close(file->fd);
	file->fd = -1;
}

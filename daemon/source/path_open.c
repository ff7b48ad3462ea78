/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_open.c - checked names into descriptors.
 *
 * Each file is opened twice: first with O_PATH, which touches nothing behind
 * the name, then, once fstat() of that descriptor says that it is a file or a
 * folder, through /proc/self/fd. So a FIFO never blocks us, a device node is
 * never opened (opening a watchdog reboots a machine), and what was checked is
 * what is read: there is no moment between in which a name could change.
 *
 * Who may read a local file is decided on the descriptor too, with all folders
 * above it: a file that everyone may read in a folder that nobody may enter is
 * nobody's. */
#include "daemon/source/path.h"

#include "daemon/source/name.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FOLDER_DEPTH_MAX = PATH_MAX / 2 };

static int
open_beneath(int folder, const char *uri, uint64_t resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = resolve,
	};
	long fd = 0;

	/* The kernel answers EAGAIN when something above was renamed
	 * meanwhile and it cannot tell; a busy folder settles soon. */
	for (int attempt = 0; attempt < 32; attempt++) {
		fd = syscall(SYS_openat2, folder, uri, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd >= 0 ? (int)fd : -errno;
}

/* Opens for real what an O_PATH descriptor found; closes that one. */
static int
open_found(int found, int flags)
{
	char link[32];
	struct stat status;
	int fd = 0;

	if (fstat(found, &status) < 0) {
		fd = -errno;
	} else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
		fd = -EINVAL;
	} else {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
		fd = open(link, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			fd = -errno;
	}
	(void)close(found);
	return fd;
}

/* As open_beneath(); where there is no such name, the one that it is the form
 * of (name.h). */
static int
find_beneath(int folder, const char *uri, uint64_t resolve)
{
	struct text name = {0};
	int found = open_beneath(folder, uri, resolve);

	if (found == -ENOENT && strchr(uri, '%') != NULL &&
	    name_add_inside(&name, uri) && !name.failed &&
	    path_uri_check(name.bytes) == 0)
		found = open_beneath(folder, name.bytes, resolve);
	text_finish(&name);
	return found;
}

int
path_open(const struct path_root *root, const char *uri, int flags)
{
	int error = path_uri_check(uri);
	int folder = 0;
	int found = 0;

	if (error < 0)
		return error;
	folder = open(root->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	if (uri[0] == '\0')
		return open_found(folder, flags);
	found = find_beneath(folder, uri,
			     root->follow_links
				     ? RESOLVE_NO_MAGICLINKS
				     : RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
	(void)close(folder);
	return found < 0 ? found : open_found(found, flags);
}

/* The folder in which an O_PATH descriptor's file stands now. */
static int
open_folder_of(int found)
{
	char name[32];
	char *target = malloc(PATH_MAX);
	ssize_t length = 0;
	char *slash = NULL;
	int folder = -EACCES;

	if (target == NULL)
		return -ENOMEM;
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	length = readlink(name, target, PATH_MAX - 1);
	if (length > 0 && target[0] == '/') {
		target[length] = '\0';
		slash = strrchr(target, '/');
		slash[1] = '\0';
		folder = open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	free(target);
	return folder;
}

static bool
mode_allows(const struct stat *status, uid_t uid, mode_t owner, mode_t other)
{
	return (status->st_mode & other) != 0 ||
	       (status->st_uid == uid && (status->st_mode & owner) != 0);
}

/* 0 when uid could walk from the root down to folder, which is closed. */
static int
check_folders(int folder, uid_t uid)
{
	struct stat status;
	struct stat above;

	for (int depth = 0; depth < FOLDER_DEPTH_MAX; depth++) {
		int parent = 0;

		if (fstat(folder, &status) < 0 ||
		    !mode_allows(&status, uid, S_IXUSR, S_IXOTH))
			break;
		parent = openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (parent < 0)
			break;
		(void)close(folder);
		folder = parent;
		if (fstat(folder, &above) < 0)
			break;
		if (above.st_dev == status.st_dev &&
		    above.st_ino == status.st_ino) {
			(void)close(folder);
			return 0;
		}
	}
	(void)close(folder);
	return -EACCES;
}

static int
check_local(int found, uid_t uid)
{
	struct stat status;
	int folder = 0;

	if (uid == geteuid())
		return 0;
	if (fstat(found, &status) < 0)
		return -errno;
	if (status.st_uid != uid && (status.st_mode & S_IROTH) == 0)
		return -EACCES;
	folder = open_folder_of(found);
	return folder < 0 ? -EACCES : check_folders(folder, uid);
}

static int
find_local(const char *path)
{
	struct text name = {0};
	int found = open(path, O_PATH | O_CLOEXEC);

	if (found < 0)
		found = -errno;
	if (found == -ENOENT && strchr(path, '%') != NULL &&
	    name_add_inside(&name, path) && !name.failed) {
		found = open(name.bytes, O_PATH | O_CLOEXEC);
		if (found < 0)
			found = -errno;
	}
	text_finish(&name);
	return found;
}

int
path_open_local(const char *path, uid_t uid, int flags)
{
	int found = 0;
	int error = 0;

	if (path[0] != '/')
		return -EINVAL;
	found = find_local(path);
	if (found < 0)
		return found;
	error = check_local(found, uid);
	if (error < 0) {
		(void)close(found);
		return error;
	}
	return open_found(found, flags);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stall_fs.c - a file system that shows a folder, read-only, and hangs like a
 * dead network share while a file exists.
 *
 *	rotary_stall_fs FOLDER MOUNTPOINT SWITCH
 *
 * The callers hang in the kernel, and the mount is a file system of its own in
 * /proc/self/mountinfo: nothing is simulated but the dead server. Nothing is
 * cached, so that each look-up and each read comes here. Stays in the
 * foreground until it is unmounted or told to end; needs /dev/fuse. */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#undef FUSE_USE_VERSION

enum { TICK_NS = 2000000 };

static int folder_fd;
static const char *stall_switch;

static void
meet(void)
{
	struct timespec tick = {.tv_nsec = TICK_NS};

	while (access(stall_switch, F_OK) == 0)
		nanosleep(&tick, NULL);
}

/* FUSE's paths begin at its root. */
static const char *
beneath(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static void *
fs_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->entry_timeout = 0;
	config->attr_timeout = 0;
	config->negative_timeout = 0;
	config->direct_io = 1;
	return NULL;
}

static int
fs_getattr(const char *path, struct stat *ret_stat, struct fuse_file_info *info)
{
	(void)info;
	meet();
	if (fstatat(folder_fd, beneath(path), ret_stat, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return 0;
}

static int
fs_readlink(const char *path, char *ret_target, size_t bytes)
{
	meet();
	ssize_t n = readlinkat(folder_fd, beneath(path), ret_target, bytes - 1);
	if (n < 0)
		return -errno;
	ret_target[n] = '\0';
	return 0;
}

static int
fs_readdir(const char *path, void *memory, fuse_fill_dir_t fill, off_t offset,
	   struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	(void)offset;
	(void)info;
	(void)flags;
	meet();
	int fd = openat(folder_fd, beneath(path),
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		fill(memory, entry->d_name, NULL, 0, 0);
	closedir(dir);
	return 0;
}

static int
fs_open(const char *path, struct fuse_file_info *info)
{
	meet();
	if ((info->flags & O_ACCMODE) != O_RDONLY)
		return -EROFS;
	int fd = openat(folder_fd, beneath(path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	info->fh = (uint64_t)fd;
	return 0;
}

static int
fs_read(const char *path, char *memory, size_t bytes, off_t offset,
	struct fuse_file_info *info)
{
	(void)path;
	meet();
	ssize_t n = pread((int)info->fh, memory, bytes, offset);
	return n < 0 ? -errno : (int)n;
}

static int
fs_release(const char *path, struct fuse_file_info *info)
{
	(void)path;
	close((int)info->fh);
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.init = fs_init,
		.getattr = fs_getattr,
		.readlink = fs_readlink,
		.readdir = fs_readdir,
		.open = fs_open,
		.read = fs_read,
		.release = fs_release,
	};
	char options[] = "ro,subtype=rotary_stall,max_threads=16";

	if (argc != 4) {
		fprintf(stderr, "usage: %s FOLDER MOUNTPOINT SWITCH\n",
			argv[0]);
		return 2;
	}
	folder_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder_fd < 0) {
		perror(argv[1]);
		return 1;
	}
	stall_switch = argv[3];
	char *arguments[] = {argv[0],        argv[2], (char[]){"-f"},
			     (char[]){"-o"}, options, NULL};
	return fuse_main(5, arguments, &operations, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate between names and files, on a real folder. */
#include "daemon/source/path.h"
#include "tests/kit/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { SOMEONE = 54321 };

static void
test_which_names_are_ours(void **state)
{
	static const char *const good[] = {"",      "a",     "a/b/c.flac",
					   "...",   "..a",   ".hidden/x",
					   "a../b", "a b?%", "\xff\n"};
	static const char *const bad[] = {"/",     "/a",  "a/",    "a//b",
					  ".",     "..",  "../a",  "a/..",
					  "a/./b", "./a", "a/../b"};
	static char long_name[PATH_URI_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(path_uri_check(good[i]), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(path_uri_check(bad[i]), -EINVAL);
	memset(long_name, 'x', sizeof(long_name));
	long_name[PATH_URI_MAX + 1] = '\0';
	assert_int_equal(path_uri_check(long_name), -ENAMETOOLONG);
	long_name[PATH_URI_MAX] = '\0';
	assert_int_equal(path_uri_check(long_name), 0);
}

static void
test_normalizing(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"/", ""},
		{"///", ""},
		{"a", "a"},
		{"/a/", "a"},
		{"a//b", "a/b"},
		{"//a///b//", "a/b"},
		{"a/.b", "a/.b"},
	};
	char uri[8];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			path_uri_normalize(cases[i][0], uri, sizeof(uri)), 0);
		assert_string_equal(uri, cases[i][1]);
	}
	memcpy(uri, "before", 7);
	assert_int_equal(path_uri_normalize("a/../b", uri, sizeof(uri)),
			 -EINVAL);
	assert_int_equal(path_uri_normalize("12345678", uri, sizeof(uri)),
			 -ENAMETOOLONG);
	assert_string_equal(uri, "before");
	assert_int_equal(path_uri_normalize("/1234567/", uri, sizeof(uri)), 0);
}

static void
test_local_names(void **state)
{
	static const char *const cases[][2] = {
		{"/a b", "/a b"},
		{"/a%20b", "/a%20b"},
		{"file:///a%20b", "/a b"},
		{"FILE:///x", "/x"},
		{"file://localhost/x%2Fy", "/x/y"},
		{"file:///%C3%a9", "/\xc3\xa9"},
	};
	static const char *const bad[] = {
		"a",           "http://x/y",  "file://host/x",
		"file://",     "file:///%",   "file:///%4",
		"file:///%4g", "file:///%00", "file:///a%0",
	};
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(path_uri_is_local(cases[i][0]));
		assert_int_equal(path_local(cases[i][0], path, sizeof(path)),
				 0);
		assert_string_equal(path, cases[i][1]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(path_local(bad[i], path, sizeof(path)),
				 -EINVAL);
	assert_int_equal(path_local("/1234567", path, 8), -ENAMETOOLONG);
	assert_false(path_uri_is_local("a/b"));
	assert_false(path_uri_is_local("http://x"));
}

static char folder[64];

static void
make(const char *name, mode_t mode)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (S_ISDIR(mode)) {
		assert_int_equal(mkdir(path, 0777), 0);
	} else if (S_ISFIFO(mode)) {
		assert_int_equal(mkfifo(path, 0666), 0);
	} else {
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, name, 1), 1);
		assert_int_equal(close(fd), 0);
	}
	assert_int_equal(chmod(path, mode & 07777), 0);
}

static void
make_link(const char *name, const char *target)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(symlink(target, path), 0);
}

static int
set_up(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/rotary-path-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	make("music", S_IFDIR | 0755);
	make("music/in", S_IFDIR | 0755);
	make("music/in/a.flac", S_IFREG | 0644);
	make("music/fifo", S_IFIFO | 0666);
	make("out", S_IFREG | 0644);
	make("secret", S_IFREG | 0600);
	make("private", S_IFDIR | 0700);
	make("private/open", S_IFREG | 0644);
	make_link("music/inside", "in/a.flac");
	make_link("music/outside", "../out");
	make_link("music/up", "..");
	make_link("music/absolute", "/tmp");
	make_link("music/loop", "loop");
	make_link("music/magic", "/proc/self/exe");
	make_link("music/tty", "/dev/tty");
	make_link("music/null", "/dev/null");
	(void)snprintf(address.sun_path, sizeof(address.sun_path),
		       "%s/music/socket", folder);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	assert_int_equal(close(fd), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	folder_remove(folder);
	return 0;
}

/* The first byte of what opens, or the error. */
static int
try_open(bool follow_links, const char *uri)
{
	char music[80];
	const struct path_root root = {music, follow_links};
	char byte = 0;
	int fd;

	(void)snprintf(music, sizeof(music), "%s/music", folder);
	fd = path_open(&root, uri, O_RDONLY);
	if (fd < 0)
		return fd;
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	if (read(fd, &byte, 1) < 0)
		byte = 'd'; /* a folder */
	assert_int_equal(close(fd), 0);
	return byte;
}

static void
test_nothing_leaves_the_folder(void **state)
{
	(void)state;
	for (int follow = 0; follow < 2; follow++) {
		assert_int_equal(try_open(follow, "in/a.flac"), 'm');
		assert_int_equal(try_open(follow, "inside"), 'm');
		assert_int_equal(try_open(follow, ""), 'd');
		assert_int_equal(try_open(follow, "in"), 'd');
		assert_int_equal(try_open(follow, "nothing"), -ENOENT);
		assert_int_equal(try_open(follow, "in/a.flac/x"), -ENOTDIR);
		assert_int_equal(try_open(follow, "loop"), -ELOOP);
		assert_int_equal(try_open(follow, "../out"), -EINVAL);
		assert_int_equal(try_open(follow, "in/../../out"), -EINVAL);
		assert_int_equal(try_open(follow, "/etc/passwd"), -EINVAL);
		/* Neither waits for a writer nor becomes a terminal of ours. */
		assert_int_equal(try_open(follow, "fifo"), -EINVAL);
		assert_int_equal(try_open(follow, "socket"), -EINVAL);
	}
	assert_int_equal(try_open(false, "outside"), -EXDEV);
	assert_int_equal(try_open(false, "up/out"), -EXDEV);
	assert_int_equal(try_open(false, "absolute"), -EXDEV);
	assert_int_equal(try_open(false, "null"), -EXDEV);
	assert_int_equal(try_open(true, "outside"), 'o');
	assert_int_equal(try_open(true, "up/out"), 'o');
	assert_int_equal(try_open(true, "absolute"), 'd');
	assert_int_equal(try_open(true, "null"), -EINVAL);
	assert_int_equal(try_open(true, "tty"), -EINVAL);
	assert_int_equal(try_open(true, "magic"), -ELOOP);
}

static int
try_local(const char *name, uid_t uid)
{
	char path[128];
	int fd;

	if (name[0] == '/')
		(void)snprintf(path, sizeof(path), "%s", name);
	else
		(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = path_open_local(path, uid, O_RDONLY);
	if (fd >= 0)
		assert_int_equal(close(fd), 0);
	return fd < 0 ? fd : 0;
}

static void
test_local_files_are_for_who_may_read_them(void **state)
{
	const uid_t self = geteuid();

	(void)state;
	assert_int_equal(try_local("out", self), 0);
	assert_int_equal(try_local("secret", self), 0);
	assert_int_equal(try_local("private/open", self), 0);
	assert_int_equal(try_local("out", SOMEONE), 0);
	assert_int_equal(try_local("music/inside", SOMEONE), 0);
	assert_int_equal(try_local("secret", SOMEONE), -EACCES);
	/* Everyone may read it, but nobody may go there. */
	assert_int_equal(try_local("private/open", SOMEONE), -EACCES);
	assert_int_equal(try_local("/dev/null", SOMEONE), -EINVAL);
	assert_int_equal(try_local("music/fifo", SOMEONE), -EINVAL);
	assert_int_equal(try_local("nothing", SOMEONE), -ENOENT);
	assert_int_equal(path_open_local("out", self, O_RDONLY), -EINVAL);
	if (self == 0) {
		char path[128];

		/* What is one's own needs no right of others. */
		(void)snprintf(path, sizeof(path), "%s/secret", folder);
		assert_int_equal(chown(path, SOMEONE, (gid_t)-1), 0);
		assert_int_equal(try_local("secret", SOMEONE), 0);
		assert_int_equal(try_local("secret", SOMEONE + 1), -EACCES);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_names_are_ours),
		cmocka_unit_test(test_normalizing),
		cmocka_unit_test(test_local_names),
		cmocka_unit_test(test_nothing_leaves_the_folder),
		cmocka_unit_test(test_local_files_are_for_who_may_read_them),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

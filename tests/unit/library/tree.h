/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.h - a temporary folder that a test fills: set-up, tear-down, and what
 * is put into it. */
#ifndef ROTARY_TESTS_TREE_H
#define ROTARY_TESTS_TREE_H

#include "tests/kit/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[32];
static int top_fd = -1;

static inline int
begin(void **state)
{
	(void)state;
	/* Ten thousand files are no work for a disk that others use. */
	snprintf(top, sizeof(top), "%s/rotary-folder-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (mkdtemp(top) == NULL)
		return -1;
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return top_fd < 0 ? -1 : 0;
}

static inline int
end(void **state)
{
	(void)state;
	close(top_fd);
	folder_remove(top);
	return 0;
}

static inline void
make_folder(const char *name)
{
	assert_int_equal(mkdirat(top_fd, name, 0755), 0);
}

static inline void
make_file(const char *name, const char *content)
{
	const int fd =
		openat(top_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static inline void
make_link(const char *target, const char *name)
{
	assert_int_equal(symlinkat(target, top_fd, name), 0);
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif

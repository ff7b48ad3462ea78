/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_BYTES = 5 << 20, PIECE_BYTES = 65536 };

static uint8_t
byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 13 + offset / 251);
}

static struct source *
open_long_file(void)
{
	char path[] = "/tmp/rotary-file-XXXXXX";
	uint8_t *bytes = malloc(FILE_BYTES);
	struct source *source;
	const int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0 && bytes != NULL);
	assert_int_equal(unlink(path), 0);
	for (uint64_t i = 0; i < FILE_BYTES; i++)
		bytes[i] = byte_at(i);
	assert_int_equal(write(fd, bytes, FILE_BYTES), FILE_BYTES);
	free(bytes);
	assert_int_equal(source_open_fd(fd, &source), 0);
	return source;
}

static void
test_reading_it_all(void **state)
{
	static uint8_t bytes[PIECE_BYTES];
	struct source *source = open_long_file();
	uint64_t offset = 0;
	ssize_t count;

	(void)state;
	assert_int_equal(source_length(source), FILE_BYTES);
	assert_true(source_mtime_s(source) > 1600000000);
	while ((count = source_read(source, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < count; i++)
			assert_int_equal(bytes[i],
					 byte_at(offset + (uint64_t)i));
		offset += (uint64_t)count;
		assert_int_equal(source_tell(source), offset);
	}
	assert_int_equal(count, 0);
	assert_int_equal(offset, FILE_BYTES);
	source_close(source);
}

static void
test_seeking(void **state)
{
	struct source *source = open_long_file();
	uint8_t byte;

	(void)state;
	for (uint64_t offset = FILE_BYTES - 1; offset > 0; offset /= 3) {
		assert_int_equal(source_seek(source, offset), 0);
		assert_int_equal(source_read(source, &byte, 1), 1);
		assert_int_equal(byte, byte_at(offset));
	}
	assert_int_equal(source_seek(source, FILE_BYTES + 100), 0);
	assert_int_equal(source_read(source, &byte, 1), 0);
	assert_int_equal(source_seek(source, UINT64_MAX), -EINVAL);
	source_close(source);
	source_close(NULL);
}

static void
test_what_is_no_file(void **state)
{
	const struct path_root root = {"/tmp", false};
	const struct source_ref folder = {"", 0};
	const struct source_ref missing = {"rotary-is-not-here", 0};
	const struct source_ref device = {"/dev/null", geteuid()};
	const struct source_ref other = {"http://x/y", 0};
	struct source *source = NULL;
	int pipes[2];

	(void)state;
	assert_int_equal(source_open(&root, &folder, &source), -EISDIR);
	assert_int_equal(source_open(&root, &missing, &source), -ENOENT);
	assert_int_equal(source_open(&root, &device, &source), -EINVAL);
	assert_int_equal(source_open(&root, &other, &source), -EINVAL);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(source_open_fd(pipes[0], &source), -EINVAL);
	/* It stays the caller's. */
	assert_int_equal(close(pipes[0]), 0);
	assert_int_equal(close(pipes[1]), 0);
	assert_null(source);
}

static void
test_by_name_and_as_local_file(void **state)
{
	char path[] = "/tmp/rotary-file-XXXXXX";
	char local[64];
	const struct path_root root = {"/tmp", false};
	const struct source_ref refs[] = {
		{path + strlen("/tmp/"), 12345},
		{path, geteuid()},
		{local, geteuid()},
	};
	const int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(close(fd), 0);
	(void)snprintf(local, sizeof(local), "file://%s", path);
	for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++) {
		struct source *source;
		char byte;

		assert_int_equal(source_open(&root, &refs[i], &source), 0);
		assert_int_equal(source_read(source, &byte, 1), 1);
		assert_int_equal(byte, 'x');
		source_close(source);
	}
	assert_int_equal(unlink(path), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading_it_all),
		cmocka_unit_test(test_seeking),
		cmocka_unit_test(test_what_is_no_file),
		cmocka_unit_test(test_by_name_and_as_local_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_domain.c - the file system of a path, by a list of mounts. */
#include "daemon/work/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

static const char MOUNTS[] =
	"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"23 22 0:5 / /proc rw - proc proc rw\n"
	"30 22 0:40 / /mnt/nas rw - nfs4 nas:/music rw\n"
	"31 30 0:41 / /mnt/nas/inner rw - tmpfs tmpfs rw\n"
	"32 22 0:42 / /mnt/two\\040words\\134x rw - tmpfs tmpfs rw\n"
	"33 22 0:43 / /media/stick rw - vfat /dev/sdb1 rw\n"
	"34 22 0:44 / /media/stick rw - vfat /dev/sdc1 rw\n"
	"35 22 0:40 /sub /srv/music rw - nfs4 nas:/music rw\n"
	"garbage\n"
	"36\n"
	"37 22 x:y / /mnt/bad rw - tmpfs tmpfs rw\n";

static uint64_t
domain(const char *path)
{
	char bytes[sizeof(MOUNTS)];
	FILE *file;
	uint64_t result;

	memcpy(bytes, MOUNTS, sizeof(MOUNTS));
	file = fmemopen(bytes, sizeof(MOUNTS) - 1, "r");
	assert_non_null(file);
	result = pool_domain_in(file, path);
	fclose(file);
	assert_true(result != 0);
	return result;
}

static void
test_longest_point(void **state)
{
	(void)state;
	assert_true(domain("/") == domain("/home/ann"));
	assert_true(domain("/mnt/nas") != domain("/"));
	assert_true(domain("/mnt/nas/a/b.flac") == domain("/mnt/nas"));
	assert_true(domain("/mnt/nas/inner/x") != domain("/mnt/nas"));
	/* Whole names only. */
	assert_true(domain("/mnt/nasty") == domain("/"));
	assert_true(domain("/mnt") == domain("/"));
	/* Blanks and backslashes. */
	assert_true(domain("/mnt/two words\\x/y") != domain("/"));
	assert_true(domain("/mnt/two words") == domain("/"));
	/* What cannot be read is passed over. */
	assert_true(domain("/mnt/bad") == domain("/"));
}

static void
test_hidden_and_shared(void **state)
{
	(void)state;
	/* The later of two mounts on one point. */
	assert_int_equal(domain("/media/stick/x") & 0xFFFF, 44);
	/* One server in two places. */
	assert_true(domain("/srv/music/x") == domain("/mnt/nas"));
}

static void
test_this_machine(void **state)
{
	struct stat proc;
	uint64_t found = work_domain("/proc/self/status");

	(void)state;
	assert_int_equal(stat("/proc", &proc), 0);
	assert_int_equal(found & 0xFFFFFFFF, minor(proc.st_dev));
	assert_true(found != work_domain("/"));
	/* It is not looked for. */
	assert_true(work_domain("/proc/no/such/file") == found);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest_point),
		cmocka_unit_test(test_hidden_and_shared),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_skips.c - which files are passed over, whatever their notes went
 * through. Crashes are real ones, of children, through the crash handler; only
 * where a sanitizer has it the note is written for it. */
#include "daemon/source/skips.h"
#include "daemon/source/source.h"
#include "lib/rt/rt.h"
#include "tests/kit/child.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/rotary-skips-XXXXXX";
static char path[64];
static char song_path[64];

static struct rt_subject
song(const char *name)
{
	return (struct rt_subject){
		.name = name,
		.is_open = true,
		.size_bytes = 1000,
		.mtime_ns = 1700000000123456789,
	};
}

static void
write_notes(const void *bytes, size_t length, int flags)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
}

static void
append(const char *text)
{
	write_notes(text, strlen(text), O_APPEND);
}

#ifdef ROTARY_SANITIZED
static void
crash_on(struct rt_subject subject)
{
	char line[256];

	skips_begin(folder);
	skips_end();
	snprintf(line, sizeof(line), "\ncrash %llu %lld %s\n",
		 (unsigned long long)subject.size_bytes,
		 (long long)subject.mtime_ns, subject.name);
	append(line);
}
#else
static int
crash(void *argument)
{
	int *volatile nowhere = (int *)(uintptr_t)16;

	if (rt_crash_init() != 0)
		return 1;
	skips_begin(folder);
	rt_set_subject(argument);
	*nowhere = 1;
	return 2;
}

static void
crash_on(struct rt_subject subject)
{
	static char errors[16384];
	const int status = child_run(crash, &subject, errors, sizeof(errors));

	assert_true(WIFSIGNALED(status));
}
#endif

/* As the next start of the player finds it. */
static bool
is_passed_over(struct rt_subject subject)
{
	bool passed_over = false;

	skips_begin(folder);
	passed_over = skips_has(&subject);
	skips_end();
	return passed_over;
}

static off_t
length_of_file(void)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_size;
}

static int
set_up(void **state)
{
	(void)state;
	strcpy(strchr(folder, '\0') - 6, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/crashes", folder);
	snprintf(song_path, sizeof(song_path), "%s/song.flac", folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	skips_end();
	(void)unlink(path);
	(void)unlink(song_path);
	(void)rmdir(path);
	return rmdir(folder);
}

static void
count(void *context, const struct skip *skip)
{
	unsigned *counts = context;

	counts[0]++;
	counts[1] += skip->crashes;
	counts[2] += skip->passed_over;
}

static void
check_list(unsigned files, unsigned crashes, unsigned passed_over)
{
	unsigned counts[3] = {0};

	skips_list(count, counts);
	assert_int_equal(counts[0], files);
	assert_int_equal(counts[1], crashes);
	assert_int_equal(counts[2], passed_over);
}

static void
twice_is_enough(void **state)
{
	(void)state;
	crash_on(song("a b/one.flac"));
	assert_false(is_passed_over(song("a b/one.flac")));
	crash_on(song("two.flac"));
	assert_false(is_passed_over(song("two.flac")));
	crash_on(song("a b/one.flac"));
	assert_true(is_passed_over(song("a b/one.flac")));
	assert_false(is_passed_over(song("two.flac")));
	assert_false(is_passed_over(song("a b/one.fla")));
	skips_begin(folder);
	check_list(2, 3, 1);
}

static void
a_changed_file_is_tried_again(void **state)
{
	struct rt_subject subject = song("one.flac");
	int i;

	(void)state;
	crash_on(subject);
	crash_on(subject);
	subject.size_bytes++;
	assert_false(is_passed_over(subject));
	crash_on(subject);
	assert_false(is_passed_over(subject));
	subject.mtime_ns++;
	assert_false(is_passed_over(subject));
	assert_true(is_passed_over(song("one.flac")));
	/* but not for ever */
	for (i = 3; i < SKIPS_CRASHES_ANY; i++) {
		assert_false(is_passed_over(subject));
		subject.mtime_ns++;
		crash_on(subject);
	}
	subject.mtime_ns++;
	assert_true(is_passed_over(subject));
}

static void
what_is_forgiven_stays_so(void **state)
{
	(void)state;
	append("crash 1000 1700000000123456789 one.flac\n"
	       "crash 1000 1700000000123456789 two.flac\n"
	       "crash 1000 1700000000123456789 one.flac\n"
	       "crash 1000 1700000000123456789 two.flac\n");
	skips_begin(folder);
	check_list(2, 4, 2);
	assert_int_equal(skips_forgive("three.flac"), 0);
	assert_int_equal(skips_forgive("two.flac"), 1);
	check_list(1, 2, 1);
	assert_int_equal(skips_save(), 0);
	skips_end();
	assert_false(is_passed_over(song("two.flac")));
	assert_true(is_passed_over(song("one.flac")));
	crash_on(song("two.flac"));
	assert_false(is_passed_over(song("two.flac")));
	skips_begin(folder);
	assert_int_equal(skips_forgive(NULL), 2);
	assert_int_equal(skips_forgive(NULL), 0);
	check_list(0, 0, 0);
	assert_int_equal(skips_save(), 0);
	skips_end();
	assert_int_equal(length_of_file(), 0);
	assert_false(is_passed_over(song("one.flac")));
}

static void
junk_spoils_nothing(void **state)
{
	static const char zeroes[5000];
	unsigned seed = 1;
	static uint8_t bytes[20000];
	size_t i;

	(void)state;
	append("crash 1000 1700000000123456789 one.flac\n");
	append("crash 1000 170000000012");
	crash_on(song("one.flac"));
	append("crash\ncrash  \ncrash 1 2 \ncrash -1 2 x\ncrash 1 2x y\n"
	       "crash 99999999999999999999999 2 x\ncrash 1 2\n");
	write_notes(zeroes, sizeof(zeroes), O_APPEND);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rand_r(&seed);
	write_notes(bytes, sizeof(bytes), O_APPEND);
	assert_true(is_passed_over(song("one.flac")));
	/* a note that was cut short, and nothing after it */
	append("\ncrash 1000 1700000000123456789 two.flac\n"
	       "crash 1000 1700000000123456789 two.flac");
	assert_false(is_passed_over(song("two.flac")));
	crash_on(song("two.flac"));
	assert_true(is_passed_over(song("two.flac")));
	skips_begin(folder);
	check_list(2, 5, 2);
}

static void
a_long_file_is_cut(void **state)
{
	char line[128];
	int i;

	(void)state;
	append("crash 1000 1700000000123456789 oldest.flac\n");
	append("crash 1000 1700000000123456789 oldest.flac\n");
	for (i = 0; length_of_file() <= SKIPS_FILE_MAX; i++) {
		FILE *file = fopen(path, "a");
		int k;

		assert_non_null(file);
		for (k = 0; k < 1000; k++) {
			snprintf(line, sizeof(line),
				 "crash 1000 1700000000123456789 %d/%d.flac\n",
				 i, k / 2);
			fputs(line, file);
		}
		fclose(file);
	}
	snprintf(line, sizeof(line), "%d/499.flac", i - 1);
	assert_true(is_passed_over(song(line)));
	assert_false(is_passed_over(song("oldest.flac")));
	assert_true(length_of_file() <= SKIPS_FILE_MAX);
	assert_true(length_of_file() > SKIPS_FILE_MAX / 4);
	crash_on(song("new.flac"));
	crash_on(song("new.flac"));
	assert_true(is_passed_over(song("new.flac")));
	assert_true(is_passed_over(song(line)));
	/* one of 1 TiB, most of it a hole */
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	crash_on(song("newer.flac"));
	assert_true(length_of_file() <= SKIPS_FILE_MAX);
}

static void
what_cannot_be_written_still_counts(void **state)
{
	(void)state;
	/* no folder, no file: nothing is passed over, and all goes on */
	skips_begin("/nonexistent/folder");
	check_list(0, 0, 0);
	assert_int_equal(skips_save(), 0);
	skips_end();
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(is_passed_over(song("one.flac")));
	assert_int_equal(rmdir(path), 0);
	/* would wait for somebody at the other end */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(is_passed_over(song("one.flac")));
	assert_int_equal(unlink(path), 0);
}

static int
read_what_is_read_only(void *argument)
{
	const struct rt_subject subject = song("one.flac");

	(void)argument;
	child_drop_rights();
	skips_begin(folder);
	if (!skips_has(&subject))
		return 1;
	if (skips_forgive(NULL) != 1 || skips_has(&subject))
		return 2;
	return skips_save() < 0 ? 0 : 3;
}

static void
a_read_only_file_still_counts(void **state)
{
	static char errors[4096];

	(void)state;
	append("crash 1000 1700000000123456789 one.flac\n"
	       "crash 1000 1700000000123456789 one.flac\n");
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(
		child_run(read_what_is_read_only, NULL, errors, sizeof(errors)),
		0);
	assert_non_null(strstr(errors, "crashes cannot be noted"));
}

/* The gate that every file goes through. */
static void
it_is_not_opened(void **state)
{
	const struct path_root root = {folder, true};
	const struct source_ref ref = {"song.flac", getuid()};
	struct rt_subject subject;
	struct source *source;
	int fd;

	(void)state;
	fd = open(song_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "sound", 5), 5);
	close(fd);
	assert_int_equal(source_open(&root, &ref, &source), 0);
	source_describe(source, ref.uri, &subject);
	source_close(source);
	assert_int_equal(subject.size_bytes, 5);
	crash_on(subject);
	crash_on(subject);
	skips_begin(folder);
	assert_int_equal(source_open(&root, &ref, &source), -ENOTRECOVERABLE);
	assert_int_equal(skips_forgive(ref.uri), 1);
	assert_int_equal(source_open(&root, &ref, &source), 0);
	source_close(source);
	skips_end();
	/* as it was before, and then longer */
	skips_begin(folder);
	assert_int_equal(source_open(&root, &ref, &source), -ENOTRECOVERABLE);
	assert_int_equal(truncate(song_path, 6), 0);
	assert_int_equal(source_open(&root, &ref, &source), 0);
	source_close(source);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(twice_is_enough, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_changed_file_is_tried_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_forgiven_stays_so,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(junk_spoils_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_long_file_is_cut, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(it_is_not_opened, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_written_still_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_read_only_file_still_counts,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

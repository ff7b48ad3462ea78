/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_programs.c - programs that keys start: how many, for how long, and what
 * becomes of them and of their children. The programs are real, the time is a
 * number. */
#include "lib/base/clock.h"
#include "remote/monitor/programs.h"

#include <errno.h>
#include <linux/input-event-codes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* How long a failure takes. */
enum { PATIENCE_MS = 30000 };

static struct programs programs;
static char folder[] = "/tmp/rotary-programs-XXXXXX";
static const int64_t start_ns = 1000 * NS_PER_S;

static int
start(uint16_t code, const char *script, int64_t now_ns)
{
	char shell[] = "/bin/sh", option[] = "-c", words[256];
	char *const argv[] = {shell, option, words, NULL};

	snprintf(words, sizeof(words), "cd %s; %s", folder, script);
	return programs_start(&programs, now_ns, (struct key){EV_KEY, code},
			      argv);
}

static int
count(void)
{
	int i = 0, found = 0;

	for (i = 0; i < PROGRAMS_MAX; i++)
		found += programs.list[i].pid != 0;
	return found;
}

/* Until so many run: woken by what the loop would be woken by. */
static void
wait_until(int wanted, int64_t now_ns)
{
	struct pollfd polls[PROGRAMS_MAX];

	while (count() > wanted) {
		const size_t polled = programs_add_polls(&programs, polls);

		assert_true(poll(polls, polled, PATIENCE_MS) > 0);
		programs_tick(&programs, now_ns);
	}
}

static void
wait_for_file(const char *name)
{
	char path[64];
	int i = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (i = 0; i < PATIENCE_MS && access(path, F_OK) != 0; i++)
		usleep(1000);
	assert_int_equal(unlink(path), 0);
}

/* What a shell writes there of itself: without a program that it would wait
 * for, since a shell that is killed as it waits still takes other children
 * along. */
static pid_t
wait_for_pid(const char *name)
{
	char path[64], end = '\0';
	pid_t pid = 0;
	int i = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (i = 0; i < PATIENCE_MS && end != '\n'; i++) {
		FILE *file = fopen(path, "re");

		if (file == NULL || fscanf(file, "%d%c", &pid, &end) < 2)
			usleep(1000);
		if (file != NULL)
			fclose(file);
	}
	assert_int_equal(end, '\n');
	assert_int_equal(unlink(path), 0);
	return pid;
}

static void
test_one_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(start(KEY_RED, "read x < fifo", start_ns), 0);
	assert_int_equal(start(KEY_RED, "touch twice", start_ns), -EBUSY);
	assert_int_equal(start(KEY_GREEN, "touch green", start_ns), 0);
	wait_until(1, start_ns);
	wait_for_file("green");
	/* It may go once it has ended, without being ended. */
	assert_int_equal(programs_deadline(&programs),
			 start_ns + 10 * NS_PER_S);
	programs_finish(&programs);
	assert_int_equal(count(), 0);
	assert_int_equal(start(KEY_RED, "touch red", start_ns), 0);
	wait_until(0, start_ns);
	wait_for_file("red");
	assert_int_equal(programs_deadline(&programs), INT64_MAX);
}

static void
test_too_many(void **state)
{
	uint16_t i = 0;

	(void)state;
	for (i = 0; i < PROGRAMS_MAX; i++)
		assert_int_equal(
			start((uint16_t)(KEY_1 + i), "read x < fifo", start_ns),
			0);
	assert_int_equal(start(KEY_RED, "true", start_ns), -EBUSY);
	programs_finish(&programs);
	assert_int_equal(count(), 0);
}

static void
test_ten_seconds(void **state)
{
	const int64_t end_ns = start_ns + 10 * NS_PER_S;
	siginfo_t info = {0};
	pid_t child = 0;

	(void)state;
	/* It will not hear of SIGTERM, and has a child. */
	assert_int_equal(start(KEY_RED,
			       "trap '' TERM; (read x < fifo) & "
			       "echo $! > child; read x < fifo",
			       start_ns),
			 0);
	assert_int_equal(start(KEY_GREEN, "read x < fifo", start_ns + NS_PER_S),
			 0);
	child = wait_for_pid("child");
	assert_int_equal(programs_deadline(&programs), end_ns);
	programs_tick(&programs, end_ns - 1);
	assert_int_equal(count(), 2);
	programs_tick(&programs, end_ns);
	wait_until(1, end_ns);
	/* Its child has ended too, and has come to us: we are its reaper. */
	if (waitid(P_PID, (id_t)child, &info, WEXITED) < 0)
		fail_msg("its child %d: %s", child, strerror(errno));
	assert_int_equal(info.si_status, SIGKILL);
	/* Only that key's. */
	assert_int_equal(programs_deadline(&programs), end_ns + NS_PER_S);
	assert_int_equal(start(KEY_RED, "true", end_ns), 0);
	wait_until(1, end_ns);
	programs_finish(&programs);
}

static void
test_what_cannot_be_started(void **state)
{
	char path[] = "/nonexistent/program";
	char *const argv[] = {path, NULL};

	(void)state;
	assert_int_equal(programs_start(&programs, start_ns,
					(struct key){EV_KEY, KEY_RED}, argv),
			 -ENOENT);
	assert_int_equal(count(), 0);
}

static int
make_folder(void **state)
{
	char path[64];

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/fifo", folder);
	return mkfifo(path, 0600);
}

/* No program outlives a test that failed. */
static int
remove_folder(void **state)
{
	char path[64];

	(void)state;
	programs_finish(&programs);
	snprintf(path, sizeof(path), "%s/fifo", folder);
	unlink(path);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_ten_seconds),
		cmocka_unit_test(test_what_cannot_be_started),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage_time.c - lets time pass for the remote, and sees whether it is at rest.
 *
 * Its clocks are those of shift.c: what is added here it sees when it looks
 * next. What it had asked before would then have waited for as long, so time
 * passes only while it waits for something to come. */
#include "tests/kit/paper/stage.h"

#include "lib/base/clock.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <cmocka.h>

/* How long a look takes, and a failure. */
enum { REST_MS = 10, LOOKS_MAX = 6000 };

/* --- sleep, and rest */

void
stage_sleep(struct stage *stage, int64_t ns)
{
	stage->shift[1] += ns;
}

/* What the remote has run so far. */
static int64_t
read_cpu_ns(const struct stage *stage)
{
	char path[64];
	long long ns = -1;
	FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", stage->pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lld", &ns), 1);
	fclose(file);
	return ns;
}

/* One that spins takes all that it can get of this time, one at rest nothing:
 * a busy machine makes the difference smaller, not the verdict wrong. */
void
stage_expect_rest(const struct stage *stage)
{
	const struct timespec pause = {.tv_nsec = 200 * NS_PER_MS};
	const int64_t before_ns = read_cpu_ns(stage);

	nanosleep(&pause, NULL);
	assert_in_range(read_cpu_ns(stage) - before_ns, 0, 20 * NS_PER_MS);
}

/* --- time */

/* It waits for whatever comes, and not for a turn on a CPU, nor for umockdev to
 * answer an ioctl. */
static bool
waits(const struct stage *stage)
{
	char path[64];
	long call = -1;
	FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/syscall", stage->pid);
	file = fopen(path, "re");
	assert_non_null(file);
	/* "running" has no number. */
	if (fscanf(file, "%ld", &call) != 1)
		call = -1;
	fclose(file);
	return call == SYS_ppoll;
}

static bool
is_at_rest(const struct stage *stage)
{
	struct pollfd input = {.fd = stage->client, .events = POLLIN};

	return stage->at_rest && waits(stage) && poll(&input, 1, 0) == 0;
}

bool
stage_settle(struct stage *stage, const char *line)
{
	const char *got = NULL;
	bool found = false;
	int looks = 0;

	while (stage->client >= 0 && !is_at_rest(stage)) {
		if (looks++ > LOOKS_MAX)
			stage_give_up(stage, "rest");
		got = stage_try(stage, REST_MS);
		found |= got != NULL && strcmp(got, line) == 0;
	}
	return found;
}

/* One that talks to people and to no daemon looks up now and then. */
static void
wait_till_it_waits(struct stage *stage)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	int looks = 0;

	while (!waits(stage)) {
		if (looks++ > LOOKS_MAX)
			stage_give_up(stage, "rest before time passes");
		nanosleep(&pause, NULL);
	}
}

void
stage_pass(struct stage *stage, int64_t ns)
{
	while (stage->client >= 0 && !is_at_rest(stage))
		if (stage_try(stage, REST_MS) != NULL)
			stage_give_up(stage, "rest before time passes");
	if (stage->listening < 0)
		wait_till_it_waits(stage);
	stage->shift[0] += ns;
}

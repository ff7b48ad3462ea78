/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stress_log.c - real-time events from several threads at once: each event
 * that was taken comes out once, whole, and in its thread's order.
 *
 * What log_rt_drain() writes is read back through a pipe: the two arguments of
 * an event are (thread, count) and must still belong together. */
#include "lib/base/log.h"
#include "lib/base/thread.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PRODUCERS = 3, EVENTS = 100000 };

static ATOMIC(int) running;

struct producer {
	struct thread thread;
	int number;
};

/* The number is in both arguments, so that a torn cell shows. */
static void *
produce(void *argument)
{
	const struct producer *producer = argument;
	int64_t i;

	for (i = 0; i < EVENTS; i++)
		log_rt(LOG_RT_FORBIDDEN, i * PRODUCERS + producer->number,
		       producer->number);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

struct tally {
	long last[PRODUCERS];
	long events;
	long dropped;
};

static void
take_line(struct tally *tally, const char *line)
{
	const char *at = strstr(line, "realtime: ");
	long number, value, dropped;

	assert_non_null(at);
	if (sscanf(at, "realtime: %ld events were dropped", &dropped) == 1) {
		tally->dropped += dropped;
		return;
	}
	assert_int_equal(sscanf(at,
				"realtime: thread %ld made the forbidden "
				"system call %ld",
				&number, &value),
			 2);
	assert_in_range(number, 0, PRODUCERS - 1);
	assert_int_equal(value % PRODUCERS, number);
	assert_true(value > tally->last[number]);
	tally->last[number] = value;
	tally->events++;
}

static void
take_lines(struct tally *tally, FILE *in)
{
	char line[1100];

	while (fgets(line, sizeof(line), in) != NULL)
		take_line(tally, line);
	clearerr(in);
}

static void
test_many_producers(void **state)
{
	struct producer producers[PRODUCERS] = {0};
	struct tally tally = {.last = {-1, -1, -1}};
	size_t drained = 0;
	int ends[2], old_stderr, i;
	FILE *in;

	(void)state;
	old_stderr = dup(STDERR_FILENO);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	in = fdopen(ends[0], "r");
	assert_non_null(in);
	log_init(LOG_LEVEL_INFO);
	atomic_store(&running, PRODUCERS);
	for (i = 0; i < PRODUCERS; i++) {
		const struct thread_spec spec = {.name = "producer",
						 .main = produce,
						 .argument = &producers[i]};

		producers[i].number = i;
		assert_int_equal(thread_start(&producers[i].thread, &spec), 0);
	}
	while (atomic_load(&running) > 0) {
		drained += log_rt_drain();
		take_lines(&tally, in);
	}
	for (i = 0; i < PRODUCERS; i++)
		thread_join(&producers[i].thread);
	drained += log_rt_drain();
	take_lines(&tally, in);
	dup2(old_stderr, STDERR_FILENO);
	close(old_stderr);
	fclose(in);
	assert_int_equal(tally.events, drained);
	assert_int_equal(tally.events + tally.dropped, PRODUCERS * EVENTS);
	assert_true(tally.events > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_producers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ladder.c - how a thread gets its priority: by itself, by RealtimeKit, by
 * niceness, not at all; and why it stopped where it did.
 *
 * The kernel says EPERM for everything. What it meant is found by asking the
 * same questions in its order: the right to the priority (CAP_SYS_NICE or
 * RLIMIT_RTPRIO), then the control group's real-time runtime, which is 0 in
 * every new group where the kernel has RT_GROUP_SCHED.
 *
 * SCHED_RESET_ON_FORK keeps the priority from every child. */
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "lib/rt/own.h"
#include "lib/rt/permit.h"
#include "lib/rt/rtkit.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NICE_VALUE = -11, REASON_BYTES = 48 };

#define PROMOTE_TIMEOUT_NS (1000 * NS_PER_MS)

static int
set_policy(pid_t thread_id, int policy, int priority)
{
	const struct sched_param parameter = {.sched_priority = priority};

	return sched_setscheduler(thread_id, policy | SCHED_RESET_ON_FORK,
				  &parameter) == 0
		       ? 0
		       : -errno;
}

/* Room for one phrase more in cause. */
static void
add_cause(char cause[RT_CAUSE_BYTES], const char *phrase)
{
	const size_t length = strlen(cause);

	snprintf(cause + length, RT_CAUSE_BYTES - length, "%s%s",
		 length > 0 ? "; " : "", phrase);
}

static bool
realtime_is_off(void)
{
	FILE *file = fopen("/proc/sys/kernel/sched_rt_runtime_us", "re");
	long runtime = -1;
	bool off = false;

	if (file == NULL)
		return false;
	off = fscanf(file, "%ld", &runtime) == 1 && runtime == 0;
	fclose(file);
	return off;
}

static void
explain_refusal(int error, int priority, char cause[RT_CAUSE_BYTES])
{
	const uint64_t limit = permit_limit(RLIMIT_RTPRIO);
	char phrase[REASON_BYTES];

	if (error != -EPERM)
		snprintf(phrase, sizeof(phrase), "sched_setscheduler: %s",
			 text_of_error(error));
	else if (!permit_capability(CAP_SYS_NICE) && limit < (uint64_t)priority)
		snprintf(phrase, sizeof(phrase),
			 "RLIMIT_RTPRIO is %" PRIu64 ", below %d", limit,
			 priority);
	else if (realtime_is_off())
		snprintf(phrase, sizeof(phrase), "sched_rt_runtime_us is 0");
	else
		snprintf(phrase, sizeof(phrase),
			 "the cgroup has no real-time runtime");
	add_cause(cause, phrase);
}

static void
explain_nice(char cause[RT_CAUSE_BYTES])
{
	char phrase[REASON_BYTES];

	snprintf(phrase, sizeof(phrase), "RLIMIT_NICE is %" PRIu64 ", below %d",
		 permit_limit(RLIMIT_NICE), 20 - NICE_VALUE);
	add_cause(cause, phrase);
}

static enum rt_rung
climb(int priority, char cause[RT_CAUSE_BYTES])
{
	char reason[REASON_BYTES];
	int result = 0;

	cause[0] = '\0';
	result = set_policy(0, SCHED_FIFO, priority);
	if (result == 0)
		return RT_RUNG_FIFO;
	explain_refusal(result, priority, cause);
	if (rtkit_promote(gettid(), priority, PROMOTE_TIMEOUT_NS, reason,
			  sizeof(reason)) == 0)
		return RT_RUNG_RTKIT;
	add_cause(cause, reason);
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), NICE_VALUE) == 0)
		return RT_RUNG_NICE;
	explain_nice(cause);
	return RT_RUNG_NORMAL;
}

enum rt_rung
rt_promote(struct rt_figures *figures, int priority)
{
	const enum rt_rung rung = climb(priority, figures->cause);

	/* With it the cause is there to be read. */
	atomic_store_explicit(&figures->rung, rung, memory_order_release);
	return rung;
}

struct probe {
	int priority;
	enum rt_rung rung;
	char *cause;
};

static void *
probe_main(void *argument)
{
	struct probe *probe = argument;

	probe->rung = climb(probe->priority, probe->cause);
	return NULL;
}

/* A thread of its own: what it is given ends with it. */
enum rt_rung
rt_probe(int priority, char cause[RT_CAUSE_BYTES])
{
	struct probe probe = {
		.priority = priority,
		.rung = RT_RUNG_UNTRIED,
		.cause = cause,
	};
	const struct thread_spec spec = {
		.role = THREAD_ROLE_WORKER,
		.name = "rt-probe",
		.stack_bytes = THREAD_STACK_WORKER,
		.main = probe_main,
		.argument = &probe,
	};
	struct thread thread = {0};

	if (thread_start(&thread, &spec) == 0)
		thread_join(&thread);
	else
		snprintf(cause, RT_CAUSE_BYTES, "no thread could be started");
	return probe.rung;
}

void
rt_promotion_init(struct rt_promotion *promotion,
		  const struct rt_figures *figures, int priority)
{
	*promotion = (struct rt_promotion){
		.thread_id = figures->thread_id,
		.rung = (enum rt_rung)atomic_load_explicit(
			&figures->rung, memory_order_relaxed),
		.priority = priority,
	};
	promotion->waits = promotion->rung == RT_RUNG_RTKIT;
}

int
rt_promotion_run(const struct rt_promotion *promotion)
{
	char reason[REASON_BYTES];

	switch (promotion->rung) {
	case RT_RUNG_FIFO:
		return set_policy(promotion->thread_id, SCHED_FIFO,
				  promotion->priority);
	case RT_RUNG_RTKIT:
		return rtkit_promote(promotion->thread_id, promotion->priority,
				     PROMOTE_TIMEOUT_NS, reason,
				     sizeof(reason));
	case RT_RUNG_NICE:
	case RT_RUNG_NORMAL:
	case RT_RUNG_UNTRIED:
		break;
	}
	return set_policy(promotion->thread_id, SCHED_OTHER, 0);
}

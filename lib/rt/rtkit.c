/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rtkit.c - one conversation with RealtimeKit over the system bus: connect, ask
 * for its limits, keep to them, ask for the thread, hang up.
 *
 * sd-bus waits without limit for the greeting of a bus that hangs, so the
 * greeting is waited for here, against the one deadline of the conversation. */
#include "lib/rt/rtkit.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define SERVICE "org.freedesktop.RealtimeKit1"
#define OBJECT "/org/freedesktop/RealtimeKit1"

/* Microseconds left until deadline, as sd-bus counts. */
static uint64_t
left_us(int64_t deadline_ns)
{
	const int64_t left_ns = deadline_ns - clock_now_ns();

	return left_ns > 0 ? (uint64_t)(left_ns / NS_PER_US) : 0;
}

static int
await_greeting(sd_bus *bus, int64_t deadline_ns)
{
	int result = 0;

	while ((result = sd_bus_is_ready(bus)) == 0) {
		const uint64_t left = left_us(deadline_ns);

		if (left == 0)
			return -ETIMEDOUT;
		result = sd_bus_process(bus, NULL);
		if (result == 0)
			result = sd_bus_wait(bus, left);
		if (result < 0)
			return result;
	}
	return result < 0 ? result : 0;
}

/* Every later call is given what is left, but never 0, which means "the
 * default". */
static int
limit_next_call(sd_bus *bus, int64_t deadline_ns)
{
	const uint64_t left = left_us(deadline_ns);

	return sd_bus_set_method_call_timeout(bus, left > 0 ? left : 1);
}

/* The service looks at both limits. */
static void
limit_realtime(int64_t longest_us)
{
	struct rlimit limit;

	if (longest_us <= 0 || getrlimit(RLIMIT_RTTIME, &limit) != 0)
		return;
	if (limit.rlim_max > (rlim_t)longest_us)
		limit.rlim_max = (rlim_t)longest_us;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	/* Lowering is always allowed; if it failed the service says so. */
	(void)setrlimit(RLIMIT_RTTIME, &limit);
}

static int
converse(sd_bus *bus, pid_t thread_id, int priority, int64_t deadline_ns,
	 sd_bus_error *error)
{
	int64_t longest_us = 0;
	int32_t highest = 0;
	int result = await_greeting(bus, deadline_ns);

	if (result < 0)
		return result;
	(void)limit_next_call(bus, deadline_ns);
	result = sd_bus_get_property_trivial(bus, SERVICE, OBJECT, SERVICE,
					     "MaxRealtimePriority", error, 'i',
					     &highest);
	if (result < 0)
		return result;
	(void)limit_next_call(bus, deadline_ns);
	result = sd_bus_get_property_trivial(bus, SERVICE, OBJECT, SERVICE,
					     "RTTimeUSecMax", error, 'x',
					     &longest_us);
	if (result < 0)
		return result;
	limit_realtime(longest_us);
	if (priority > highest)
		priority = highest;
	(void)limit_next_call(bus, deadline_ns);
	return sd_bus_call_method(bus, SERVICE, OBJECT, SERVICE,
				  "MakeThreadRealtimeWithPID", error, NULL,
				  "ttu", (uint64_t)getpid(),
				  (uint64_t)thread_id, (uint32_t)priority);
}

static void
explain(int result, const sd_bus_error *error, char *ret_reason,
	size_t reason_bytes)
{
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	    sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		snprintf(ret_reason, reason_bytes, "no RealtimeKit");
	else if (result == -ETIMEDOUT)
		snprintf(ret_reason, reason_bytes,
			 "RealtimeKit does not answer");
	else
		snprintf(ret_reason, reason_bytes, "RealtimeKit: %s",
			 text_of_error(result));
}

int
rtkit_promote(pid_t thread_id, int priority, int64_t timeout_ns,
	      char *ret_reason, size_t reason_bytes)
{
	const int64_t deadline_ns = clock_now_ns() + timeout_ns;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus = NULL;
	int result = sd_bus_open_system(&bus);

	if (result < 0) {
		snprintf(ret_reason, reason_bytes, "no system bus");
		return result;
	}
	result = converse(bus, thread_id, priority, deadline_ns, &error);
	if (result < 0)
		explain(result, &error, ret_reason, reason_bytes);
	sd_bus_error_free(&error);
	sd_bus_close_unref(bus);
	return result < 0 ? result : 0;
}

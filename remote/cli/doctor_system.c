/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor_system.c - what the system grants: real-time scheduling and locked
 * memory. A running daemon knows best what it got; without one, what a thread
 * of ours would get is tried. */
#include "lib/base/conf.h"
#include "lib/base/text.h"
#include "lib/client/client.h"
#include "lib/rt/rt.h"
#include "remote/cli/cli.h"
#include "remote/cli/doctor.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PATH_BYTES = 256, PRIORITY_PRESET = 45 };

/* The rings, the text of the program and its libraries, stacks: about twice
 * what a playing rotaryd locks. */
static const uint64_t enough_bytes = UINT64_C(32) * 1024 * 1024;

static const char grant_priority[] =
	"put \"@audio - rtprio 95\" into /etc/security/limits.d/rotary.conf, \"sudo adduser "
	"$USER audio\", and log in again";

static void
say_rung(struct doctor *doctor, const char *who, const char *rung,
	 const char *cause)
{
	if (strcmp(rung, rt_rung_name(RT_RUNG_FIFO)) == 0 ||
	    strcmp(rung, rt_rung_name(RT_RUNG_RTKIT)) == 0)
		doctor_say(doctor, DOCTOR_OK, "real time", NULL, "%s: %s", who,
			   rung);
	else
		doctor_say(doctor, DOCTOR_WARN, "real time", grant_priority,
			   "%s: only %s (%s)", who, rung, cause);
}

/* Threads on one rung for one cause are told of together. */
struct rung_group {
	struct text names;
	const char *rung;
	const char *cause;
};

static void
end_group(struct doctor *doctor, struct rung_group *group)
{
	if (group->names.length > 0)
		say_rung(doctor, text_string(&group->names), group->rung,
			 group->cause);
	text_clear(&group->names);
}

static void
join_group(struct doctor *doctor, struct rung_group *group, const char *who,
	   const char *rung, const char *cause)
{
	if (group->names.length > 0 && (strcmp(group->rung, rung) != 0 ||
					strcmp(group->cause, cause) != 0))
		end_group(doctor, group);
	if (group->names.length > 0)
		text_add(&group->names, ", ");
	text_add(&group->names, who);
	group->rung = rung;
	group->cause = cause;
}

/* The pairs of one thread: [from, end) of rtstats. */
static void
check_thread(struct doctor *doctor, struct rung_group *group,
	     const struct pairs *stats, size_t from, size_t end)
{
	const char *who = pairs_value(stats, from);
	const char *rung = "", *cause = "";
	size_t i = 0;

	for (i = from; i < end; i++) {
		const char *name = pairs_name(stats, i);
		const char *value = pairs_value(stats, i);

		if (strcmp(name, "rung") == 0)
			rung = value;
		else if (strcmp(name, "rung_cause") == 0)
			cause = value;
		else if (strcmp(name, "forbidden") == 0)
			doctor_say(doctor, DOCTOR_WARN, "real time",
				   "report it, with the output of \"rotary "
				   "stats\"",
				   "%s: system calls it should not make: %s",
				   who, value);
		else if (strcmp(name, "xruns") == 0 && strcmp(value, "0") != 0)
			doctor_say(
				doctor, DOCTOR_WARN, "real time",
				"a longer buffer_ms under [output]; \"rotary "
				"stats\" shows by how much it is late",
				"%s: the card ran dry %s times", who, value);
	}
	/* Before the card was ever opened its thread has tried nothing. */
	if (strcmp(rung, rt_rung_name(RT_RUNG_UNTRIED)) != 0)
		join_group(doctor, group, who, rung, cause);
}

void
doctor_check_realtime(struct doctor *doctor)
{
	char cause[RT_CAUSE_BYTES] = "";
	struct pairs stats = {0};
	struct rung_group group = {0};
	size_t from = 0, end = 0, threads = 0;
	int priority = PRIORITY_PRESET;

	if (doctor->cli->client == NULL ||
	    cli_ask(doctor->cli, &stats, "rtstats") < 0)
		pairs_clear(&stats);
	for (from = 0; from < stats.count; from = end) {
		end = pairs_next(&stats, from, "thread");
		if (strcmp(pairs_name(&stats, from), "thread") != 0)
			continue;
		threads++;
		check_thread(doctor, &group, &stats, from, end);
	}
	end_group(doctor, &group);
	text_finish(&group.names);
	pairs_finish(&stats);
	if (threads > 0)
		return;
	if (doctor->conf != NULL)
		priority = (int)conf_int(doctor->conf,
					 CONF_REALTIME_OUTPUT_PRIORITY);
	say_rung(doctor, "this user", rt_rung_name(rt_probe(priority, cause)),
		 cause);
}

/* With this capability the limit does not count. */
static bool
may_lock_all(const struct doctor *doctor)
{
	char path[PATH_BYTES], line[256];
	unsigned long long capabilities = 0;
	FILE *file = NULL;

	if (doctor->daemon_pid != 0)
		snprintf(path, sizeof(path), "%s/%d/status", doctor->proc,
			 (int)doctor->daemon_pid);
	else
		snprintf(path, sizeof(path), "%s/self/status", doctor->proc);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	fclose(file);
	return (capabilities >> CAP_IPC_LOCK & 1) != 0;
}

/* "Max locked memory         8388608              8388608    bytes" */
static bool
read_daemon_limit(const struct doctor *doctor, uint64_t *ret_bytes)
{
	static const char name[] = "Max locked memory";
	char path[PATH_BYTES], line[256], word[32];
	bool found = false;
	FILE *file = NULL;

	if (doctor->daemon_pid == 0)
		return false;
	snprintf(path, sizeof(path), "%s/%d/limits", doctor->proc,
		 (int)doctor->daemon_pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, name, sizeof(name) - 1) != 0 ||
		    sscanf(line + sizeof(name) - 1, "%31s", word) != 1)
			continue;
		found = true;
		*ret_bytes = strcmp(word, "unlimited") == 0
				     ? UINT64_MAX
				     : strtoull(word, NULL, 10);
	}
	fclose(file);
	return found;
}

void
doctor_check_memory(struct doctor *doctor)
{
	const char *who = "the daemon";
	uint64_t bytes = 0;
	struct rlimit limit;

	if (!read_daemon_limit(doctor, &bytes)) {
		who = "this user";
		getrlimit(RLIMIT_MEMLOCK, &limit);
		bytes = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
							: limit.rlim_cur;
	}
	if (bytes == UINT64_MAX || may_lock_all(doctor))
		doctor_say(doctor, DOCTOR_OK, "locked memory", NULL,
			   "%s: as much as is wanted", who);
	else if (bytes >= enough_bytes)
		doctor_say(doctor, DOCTOR_OK, "locked memory", NULL,
			   "%s: %" PRIu64 " MiB", who, bytes >> 20);
	else
		doctor_say(doctor, DOCTOR_WARN, "locked memory",
			   "put \"@audio - memlock 65536\" into "
			   "/etc/security/limits.d/rotary.conf and log in "
			   "again",
			   "%s: only %" PRIu64 " KiB, so the kernel may page "
			   "out what plays",
			   who, bytes >> 10);
}

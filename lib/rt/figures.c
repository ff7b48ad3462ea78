/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.c - what is counted about a real-time thread, and how it is told.
 *
 * The thread itself, with its handlers, is the only writer; all counters are
 * relaxed: they order nothing and need not agree with each other. What the
 * kernel counts (page faults, switches) is read from /proc by whoever asks, so
 * that the thread has nothing to do for it.
 *
 * Delays of wake-ups are counted in classes: one for each microsecond up to
 * 128, from there 64 for each power of two, so that a quantile is told a 64th
 * too high at most. */
#include "lib/base/text.h"
#include "lib/rt/own.h"
#include "lib/rt/syscall_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__thread struct rt_own rt_own;

void
rt_figures_begin(struct rt_figures *figures, const char *name)
{
	size_t i = 0;

	memset(figures->name, 0, sizeof(figures->name));
	strncpy(figures->name, name, sizeof(figures->name) - 1);
	memset(figures->cause, 0, sizeof(figures->cause));
	figures->thread_id = gettid();
	atomic_store_explicit(&figures->rung, RT_RUNG_UNTRIED,
			      memory_order_relaxed);
	atomic_store_explicit(&figures->sealed, 0, memory_order_relaxed);
	atomic_store_explicit(&figures->worst_wakeup_ns, 0,
			      memory_order_relaxed);
	for (i = 0; i < RT_WAKEUPS; i++)
		atomic_store_explicit(&figures->wakeups[i], 0,
				      memory_order_relaxed);
	atomic_store_explicit(&figures->worst_quantum_ns, 0,
			      memory_order_relaxed);
	atomic_store_explicit(&figures->periods, 0, memory_order_relaxed);
	atomic_store_explicit(&figures->xruns, 0, memory_order_relaxed);
	atomic_store_explicit(&figures->overruns, 0, memory_order_relaxed);
	for (i = 0; i < RT_SYSCALLS; i++)
		atomic_store_explicit(&figures->forbidden[i], 0,
				      memory_order_relaxed);
	atomic_store_explicit(&figures->allocator_calls, 0,
			      memory_order_relaxed);
	atomic_store_explicit(&figures->minor_before, 0, memory_order_relaxed);
	atomic_store_explicit(&figures->major_before, 0, memory_order_relaxed);
	rt_own.figures = figures;
}

void
rt_figures_end(void)
{
	rt_own.figures = NULL;
}

static RT_SAFE void
raise_to(ATOMIC(int64_t) * worst, int64_t value)
{
	if (value > atomic_load_explicit(worst, memory_order_relaxed))
		atomic_store_explicit(worst, value, memory_order_relaxed);
}

enum { EXACT_US = 128, CLASSES_PER_OCTAVE = 64, OCTAVE_BITS = 6 };

static RT_SAFE unsigned
wakeup_class(int64_t late_ns)
{
	const uint64_t us = late_ns > 0 ? (uint64_t)late_ns / 1000 : 0;
	unsigned octave, class;

	if (us < EXACT_US)
		return (unsigned)us;
	octave = 63 - (unsigned)__builtin_clzll(us);
	class = EXACT_US + (octave - OCTAVE_BITS - 1) * CLASSES_PER_OCTAVE +
		(unsigned)(us >> (octave - OCTAVE_BITS)) % CLASSES_PER_OCTAVE;
	return class < RT_WAKEUPS ? class : RT_WAKEUPS - 1;
}

/* The first microsecond past the class. */
static uint64_t
class_end_us(unsigned class)
{
	const unsigned above = class - EXACT_US;
	const unsigned shift = above / CLASSES_PER_OCTAVE + 1;

	if (class < EXACT_US)
		return class + 1;
	return (uint64_t)(CLASSES_PER_OCTAVE + above % CLASSES_PER_OCTAVE + 1)
	       << shift;
}

RT_SAFE void
figures_count(ATOMIC(uint32_t) * counter)
{
	const uint32_t count =
		atomic_load_explicit(counter, memory_order_relaxed);

	if (count < UINT32_MAX)
		atomic_store_explicit(counter, count + 1, memory_order_relaxed);
}

RT_SAFE void
rt_note_wakeup(struct rt_figures *figures, int64_t late_ns)
{
	raise_to(&figures->worst_wakeup_ns, late_ns);
	figures_count(&figures->wakeups[wakeup_class(late_ns)]);
}

static uint64_t
count_of(const struct rt_figures *figures, unsigned class)
{
	return atomic_load_explicit(&figures->wakeups[class],
				    memory_order_relaxed);
}

/* What all but one of 10,000 wake-ups were faster than. */
static uint64_t
quantile_us(const struct rt_figures *figures)
{
	uint64_t all = 0, slower = 0;
	unsigned i = RT_WAKEUPS;

	for (i = 0; i < RT_WAKEUPS; i++)
		all += count_of(figures, i);
	while (i > 0) {
		slower += count_of(figures, i - 1);
		if (slower > all / 10000)
			break;
		i--;
	}
	return i == 0 ? 0 : class_end_us(i - 1);
}

RT_SAFE void
rt_note_quantum(struct rt_figures *figures, int64_t used_ns)
{
	raise_to(&figures->worst_quantum_ns, used_ns);
	atomic_fetch_add_explicit(&figures->periods, 1, memory_order_relaxed);
}

const char *
rt_rung_name(enum rt_rung rung)
{
	switch (rung) {
	case RT_RUNG_FIFO:
		return "fifo";
	case RT_RUNG_RTKIT:
		return "rtkit";
	case RT_RUNG_NICE:
		return "nice";
	case RT_RUNG_NORMAL:
		return "normal";
	case RT_RUNG_UNTRIED:
		break;
	}
	return "untried";
}

static FILE *
open_task_file(const struct rt_figures *figures, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s",
		 (int)figures->thread_id, file);
	return fopen(path, "re");
}

/* The thread's name in the second field may hold anything; the rest follows
 * its last parenthesis. */
static bool
parse_faults(const char *line, uint64_t *ret_minor, uint64_t *ret_major)
{
	const char *rest = strrchr(line, ')');

	return rest != NULL &&
	       sscanf(rest,
		      ") %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64,
		      ret_minor, ret_major) == 2;
}

static uint64_t
since(uint64_t now, const ATOMIC(uint64_t) * before)
{
	const uint64_t then =
		atomic_load_explicit(before, memory_order_relaxed);

	return now > then ? now - then : 0;
}

static void
add_faults(const struct rt_figures *figures, struct text *text)
{
	FILE *file = open_task_file(figures, "stat");
	char line[1024] = "";
	uint64_t minor = 0;
	uint64_t major = 0;

	if (file == NULL)
		return;
	if (fgets(line, sizeof(line), file) != NULL &&
	    parse_faults(line, &minor, &major)) {
		text_printf(text, "minor_faults: %" PRIu64 "\n",
			    since(minor, &figures->minor_before));
		text_printf(text, "major_faults: %" PRIu64 "\n",
			    since(major, &figures->major_before));
	}
	fclose(file);
}

static void
add_switches(const struct rt_figures *figures, struct text *text)
{
	FILE *file = open_task_file(figures, "status");
	char line[256];
	uint64_t count = 0;

	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &count) ==
		    1)
			text_printf(text, "voluntary_switches: %" PRIu64 "\n",
				    count);
		if (sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64,
			   &count) == 1)
			text_printf(text, "involuntary_switches: %" PRIu64 "\n",
				    count);
	}
	fclose(file);
}

static void
add_forbidden(const struct rt_figures *figures, struct text *text)
{
	long number = 0;

	for (number = 0; number < RT_SYSCALLS; number++) {
		const uint32_t count = atomic_load_explicit(
			&figures->forbidden[number], memory_order_relaxed);
		const char *name = syscall_name(number);

		if (count == 0)
			continue;
		if (name != NULL)
			text_printf(text, "forbidden: %s %" PRIu32 "\n", name,
				    count);
		else
			text_printf(text, "forbidden: %ld %" PRIu32 "\n",
				    number, count);
	}
}

static void
add_count(struct text *text, const char *name, const ATOMIC(uint64_t) * count)
{
	text_printf(text, "%s: %" PRIu64 "\n", name,
		    atomic_load_explicit(count, memory_order_relaxed));
}

static void
add_worst(struct text *text, const char *name, const ATOMIC(int64_t) * worst)
{
	text_printf(text, "%s: %" PRId64 "\n", name,
		    atomic_load_explicit(worst, memory_order_relaxed) / 1000);
}

void
rt_figures_add(const struct rt_figures *figures, struct text *text)
{
	const enum rt_rung rung =
		atomic_load_explicit(&figures->rung, memory_order_acquire);

	text_printf(text, "thread: %s\n", figures->name);
	text_printf(text, "rung: %s\n", rt_rung_name(rung));
	if (rung != RT_RUNG_UNTRIED && figures->cause[0] != '\0')
		text_printf(text, "rung_cause: %s\n", figures->cause);
	text_printf(
		text, "sealed: %u\n",
		atomic_load_explicit(&figures->sealed, memory_order_relaxed));
	add_worst(text, "worst_wakeup_us", &figures->worst_wakeup_ns);
	text_printf(text, "p9999_wakeup_us: %" PRIu64 "\n",
		    quantile_us(figures));
	add_worst(text, "worst_quantum_us", &figures->worst_quantum_ns);
	add_count(text, "periods", &figures->periods);
	add_count(text, "xruns", &figures->xruns);
	add_count(text, "overruns", &figures->overruns);
	add_faults(figures, text);
	add_switches(figures, text);
	add_count(text, "allocator_calls", &figures->allocator_calls);
	add_forbidden(figures, text);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of rtstats, with the kernel's own counts of a living thread. */
#include "lib/base/text.h"
#include "lib/rt/rt.h"
#include "tests/kit/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static struct rt_figures figures;

/* The number after "name: " in text; -1: no such line. */
static long
number_of(const struct text *text, const char *name)
{
	char pattern[64];
	const char *line;
	long number = -1;

	snprintf(pattern, sizeof(pattern), "\n%s: ", name);
	line = strstr(text_string(text), pattern);
	if (line != NULL)
		sscanf(line + strlen(pattern), "%ld", &number);
	return number;
}

static bool
has_line(const struct text *text, const char *line)
{
	const char *at = strstr(text_string(text), line);

	return at != NULL && (at == text_string(text) || at[-1] == '\n') &&
	       at[strlen(line)] == '\n';
}

static void
what_was_noted_is_told(void **state)
{
	struct text text = {0};

	(void)state;
	rt_figures_begin(&figures, "decoder-with-a-long-name");
	rt_note_wakeup(&figures, 5999);
	rt_note_wakeup(&figures, 3000);
	rt_note_quantum(&figures, 2000000);
	rt_note_quantum(&figures, 1);
	atomic_store(&figures.xruns, 4);
	atomic_store(&figures.allocator_calls, 7);
	atomic_store(&figures.forbidden[SYS_openat], 3);
	atomic_store(&figures.forbidden[RT_SYSCALLS - 1], 2);
	rt_figures_add(&figures, &text);
	assert_true(has_line(&text, "thread: decoder-with-a-"));
	assert_true(has_line(&text, "rung: untried"));
	assert_null(strstr(text_string(&text), "rung_cause"));
	assert_true(has_line(&text, "sealed: 0"));
	assert_true(has_line(&text, "worst_wakeup_us: 5"));
	assert_true(has_line(&text, "worst_quantum_us: 2000"));
	assert_true(has_line(&text, "periods: 2"));
	assert_true(has_line(&text, "xruns: 4"));
	assert_true(has_line(&text, "overruns: 0"));
	assert_true(has_line(&text, "allocator_calls: 7"));
	assert_true(has_line(&text, "forbidden: openat 3"));
	assert_true(has_line(&text, "forbidden: 511 2"));
	text_finish(&text);
	rt_figures_end();
}

static void
a_count_stops_at_the_highest(void **state)
{
	struct text text = {0};

	(void)state;
	rt_figures_begin(&figures, "long-lived");
	atomic_store(&figures.wakeups[3], UINT32_MAX - 1);
	rt_note_wakeup(&figures, 3000);
	rt_note_wakeup(&figures, 3000);
	assert_int_equal(atomic_load(&figures.wakeups[3]), UINT32_MAX);
	rt_figures_add(&figures, &text);
	assert_true(has_line(&text, "p9999_wakeup_us: 4"));
	text_finish(&text);
	rt_figures_end();
}

/* One of 10,000 is left out, and what is told is at most a 64th too high. */
static void
a_quantile_of_the_wakeups_is_told(void **state)
{
	static const long delays_us[] = {0,    1,     127,    128,
					 129,  255,   256,    1000,
					 4014, 12345, 999999, 30000000};
	struct text text = {0};
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < sizeof(delays_us) / sizeof(delays_us[0]); i++) {
		const long delay_us = delays_us[i];
		long told;

		rt_figures_begin(&figures, "sleeper");
		for (k = 0; k < 9998; k++)
			rt_note_wakeup(&figures, -5);
		rt_note_wakeup(&figures, delay_us * 1000);
		rt_note_wakeup(&figures, 60000000000);
		text_clear(&text);
		rt_figures_add(&figures, &text);
		told = number_of(&text, "p9999_wakeup_us");
		assert_in_range(told, delay_us + 1,
				delay_us + delay_us / 64 + 1);
	}
	text_finish(&text);
	rt_figures_end();
}

static void
a_cause_is_told_when_there_is_one(void **state)
{
	struct text text = {0};

	(void)state;
	rt_figures_begin(&figures, "output");
	atomic_store(&figures.rung, RT_RUNG_NICE);
	strcpy(figures.cause, "because");
	rt_figures_add(&figures, &text);
	assert_true(has_line(&text, "rung: nice"));
	assert_true(has_line(&text, "rung_cause: because"));
	text_finish(&text);
	rt_figures_end();
}

static void
faults_are_those_since_the_seal(void **state)
{
	enum { PAGES = 300 };
	const size_t page = machine_page_bytes();
	struct text text = {0};
	char *pages;
	size_t i;

	(void)state;
	rt_figures_begin(&figures, "faulty");
	assert_int_equal(
		rt_seal(&figures, RT_FENCE_OFF, RT_PROFILE_DECODER, NULL), 0);
	rt_figures_add(&figures, &text);
	/* what rt_figures_add() itself touched, but not all since the start */
	assert_in_range(number_of(&text, "minor_faults"), 0, PAGES - 100);
	assert_true(number_of(&text, "major_faults") >= 0);
	assert_true(number_of(&text, "voluntary_switches") >= 0);
	assert_true(number_of(&text, "involuntary_switches") >= 0);
	pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	madvise(pages, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		pages[i * page] = 1;
	text_clear(&text);
	rt_figures_add(&figures, &text);
	assert_true(number_of(&text, "minor_faults") >= PAGES);
	munmap(pages, PAGES * page);
	text_finish(&text);
	rt_figures_end();
}

static void
a_thread_that_is_gone_has_no_kernel_counts(void **state)
{
	struct text text = {0};

	(void)state;
	rt_figures_begin(&figures, "gone");
	figures.thread_id = 0;
	rt_figures_add(&figures, &text);
	assert_true(has_line(&text, "thread: gone"));
	assert_int_equal(number_of(&text, "minor_faults"), -1);
	assert_int_equal(number_of(&text, "periods"), 0);
	text_finish(&text);
	rt_figures_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_noted_is_told),
		cmocka_unit_test(a_count_stops_at_the_highest),
		cmocka_unit_test(a_quantile_of_the_wakeups_is_told),
		cmocka_unit_test(a_cause_is_told_when_there_is_one),
		cmocka_unit_test(faults_are_those_since_the_seal),
		cmocka_unit_test(a_thread_that_is_gone_has_no_kernel_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

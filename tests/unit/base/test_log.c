/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_log.c - lines as they arrive at the other end of stderr.
 *
 * stderr is a pipe for each test, and the old one again after it. */
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { HEARD_BYTES = 256 * 1024 };

static int old_stderr = -1;
static int reading_end = -1;
static char heard[HEARD_BYTES];

static int
set_up(void **state)
{
	int ends[2];

	(void)state;
	fflush(stderr);
	unsetenv("JOURNAL_STREAM");
	signal(SIGPIPE, SIG_IGN);
	old_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	reading_end = ends[0];
	if (dup2(ends[1], STDERR_FILENO) < 0)
		return -1;
	close(ends[1]);
	return fcntl(reading_end, F_SETFL, O_NONBLOCK);
}

static int
tear_down(void **state)
{
	(void)state;
	dup2(old_stderr, STDERR_FILENO);
	close(old_stderr);
	if (reading_end >= 0)
		close(reading_end);
	reading_end = -1;
	log_init(LOG_LEVEL_INFO);
	return 0;
}

/* All that has been written so far. */
static const char *
hear(void)
{
	size_t length = 0;
	ssize_t got;

	while ((got = read(reading_end, heard + length,
			   sizeof(heard) - 1 - length)) > 0)
		length += (size_t)got;
	heard[length] = '\0';
	return heard;
}

/* The line without its time, which must look like one. */
static const char *
skip_time(const char *line)
{
	static const char FORM[] = "00:00:00.000 ";
	size_t i;

	for (i = 0; i < sizeof(FORM) - 1; i++) {
		if (FORM[i] == '0')
			assert_in_range(line[i], '0', '9');
		else
			assert_int_equal(line[i], FORM[i]);
	}
	return line + sizeof(FORM) - 1;
}

static void
test_levels(void **state)
{
	(void)state;
	log_init(LOG_LEVEL_WARNING);
	assert_true(log_enabled(LOG_LEVEL_ERROR));
	assert_false(log_enabled(LOG_LEVEL_INFO));
	log_info("player", "not heard");
	log_debug("player", "not heard");
	assert_string_equal(hear(), "");
	errno = 77;
	log_err("player", "cannot open %s: %d", "x", 5);
	assert_int_equal(errno, 77);
	assert_string_equal(skip_time(hear()),
			    "error player: cannot open x: 5\n");
	log_warn("player", "hm");
	assert_string_equal(skip_time(hear()), "warning player: hm\n");
	log_set_level(LOG_LEVEL_DEBUG);
	log_info("player", "hm");
	assert_string_equal(skip_time(hear()), "info player: hm\n");
	log_debug("player", "hm");
	assert_string_equal(skip_time(hear()), "debug player: hm\n");
}

static void
set_journal_stream(unsigned long long off_by)
{
	struct stat status;
	char value[64];

	assert_int_equal(fstat(STDERR_FILENO, &status), 0);
	snprintf(value, sizeof(value), "%llu:%llu",
		 (unsigned long long)status.st_dev,
		 (unsigned long long)status.st_ino + off_by);
	setenv("JOURNAL_STREAM", value, 1);
}

static void
test_journal(void **state)
{
	(void)state;
	set_journal_stream(0);
	log_init(LOG_LEVEL_DEBUG);
	log_err("a", "x");
	log_warn("a", "x");
	log_info("a", "x");
	log_debug("a", "x");
	assert_string_equal(hear(), "<3>a: x\n<4>a: x\n<6>a: x\n<7>a: x\n");
	/* stderr was sent elsewhere since. */
	set_journal_stream(1);
	log_init(LOG_LEVEL_INFO);
	log_err("a", "x");
	assert_string_equal(skip_time(hear()), "error a: x\n");
	setenv("JOURNAL_STREAM", "nonsense", 1);
	log_init(LOG_LEVEL_INFO);
	log_err("a", "x");
	assert_string_equal(skip_time(hear()), "error a: x\n");
}

static void
test_one_clean_line(void **state)
{
	static char huge[5000];
	const char *line;

	(void)state;
	log_init(LOG_LEVEL_INFO);
	log_err("tag", "%s", "two\nlines\x1b[31m \xff");
	assert_string_equal(skip_time(hear()),
			    "error tag: two lines [31m \xef\xbf\xbd\n");
	memset(huge, 'h', sizeof(huge) - 1);
	log_err(huge, "%s", huge);
	line = hear();
	assert_true(strlen(line) <= 1024);
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

/* Nobody reads: lines are lost instead of waited for, and said to be. */
static void
test_full_pipe(void **state)
{
	const char *text;
	unsigned i, lines = 0, lost = 0;

	(void)state;
	log_init(LOG_LEVEL_INFO);
	for (i = 0; i < 3000; i++)
		log_info("x", "%0500u", i);
	for (text = hear(); (text = strchr(text, '\n')) != NULL; text++)
		lines++;
	assert_true(lines > 0 && lines < 3000);
	log_info("x", "again");
	text = skip_time(hear());
	assert_int_equal(sscanf(text, "warning log: %u lines were lost", &lost),
			 1);
	assert_int_equal(lines + lost, 3000);
	text = strchr(text, '\n');
	assert_non_null(text);
	assert_string_equal(skip_time(text + 1), "info x: again\n");
	log_info("x", "no more of it");
	assert_string_equal(skip_time(hear()), "info x: no more of it\n");
}

static void
test_broken_pipe_and_full_disk(void **state)
{
	int full;
	unsigned lost = 0;

	(void)state;
	log_init(LOG_LEVEL_INFO);
	close(reading_end);
	reading_end = -1;
	log_err("x", "nobody hears");
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(full >= 0);
	assert_true(dup2(full, STDERR_FILENO) >= 0);
	log_err("x", "no room");
	close(full);
	close(STDERR_FILENO);
	log_err("x", "no stderr");
	/* And it is well again when stderr is. */
	assert_int_equal(tear_down(NULL), 0);
	assert_int_equal(set_up(NULL), 0);
	log_err("x", "back");
	assert_int_equal(sscanf(skip_time(hear()),
				"warning log: %u lines were lost", &lost),
			 1);
	assert_int_equal(lost, 3);
}

static void
test_events(void **state)
{
	static const struct {
		enum log_rt_event event;
		int64_t first, second;
		const char *line;
	} CASES[] = {
		{LOG_RT_XRUN, 441, 0,
		 "warning realtime: output 0: the card "
		 "ran dry, 441 frames late\n"},
		{LOG_RT_XRUN, -1, 1,
		 "warning realtime: output 1: the card ran dry\n"},
		{LOG_RT_SUSPENDED, 0, 0,
		 "info realtime: output 0: the card was suspended\n"},
		{LOG_RT_CARD_LOST, ENODEV, 0,
		 "error realtime: output 0: the card is gone: No such device\n"},
		{LOG_RT_OVERRUN, 21000000, 9,
		 "warning realtime: stream 9: a step of its decoder took "
		 "21000 us and was demoted\n"},
		{LOG_RT_FORBIDDEN, 12, 345,
		 "warning realtime: thread 345 made the forbidden system call "
		 "12\n"},
		{LOG_RT_DECODE_GAP, 4096, 9,
		 "warning realtime: stream 9: damaged, 4096 frames of silence "
		 "instead\n"},
	};
	size_t i;

	(void)state;
	log_init(LOG_LEVEL_INFO);
	assert_int_equal(sizeof(CASES) / sizeof(CASES[0]),
			 LOG_RT_EVENT_COUNT + 1);
	assert_int_equal(log_rt_drain(), 0);
	for (i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		log_rt(CASES[i].event, CASES[i].first, CASES[i].second);
		assert_string_equal(hear(), "");
		assert_int_equal(log_rt_drain(), 1);
		assert_string_equal(skip_time(hear()), CASES[i].line);
	}
}

static void
test_full_ring(void **state)
{
	const char *text;
	size_t kept, round;
	unsigned i, dropped = 0;

	(void)state;
	log_init(LOG_LEVEL_WARNING);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 1000; i++)
			log_rt(LOG_RT_SUSPENDED, 0, i); /* not shown */
		kept = log_rt_drain();
		assert_in_range(kept, 128, 999);
		text = hear();
		assert_int_equal(sscanf(skip_time(text),
					"warning realtime: %u events were "
					"dropped",
					&dropped),
				 1);
		assert_int_equal(kept + dropped, 1000);
		assert_int_equal(log_rt_drain(), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_levels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_journal, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_one_clean_line, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_full_pipe, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_broken_pipe_and_full_disk,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_ring, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.c - lines on stderr.
 *
 * A line is made on the caller's stack and written by one write(). stderr may
 * be a pipe or a socket whose reader stopped reading: a line that would have
 * to wait is lost, and counted, since the control thread logs too. A pipe that
 * polls as writable takes PIPE_BUF bytes, four of our lines, without waiting.
 * Lost lines are owned up to with the next one that passes. The events of
 * real-time threads are in log_rt.c. */
#include "lib/base/log.h"

#include "lib/base/log_line.h"
#include "lib/base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, PREFIX_BYTES = 64, TOPIC_BYTES = 64 };

static ATOMIC(int) current_level = LOG_LEVEL_INFO;
static ATOMIC(bool) to_journal;
static ATOMIC(uint32_t) lost_lines;

/* systemd names the device and inode of the journal's socket. stderr may have
 * been sent elsewhere since, so both must be those of stderr. */
static bool
stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device = 0, inode = 0;
	struct stat status;
	char rest = 0;

	if (stream == NULL ||
	    sscanf(stream, "%llu:%llu%c", &device, &inode, &rest) != 2)
		return false;
	if (fstat(STDERR_FILENO, &status) < 0)
		return false;
	return status.st_dev == device && status.st_ino == inode;
}

void
log_init(enum log_level level)
{
	atomic_store(&to_journal, stderr_is_journal());
	log_set_level(level);
}

void
log_set_level(enum log_level level)
{
	atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
}

bool
log_enabled(enum log_level level)
{
	return (int)level <=
	       atomic_load_explicit(&current_level, memory_order_relaxed);
}

/* <3> error, <4> warning, <6> info, <7> debug, as syslog counts them. */
static int
make_prefix(char *prefix, enum log_level level, int64_t age_ns)
{
	static const char *const words[] = {"error", "warning", "info",
					    "debug"};
	static const char numbers[] = "3467";
	struct timespec now;
	struct tm local;
	int64_t wall_ns = 0;
	time_t seconds = 0;

	if (atomic_load(&to_journal))
		return snprintf(prefix, PREFIX_BYTES, "<%c>", numbers[level]);
	clock_gettime(CLOCK_REALTIME, &now);
	wall_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - age_ns;
	seconds = (time_t)(wall_ns / 1000000000);
	localtime_r(&seconds, &local);
	return snprintf(prefix, PREFIX_BYTES, "%02d:%02d:%02d.%03d %s ",
			local.tm_hour, local.tm_min, local.tm_sec,
			(int)(wall_ns % 1000000000 / 1000000), words[level]);
}

/* False: stderr could not take it now, or at all. */
static bool
write_line(const char *line, size_t length)
{
	struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&ready, 1, 0) == 0)
		return false;
	return write(STDERR_FILENO, line, length) == (ssize_t)length;
}

static void
write_lost(void)
{
	const uint32_t lost = atomic_exchange(&lost_lines, 0);
	char line[PREFIX_BYTES * 2];
	int length = 0;

	if (lost == 0)
		return;
	length = make_prefix(line, LOG_LEVEL_WARNING, 0);
	length += snprintf(line + length, sizeof(line) - (size_t)length,
			   "log: %u lines were lost\n", lost);
	if (!write_line(line, (size_t)length))
		atomic_fetch_add(&lost_lines, lost);
}

void
log_line(enum log_level level, int64_t age_ns, const char *topic,
	 const char *message)
{
	char bytes[LINE_BYTES];
	/* Never grows: what is added is limited to what is left. */
	struct text line = {.bytes = bytes, .capacity = sizeof(bytes)};
	const int old_errno = errno;

	line.length = (size_t)make_prefix(bytes, level, age_ns);
	text_add_clean(&line, topic, strlen(topic), TOPIC_BYTES);
	text_add(&line, ": ");
	text_add_clean(&line, message, strlen(message),
		       sizeof(bytes) - line.length - 2);
	text_add_char(&line, '\n');
	write_lost();
	if (!write_line(bytes, line.length))
		atomic_fetch_add(&lost_lines, 1);
	errno = old_errno;
}

static void PRINTF_LIKE(3, 0)
	log_format(enum log_level level, const char *topic, const char *format,
		   va_list arguments)
{
	char message[LINE_BYTES];

	if (!log_enabled(level))
		return;
	vsnprintf(message, sizeof(message), format, arguments);
	log_line(level, 0, topic, message);
}

void
log_err(const char *topic, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_format(LOG_LEVEL_ERROR, topic, format, arguments);
	va_end(arguments);
}

void
log_warn(const char *topic, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_format(LOG_LEVEL_WARNING, topic, format, arguments);
	va_end(arguments);
}

void
log_info(const char *topic, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_format(LOG_LEVEL_INFO, topic, format, arguments);
	va_end(arguments);
}

void
log_debug(const char *topic, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_format(LOG_LEVEL_DEBUG, topic, format, arguments);
	va_end(arguments);
}

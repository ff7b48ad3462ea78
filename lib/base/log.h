/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.h - levelled lines on stderr, and events of the real-time threads.
 *
 * A line is "<3>topic: text" when stderr is the journal (JOURNAL_STREAM names
 * it), "HH:MM:SS.mmm error topic: text" else. A full disk or a closed pipe
 * loses lines and nothing more. Text is made one line and valid UTF-8.
 * Real-time threads never make text: log_rt() puts a fixed-size event into a
 * lock-free ring, which control drains and words.
 * Threads: log_err() and friends by all but decoder and output; log_rt() by
 * any; log_rt_drain() by control. Errors: none are returned. */
#ifndef ROTARY_BASE_LOG_H
#define ROTARY_BASE_LOG_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,   /* something the user asked for did not happen */
	LOG_LEVEL_WARNING, /* it happened, but not as it should */
	LOG_LEVEL_INFO,    /* what a user wants to read afterwards */
	LOG_LEVEL_DEBUG,   /* for us */
};

/* What real-time threads report. The comment names the two arguments. */
enum log_rt_event {
	LOG_RT_XRUN,       /* frames of silence heard or -1, output */
	LOG_RT_SUSPENDED,  /* 0, output */
	LOG_RT_CARD_LOST,  /* errno, output */
	LOG_RT_OVERRUN,    /* quantum in ns, stream id */
	LOG_RT_FORBIDDEN,  /* system call number, thread id */
	LOG_RT_DECODE_GAP, /* frames of silence put in, stream id */
	LOG_RT_EVENT_COUNT,
};

/* Before any other call; topic lines below level are dropped. */
void log_init(enum log_level level);
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);

void log_err(const char *topic, const char *format, ...) PRINTF_LIKE(2, 3);
void log_warn(const char *topic, const char *format, ...) PRINTF_LIKE(2, 3);
void log_info(const char *topic, const char *format, ...) PRINTF_LIKE(2, 3);
void log_debug(const char *topic, const char *format, ...) PRINTF_LIKE(2, 3);

/* Records an event; when the ring is full it is dropped and counted. */
RT_SAFE void log_rt(enum log_rt_event event, int64_t first, int64_t second);

/* Words and writes what has gathered, bounded: not what comes in meanwhile.
 * Returns the number of events. */
size_t log_rt_drain(void);

#endif

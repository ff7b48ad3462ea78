/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage.h - runs rotary-remote on paper devices and is its daemon: what it
 * sends is read here, line by line. Nothing waits for time to pass: each step
 * waits for what the remote says, in its log or on the socket. */
#ifndef ROTARY_KIT_STAGE_H
#define ROTARY_KIT_STAGE_H

#include "tests/kit/paper/paper_device.h"

#include <stdbool.h>
#include <sys/types.h>

struct stage {
	struct _UMockdevTestbed *testbed;
	char folder[32];
	int listening;
	int client; /* -1: none */
	bool refuses;
	bool at_rest; /* the remote waits in idle */
	int log;      /* the remote's stderr, and its stdout */
	pid_t pid;
	int64_t *shift; /* of the remote's clocks: see shift.c */
	char log_bytes[65536];
	size_t log_length;
	char input[65536];
	size_t input_length;
};

/* The remote is started with --log debug, and its greeting is done. first, or
 * NULL, is there before it. */
void stage_begin(struct stage *stage, const struct paper_device *first);
/* The same with options, NULL after the last. */
void stage_begin_with(struct stage *stage, const struct paper_device *first,
		      const char *const options[]);
/* The remote with these options only: --test or --learn, which speak to no
 * daemon. */
void stage_run(struct stage *stage, const struct paper_device *first,
	       const char *const options[]);
/* SIGTERM; it must end with 0. */
void stage_end(struct stage *stage);
/* It ends by itself. Returns what waitpid() says. */
int stage_wait_end(struct stage *stage);

/* Fails, and shows the log. */
void stage_give_up(struct stage *stage, const char *what);

/* Answers until it has no more to say to what it has read; true when line was
 * among its commands. */
bool stage_settle(struct stage *stage, const char *line);

/* Time passes for the remote, once all that it has asked is answered: it would
 * be waiting for that else. Or the machine sleeps for so long. It hears of
 * either when it is woken by something. */
void stage_pass(struct stage *stage, int64_t ns);
void stage_sleep(struct stage *stage, int64_t ns);
/* Fails when the remote has work to do while nothing happens. */
void stage_expect_rest(const struct stage *stage);

void stage_add(struct stage *stage, const struct paper_device *device);
/* Adds and waits until the remote has it. */
void stage_plug(struct stage *stage, const struct paper_device *device);
void stage_unplug(struct stage *stage, const struct paper_device *device);
void stage_key(struct stage *stage, const struct paper_device *device,
	       uint16_t code, int32_t value);

/* Until the log has this, from where the last one was found. */
void stage_wait_log(struct stage *stage, const char *words);
bool stage_logged(const struct stage *stage, const char *words);
/* The next whole line of it. Lives until the next call. */
const char *stage_log_line(struct stage *stage);

/* The next command, idle and questions left out; all are answered. */
const char *stage_next(struct stage *stage);
/* The same, but NULL when none comes for so long: for trying again. */
const char *stage_try(struct stage *stage, int timeout_ms);
void stage_expect(struct stage *stage, const char *line);
/* Answers what is there, without waiting; true when a command was. */
bool stage_drain(struct stage *stage);

/* As a daemon that ends: hangs up, and takes the next connection. */
void stage_hang_up(struct stage *stage);
void stage_accept(struct stage *stage);
/* Every command is refused from now on. */
void stage_refuse(struct stage *stage);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor.h - the checks of "rotary doctor" and how they report. Each check
 * says at least one thing, but where it is said otherwise. */
#ifndef ROTARY_CLI_DOCTOR_H
#define ROTARY_CLI_DOCTOR_H

#include "lib/base/attr.h"

#include <sys/types.h>

struct cli;
struct conf;

enum doctor_grade { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor {
	struct cli *cli;   /* client: NULL when no daemon answers */
	const char *proc;  /* "/proc", or a tree of a test */
	const char *dev;   /* "/dev" */
	struct conf *conf; /* NULL when it cannot be read */
	pid_t daemon_pid;  /* 0: unknown */
	unsigned said;
	unsigned failed;
};

/* One finding. todo: what the user can do, or NULL. */
void doctor_say(struct doctor *doctor, enum doctor_grade grade,
		const char *subject, const char *todo, const char *format, ...)
	PRINTF_LIKE(5, 6);

/* Connects, where a daemon answers, and keeps the connection in cli. */
void doctor_check_socket(struct doctor *doctor);
/* Reads the configuration, and keeps it. */
void doctor_check_conf(struct doctor *doctor);
void doctor_check_music(struct doctor *doctor);
void doctor_check_cards(struct doctor *doctor);
/* As the daemon tells; silent without one. */
void doctor_check_outputs(struct doctor *doctor);
void doctor_check_realtime(struct doctor *doctor);
void doctor_check_memory(struct doctor *doctor);
/* Without a daemon it says nothing. */
void doctor_check_allocator(struct doctor *doctor);
/* As the daemon tells; silent without one that does. */
void doctor_check_skips(struct doctor *doctor);

#endif

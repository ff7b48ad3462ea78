/* SPDX-License-Identifier: GPL-3.0-or-later */
/* child.h - runs a piece of a test in a process of its own: for what ends the
 * process, or cannot be undone in it (rights, limits, seccomp). */
#ifndef ROTARY_KIT_CHILD_H
#define ROTARY_KIT_CHILD_H

#include <stddef.h>

/* Runs main(argument) in a fork; its result is the exit code. Returns the
 * status as waitpid() gives it. What the child wrote to stderr is in
 * ret_errors (NULL: goes where ours goes), cut to size, NUL-terminated. */
int child_run(int (*main)(void *argument), void *argument, char *ret_errors,
	      size_t size);

/* In a child: an ordinary user's rights, whoever we are. Limits that should
 * differ are set before. */
void child_drop_rights(void);

#endif

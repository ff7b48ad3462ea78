/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_name.h - names of the system calls that a player may come across.
 * Pure, async-signal-safe. Private to lib/rt. */
#ifndef ROTARY_RT_SYSCALL_NAME_H
#define ROTARY_RT_SYSCALL_NAME_H

/* NULL: not in the table. */
const char *syscall_name(long number);

#endif

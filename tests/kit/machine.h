/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.h - what the kernel that runs a test can do. On Linux itself all of
 * it; an emulator such as qemu-user leaves some of it out, and there a test
 * that needs it is skipped, with the reason. */
#ifndef ROTARY_KIT_MACHINE_H
#define ROTARY_KIT_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of a page: 4, 16 or 64 KiB. */
size_t machine_page_bytes(void);

/* All print the reason when it is false. */
bool machine_has_seccomp(void);
/* madvise() does what it is asked, or says that it did not. */
bool machine_heeds_advice(void);
/* /proc tells which signals our threads block, not those of an emulator. */
bool machine_tells_signals(void);

/* The signals that a thread can block at all. */
void machine_blockable_signals(sigset_t *ret_set);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counts.h - who allocates and who locks, by the library that calls.
 *
 * The program's own malloc() and pthread functions stand before libc's, for
 * every library: they note where they were called from, and pass it on. Only
 * between counts_begin() and counts_end(), which also make a system call that
 * strace shows: "rotary: begin", "rotary: end".
 * Threads: one. RT: none. */
#ifndef ROTARY_BENCH_COUNTS_H
#define ROTARY_BENCH_COUNTS_H

/* From nothing. */
void counts_begin(void);
void counts_end(void);
/* A line for each object that is loaded: "PHASE name allocations N frees N
 * locks N", the program itself being "rotary". */
void counts_print(const char *phase);

#endif

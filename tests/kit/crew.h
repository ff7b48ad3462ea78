/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crew.h - threads for stress tests: pinned to the CPUs in turn and released
 * together. Jolted ones have a timer each that makes them give up the CPU
 * wherever they stand, so that "slow reader" cases that would need hours of bad
 * luck happen all the time. (ThreadSanitizer delays signals, so there only its
 * own scheduling counts.) A calm crew gets no signal, which would wake it. */
#ifndef ROTARY_KIT_CREW_H
#define ROTARY_KIT_CREW_H

#include <stddef.h>

enum { CREW_MAX = 8 };

enum crew_mood { CREW_CALM, CREW_JOLTED };

struct crew_member {
	void (*main)(void *argument, unsigned index);
	void *argument;
};

/* Runs all members and returns when the last has ended. index: the member's
 * place in members. */
void crew_run(const struct crew_member *members, unsigned count,
	      enum crew_mood mood);

/* In a member: stands for a moment where a descheduled thread would. */
void crew_dawdle(void);

/* Ends the program with file and line unless condition holds; unlike cmocka's
 * asserts it may be used on every thread. */
#define crew_check(condition)                                                  \
	crew_check_at(condition, #condition, __FILE__, __LINE__)
void crew_check_at(int condition, const char *text, const char *file, int line);

#endif

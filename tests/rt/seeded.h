/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeded.h - see seeded.c. */
#ifndef ROTARY_TESTS_RT_SEEDED_H
#define ROTARY_TESTS_RT_SEEDED_H

#include "lib/base/attr.h"

RT_SAFE void *fault_allocates(size_t size);
RT_DEVICE void seeded_waits(void);
RT_SAFE void fault_waits(void);
RT_SAFE int fault_calls_a_pointer(int (*function)(int));
RT_SAFE int seeded_calls_a_listed_pointer(int (*listed)(int));
RT_SAFE size_t fault_recurses(const void *const *link);
RT_SAFE int seeded_is_innocent(int value);

#endif

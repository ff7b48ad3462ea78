/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeded.c - one fault of each kind that the call-graph check must find. Never
 * linked into anything. The check must name each function called fault_*, and
 * none of the others. */
#include "tests/rt/seeded.h"

#include <stdlib.h>
#include <time.h>

static void *
hidden_in_a_helper(size_t size)
{
	return malloc(size);
}

RT_SAFE void *
fault_allocates(size_t size)
{
	return hidden_in_a_helper(size + 1);
}

RT_DEVICE void
seeded_waits(void)
{
	const struct timespec moment = {0, 1};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
}

RT_SAFE void
fault_waits(void)
{
	seeded_waits();
}

RT_SAFE int
fault_calls_a_pointer(int (*function)(int))
{
	return function(1) + 1;
}

RT_SAFE int
seeded_calls_a_listed_pointer(int (*listed)(int))
{
	return listed(1) + 1;
}

RT_SAFE size_t
fault_recurses(const void *const *link)
{
	return *link == NULL ? 0 : 1 + 2 * fault_recurses(*link);
}

RT_SAFE int
seeded_is_innocent(int value)
{
	return abs(value) + 1;
}

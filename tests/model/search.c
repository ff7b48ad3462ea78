/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - a search's words and its outcome are one line of stdout, so that
 * what is printed says how much was tried, also when nothing is wrong. */
#include "tests/model/search.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *
search_run(const struct explorer_case *explored, const char *format, ...)
{
	const char *failure = NULL;
	const uint64_t runs = explorer_run(explored, &failure);
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("%" PRIu64 " runs, %u preemptions, %u delays: %s\n", runs,
	       explored->preemptions, explored->delays,
	       failure != NULL ? failure : "no failure");
	return failure;
}

void
search_parse(int argc, char **argv, unsigned *const numbers[])
{
	int i;

	for (i = 1; i < argc && numbers[i - 1] != NULL; i++)
		*numbers[i - 1] = (unsigned)strtoul(argv[i], NULL, 10);
}

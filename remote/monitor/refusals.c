/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusals.c - a short list that only grows. */
#include "remote/monitor/refusals.h"

#include <stdlib.h>
#include <string.h>

bool
refusals_is_new(struct refusals *refusals, const char *words)
{
	int i = 0;

	for (i = 0; i < refusals->count; i++)
		if (strcmp(refusals->words[i], words) == 0)
			return false;
	if (refusals->count == REFUSALS_MAX)
		return false;
	refusals->words[i] = strdup(words);
	if (refusals->words[i] != NULL)
		refusals->count++;
	return true;
}

void
refusals_finish(struct refusals *refusals)
{
	for (; refusals->count > 0; refusals->count--)
		free(refusals->words[refusals->count - 1]);
}

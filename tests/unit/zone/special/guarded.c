/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guarded.c - does one thing wrong, as told: for the debug build to notice.
 * usage: guarded past | before | late | twice | nothing */
#include <stdlib.h>
#include <string.h>

enum { SIZE = 100, OTHERS = 3000 };

int
main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "nothing";
	char *volatile block = malloc(SIZE);
	char *volatile again = block;
	int i;

	if (block == NULL)
		return 1;
	memset(block, 1, SIZE);
	if (strcmp(what, "past") == 0)
		block[SIZE] = 1;
	if (strcmp(what, "before") == 0)
		block[-1] = 1;
	free(block);
	if (strcmp(what, "late") == 0)
		again[SIZE / 2] = 1;
	if (strcmp(what, "twice") == 0)
		free(again);
	for (i = 0; i < OTHERS; i++)
		free(malloc(SIZE));
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key_names.c - the table of names, and which of them was meant. */
#include "remote/cli/key_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 48 };

static const char *const names[] = {
#include "key_names.inc"
};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

static const char *
without_prefix(const char *name)
{
	return strncasecmp(name, "KEY_", 4) == 0 ? name + 4 : name;
}

bool
key_names_has(const char *name)
{
	int i = 0;

	name = without_prefix(name);
	for (i = 0; i < NAME_COUNT; i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	return false;
}

const char *
key_names_at(int index)
{
	return index >= 0 && index < NAME_COUNT ? names[index] : NULL;
}

static bool
is_same_letter(char one, char other)
{
	return toupper((unsigned char)one) == toupper((unsigned char)other);
}

static int
least(int one, int other)
{
	return one < other ? one : other;
}

/* From a row of the table to the next, for one more letter of the first word:
 * row[j] is the distance to the first j letters of the other. */
static void
step_row(int *row, char letter, const char *other)
{
	int diagonal = row[0], j = 0;

	row[0]++;
	for (j = 0; other[j] != '\0'; j++) {
		const int change = diagonal + !is_same_letter(letter, other[j]);

		diagonal = row[j + 1];
		row[j + 1] = least(least(row[j], row[j + 1]) + 1, change);
	}
}

/* How many letters must be changed, added or taken away (Levenshtein). */
static int
distance(const char *one, const char *other)
{
	const size_t width = strlen(other);
	int row[NAME_BYTES + 1];
	size_t j = 0;

	for (j = 0; j <= width; j++)
		row[j] = (int)j;
	for (; *one != '\0'; one++)
		step_row(row, *one, other);
	return row[width];
}

const char *
key_names_nearest(const char *name)
{
	const char *best = NULL;
	int nearest = 0, i = 0;

	name = without_prefix(name);
	if (strlen(name) > NAME_BYTES)
		return NULL;
	/* A third of it may be wrong: two letters in the wrong order are two
	 * mistakes. */
	nearest = (int)(strlen(name) + 1) / 3 + 1;
	for (i = 0; i < NAME_COUNT; i++) {
		const int far = distance(name, names[i]);

		if (far < nearest) {
			nearest = far;
			best = names[i];
		}
	}
	return best;
}

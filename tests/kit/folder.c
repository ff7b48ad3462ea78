/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.c - without a shell, whatever a test calls its files. */
#include "tests/kit/folder.h"

#include "tests/kit/crew.h"

#include <ftw.h>
#include <stdio.h>

enum { DESCRIPTORS = 16, PATH_BYTES = 512 };

void
folder_write(const char *folder, const char *name, const char *words)
{
	char path[PATH_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	crew_check(file != NULL);
	crew_check(fputs(words, file) >= 0);
	crew_check(fclose(file) == 0);
}

static int
remove_one(const char *path, const struct stat *status, int type,
	   struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

void
folder_remove(const char *folder)
{
	crew_check(nftw(folder, remove_one, DESCRIPTORS,
			FTW_DEPTH | FTW_PHYS) == 0);
}

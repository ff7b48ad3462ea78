/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_notes.c - the notes of crashes, as any hand may have left them: what is
 * read is well-formed and lies where it says. */
#include "daemon/source/skips_file.h"
#include "tests/kit/crew.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("notes", MFD_CLOEXEC);
	struct notes notes;
	size_t i;

	crew_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	crew_check(notes_read(fd, &notes) == 0);
	for (i = 0; i < notes.count; i++) {
		const struct note *note = &notes.items[i];
		char start[6];

		crew_check(pread(fd, start, sizeof(start),
				 (off_t)note->offset) == sizeof(start));
		crew_check(memcmp(start, "crash ", sizeof(start)) == 0);
		crew_check(note->name[0] != '\0' &&
			   strchr(note->name, '\n') == NULL);
		crew_check(!note->forgiven);
	}
	notes_finish(&notes);
	close(fd);
	return 0;
}

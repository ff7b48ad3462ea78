/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_rings.c - the rings that cards without hardware play from: all of their
 * pages are there before the output thread writes to them. An optimising
 * compiler can undo that, so this says most in the preset bench. */
#include "daemon/output/paced.h"
#include "daemon/output/spool.h"
#include "tests/kit/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { FRAMES = 192000, SPARE = 48000, FRAME_BYTES = 8 };

static size_t
missing_pages(const void *memory, size_t bytes)
{
	const size_t page = machine_page_bytes();
	const size_t before = (uintptr_t)memory % page;
	const size_t count = (before + bytes + page - 1) / page;
	unsigned char *present = calloc(count, 1);
	size_t missing = 0;
	size_t i;

	assert_non_null(present);
	assert_int_equal(mincore((char *)(uintptr_t)memory - before,
				 before + bytes, present),
			 0);
	for (i = 0; i < count; i++)
		missing += (present[i] & 1) == 0;
	free(present);
	return missing;
}

static void
a_spool_is_there(void **state)
{
	struct spool spool;

	(void)state;
	assert_int_equal(spool_init(&spool, FRAME_BYTES, FRAMES), 0);
	assert_int_equal(
		missing_pages(spool.memory, (size_t)FRAMES * FRAME_BYTES), 0);
	spool_finish(&spool);
}

static void
a_paced_card_is_there(void **state)
{
	const struct card_info info = {
		.spec = {.rate_hz = 48000, .channels = 2, .format = CARD_S32},
		.buffer_frames = FRAMES,
	};
	struct paced paced;

	(void)state;
	assert_int_equal(paced_init(&paced, &info, SPARE), 0);
	assert_int_equal(missing_pages(paced.memory,
				       paced.ring_frames * paced.frame_bytes),
			 0);
	paced_finish(&paced);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spool_is_there),
		cmocka_unit_test(a_paced_card_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

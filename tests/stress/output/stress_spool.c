/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread writes numbered frames and takes some back, another takes them
 * for good: what was taken is 0, 1, 2 ... without a gap or a repeat. */
#include "daemon/output/spool.h"
#include "lib/base/thread.h"
#include "tests/kit/dice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 61, FRAMES = 400000, AT_ONCE = 17 };

struct pair {
	struct spool spool;
	struct thread thread;
	ATOMIC(bool) failed;
};

static void *
drain_main(void *argument)
{
	struct pair *pair = argument;
	struct dice dice = dice_seeded(7);
	uint64_t next = 0;

	while (next < FRAMES && !atomic_load(&pair->failed)) {
		size_t frames = 1 + dice_roll(&dice, AT_ONCE);
		const void *from = spool_take(&pair->spool, &frames);

		for (size_t i = 0; i < frames; i++, next++) {
			uint64_t value = 0;

			memcpy(&value, (const uint8_t *)from + i * 8, 8);
			if (value != next)
				atomic_store(&pair->failed, true);
		}
		spool_say_heard(&pair->spool, next);
	}
	return NULL;
}

static void
write_some(struct pair *pair, size_t frames)
{
	void *memory = spool_begin(&pair->spool, &frames);

	for (size_t i = 0; i < frames; i++) {
		const uint64_t value = pair->spool.written + i;

		memcpy((uint8_t *)memory + i * 8, &value, 8);
	}
	spool_commit(&pair->spool, frames);
}

int
main(void)
{
	struct pair *pair = aligned_alloc(CACHE_LINE, sizeof(*pair));
	const struct thread_spec spec = {.role = THREAD_ROLE_WORKER,
					 .name = "drain",
					 .stack_bytes = THREAD_STACK_WORKER,
					 .main = drain_main,
					 .argument = pair};
	struct dice dice = dice_seeded(3);
	uint64_t back = 0;
	bool failed = false;

	if (pair == NULL)
		return 1;
	memset((void *)pair, 0, sizeof(*pair));
	if (spool_init(&pair->spool, 8, RING) < 0 ||
	    thread_start(&pair->thread, &spec) < 0)
		return 1;
	while (spool_heard(&pair->spool) < FRAMES &&
	       !atomic_load(&pair->failed)) {
		write_some(pair, 1 + dice_roll(&dice, AT_ONCE));
		if (dice_roll(&dice, 3) == 0)
			back += spool_rewind(&pair->spool,
					     dice_roll(&dice, AT_ONCE));
	}
	thread_join(&pair->thread);
	failed = atomic_load(&pair->failed) || back == 0;
	printf("%d frames, %llu taken back: %s\n", FRAMES,
	       (unsigned long long)back, failed ? "FAILED" : "in order");
	spool_finish(&pair->spool);
	free(pair);
	return failed;
}

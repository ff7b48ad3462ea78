/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stress_item.c - the claim word, the event count and the rotary set together,
 * as the decoder threads use them: work that was made is always done, though
 * nobody sleeps with a time-out, and no two threads are ever at one item.
 *
 * Producers put work into items and post; the crew pulls, claims, takes one
 * piece at a time, and sleeps when a round found nothing. A lost wake-up leaves
 * the crew asleep with work left: then the test would hang, and ctest's
 * time-out fails it. One thread parks after some claims and comes back, as a
 * demoted one does: it posts for who bounced off. */
#include "daemon/engine/item.h"
#include "lib/base/list.h"
#include "lib/sync/wake.h"
#include "tests/kit/crew.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 3, PULLERS = 3, PIECES = 40000, PARK_EVERY = 50 };

struct load {
	struct item item;
	ALIGNED(CACHE_LINE) ATOMIC(uint32_t) pieces; /* waiting */
	uint32_t done;                               /* the holder's */
	ATOMIC(uint32_t) inside;
};

struct stage {
	struct hazard_domain hazards;
	struct rotary set;
	struct wake wake;
	struct load loads[ITEMS];
	ATOMIC(uint32_t) left;
	ATOMIC(uint32_t) next_item;
};

/* One piece; false: there is none. */
static bool
work_once(struct stage *stage, struct load *load)
{
	crew_check(atomic_fetch_add(&load->inside, 1) == 0);
	if (atomic_load(&load->pieces) == 0) {
		atomic_fetch_sub(&load->inside, 1);
		return false;
	}
	atomic_fetch_sub(&load->pieces, 1);
	load->done++;
	atomic_fetch_sub(&load->inside, 1);
	if (atomic_fetch_sub(&stage->left, 1) == 1)
		wake_post_all(&stage->wake);
	return true;
}

static void
pull(void *argument, unsigned index)
{
	struct stage *stage = argument;
	struct hazard_reader *hazard = &stage->hazards.readers[index];
	uint32_t seen = wake_prepare(&stage->wake);
	unsigned idle = 0, claims = 0;

	while (atomic_load(&stage->left) > 0) {
		struct rotary_node *node = rotary_pull(&stage->set, hazard);
		struct item *item = list_entry(node, struct item, node);
		struct load *load = list_entry(item, struct load, item);
		bool worked = false, bounced = false;

		if (item_claim(item)) {
			worked = work_once(stage, load);
			bounced = item_release(item);
			claims++;
		}
		rotary_release(hazard);
		idle = worked || bounced ? 0 : idle + 1;
		if (worked || bounced)
			seen = wake_prepare(&stage->wake);
		if (index == 0 && bounced && claims % PARK_EVERY == 0) {
			wake_post_all(&stage->wake);
			crew_dawdle();
			seen = wake_prepare(&stage->wake);
		}
		if (idle > ITEMS && atomic_load(&stage->left) > 0) {
			wake_wait(&stage->wake, seen, -1);
			seen = wake_prepare(&stage->wake);
			idle = 0;
		}
	}
}

static void
produce(void *argument, unsigned index)
{
	struct stage *stage = argument;
	unsigned i;

	for (i = 0; i < PIECES; i++) {
		atomic_fetch_add(&stage->loads[(i * 7 + index) % ITEMS].pieces,
				 1);
		wake_post(&stage->wake);
		if (i % 64 == 0)
			crew_dawdle();
	}
}

int
main(void)
{
	struct stage *stage = aligned_alloc(128, sizeof(*stage));
	struct crew_member crew[PULLERS + 1];
	uint32_t done = 0;
	unsigned i;

	crew_check(stage != NULL);
	hazard_domain_init(&stage->hazards);
	rotary_init(&stage->set, &stage->hazards);
	wake_init(&stage->wake);
	atomic_init(&stage->left, PIECES);
	for (i = 0; i < ITEMS; i++) {
		item_init(&stage->loads[i].item, ITEM_STREAM);
		atomic_init(&stage->loads[i].pieces, 0);
		atomic_init(&stage->loads[i].inside, 0);
		stage->loads[i].done = 0;
		rotary_insert(&stage->set, &stage->loads[i].item.node);
	}
	for (i = 0; i < PULLERS; i++)
		crew[i] = (struct crew_member){pull, stage};
	crew[PULLERS] = (struct crew_member){produce, stage};
	crew_run(crew, PULLERS + 1, CREW_CALM);
	for (i = 0; i < ITEMS; i++)
		done += stage->loads[i].done;
	crew_check(done == PIECES);
	free(stage);
	return 0;
}

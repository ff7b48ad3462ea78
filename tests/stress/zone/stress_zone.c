/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of all sizes made, grown, handed to other threads and freed there. A
 * shadow heap knows which bytes belong to somebody: each 8 bytes of the
 * reservation's used part have a byte in it, set while they are in use, so two
 * owners of one place meet there whatever they write. */
#include "lib/zone/parts.h"

#include "tests/kit/crew.h"
#include "tests/kit/dice.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
	THREADS = 4,
	MAILBOXES = 512,
	ROUNDS = 6 * 1000,
	SHORT_LIVES = 100,
	CHAIN = 8,
};

struct letter {
	uint64_t size;
	uint64_t check;
	unsigned char body[];
};

/* One entry for 16 bytes; spans are told by their pattern alone. */
static ATOMIC(uint8_t) * shadow;

static const size_t SHADOW_BYTES = (size_t)1 << 30;

static _Atomic(struct letter *) mailboxes[MAILBOXES];

static void
mark(const void *block, size_t size, uint8_t from, uint8_t to)
{
	const size_t begin =
		(size_t)((const char *)block - zone_region.base) / 8;
	size_t i;

	for (i = begin; i < begin + size / 8 && i < SHADOW_BYTES / 8; i++)
		crew_check(atomic_exchange_explicit(&shadow[i], to,
						    memory_order_relaxed) ==
			   from);
}

static struct letter *
letter_new(struct dice *dice)
{
	const size_t size = sizeof(struct letter) +
			    ((size_t)1 << dice_roll(dice, 17)) / 2 +
			    dice_roll(dice, 64) + 1;
	struct letter *letter = zone_alloc(size);

	crew_check(letter != NULL);
	mark(letter, zone_usable_size(letter), 0, 1);
	letter->size = size;
	letter->check = size * UINT64_C(0x9e3779b97f4a7c15);
	letter->body[size - sizeof(*letter) - 1] = (unsigned char)size;
	return letter;
}

static void
letter_check(const struct letter *letter)
{
	crew_check(letter->check ==
		   letter->size * UINT64_C(0x9e3779b97f4a7c15));
	crew_check(letter->body[letter->size - sizeof(*letter) - 1] ==
		   (unsigned char)letter->size);
}

static void
letter_free(struct letter *letter)
{
	if (letter == NULL)
		return;
	letter_check(letter);
	mark(letter, zone_usable_size(letter), 1, 0);
	letter->check = 0;
	zone_free(letter);
}

static struct letter *
letter_grow(struct letter *letter, struct dice *dice)
{
	const size_t size = sizeof(*letter) + 1 + dice_roll(dice, 100000);
	struct letter *grown;

	letter_check(letter);
	mark(letter, zone_usable_size(letter), 1, 0);
	grown = zone_resize(letter, size);
	crew_check(grown != NULL);
	mark(grown, zone_usable_size(grown), 0, 1);
	grown->size = size;
	grown->check = size * UINT64_C(0x9e3779b97f4a7c15);
	grown->body[size - sizeof(*grown) - 1] = (unsigned char)size;
	return grown;
}

static void
exchange(unsigned rounds, uint64_t seed)
{
	struct dice dice = dice_seeded(seed);
	unsigned i;

	for (i = 0; i < rounds; i++) {
		_Atomic(struct letter *) *box =
			&mailboxes[dice_roll(&dice, MAILBOXES)];
		struct letter *letter = letter_new(&dice);

		if (dice_roll(&dice, 8) == 0)
			letter = letter_grow(letter, &dice);
		letter_free(atomic_exchange(box, letter));
	}
}

static void
post(void *unused, unsigned index)
{
	(void)unused;
	exchange(ROUNDS, index);
	crew_check(zone_check(NULL) == 0);
}

static void
empty_mailboxes(void)
{
	unsigned i;

	for (i = 0; i < MAILBOXES; i++)
		letter_free(atomic_exchange(&mailboxes[i], NULL));
}

/* Nothing is in use: what is not in a magazine is in a slab's free bits, and
 * after a trim of every heap there are no slabs. */
static void
assert_all_came_back(void)
{
	struct zone_stats stats;
	unsigned i;

	zone_trim();
	zone_trim();
	zone_stats(&stats);
	for (i = 0; i < ZONE_STATS_CLASSES; i++)
		if (stats.classes[i].blocks_in_use != 0)
			fail_msg("%zu blocks of %zu bytes are left",
				 stats.classes[i].blocks_in_use,
				 stats.classes[i].size_bytes);
	assert_int_equal(stats.spans, 0);
	assert_int_equal(zone_check(NULL), 0);
}

static void
blocks_cross_threads(void **state)
{
	struct crew_member members[THREADS];
	unsigned i;

	(void)state;
	for (i = 0; i < THREADS; i++)
		members[i] = (struct crew_member){post, NULL};
	crew_run(members, THREADS, CREW_JOLTED);
	empty_mailboxes();
	assert_all_came_back();
}

static void *
short_life(void *number)
{
	exchange(20, (uintptr_t)number + 1000);
	return NULL;
}

/* Threads die while others still free their blocks. */
static void
breed(void *unused, unsigned index)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < SHORT_LIVES; i++) {
		pthread_t thread;

		crew_check(pthread_create(
				   &thread, NULL, short_life,
				   (void *)(uintptr_t)(index * 1000 + i)) == 0);
		pthread_join(thread, NULL);
	}
}

static void
heaps_are_adopted(void **state)
{
	const struct crew_member members[] = {
		{breed, NULL}, {breed, NULL}, {post, NULL}};
	struct zone_stats before, after;

	(void)state;
	zone_stats(&before);
	crew_run(members, 3, CREW_CALM);
	empty_mailboxes();
	zone_stats(&after);
	assert_true(after.heaps - before.heaps <= 6);
	assert_true(after.adoptions - before.adoptions >= 2 * SHORT_LIVES - 6);
	assert_all_came_back();
}

/* One only makes, one only frees. */
struct pipe {
	_Atomic(struct letter *) slot[64];
};

static void
give(void *argument, unsigned index)
{
	struct pipe *pipe = argument;
	struct dice dice = dice_seeded(index);
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		struct letter *letter = letter_new(&dice);

		letter_free(atomic_exchange(&pipe->slot[i % 64], letter));
	}
}

static void
take(void *argument, unsigned index)
{
	struct pipe *pipe = argument;
	unsigned i;

	(void)index;
	for (i = 0; i < 4 * ROUNDS; i++)
		letter_free(atomic_exchange(&pipe->slot[i % 64], NULL));
}

static void
one_way_traffic(void **state)
{
	static struct pipe pipe;
	const struct crew_member members[] = {{give, &pipe}, {take, &pipe}};
	unsigned i;

	(void)state;
	crew_run(members, 2, CREW_JOLTED);
	for (i = 0; i < 64; i++)
		letter_free(atomic_exchange(&pipe.slot[i], NULL));
	assert_all_came_back();
}

static void
janitor_beside_it(void **state)
{
	struct crew_member members[THREADS];
	unsigned i;

	(void)state;
	assert_int_equal(zone_reserve(2 << 20), 0);
	assert_int_equal(zone_janitor_start(100 * 1000), 0);
	for (i = 0; i < THREADS; i++)
		members[i] =
			(struct crew_member){i % 2 == 0 ? post : breed, NULL};
	crew_run(members, THREADS, CREW_CALM);
	zone_janitor_stop();
	empty_mailboxes();
	assert_all_came_back();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_cross_threads),
		cmocka_unit_test(heaps_are_adopted),
		cmocka_unit_test(one_way_traffic),
		cmocka_unit_test(janitor_beside_it),
	};

	shadow = mmap(NULL, SHADOW_BYTES / 8, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shadow == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

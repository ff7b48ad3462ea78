/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_claim.c - the loop of the decoder threads itself, with the claim word,
 * the event count and the rotary set under it, in every order of decoders and a
 * maker of work; and proof that the search finds what it should.
 *
 * usage: model_claim [PREEMPTIONS]
 *
 * In the place of a stream's quantum stands one that takes the work or leaves
 * some, and may run past its budget; in the place of the kernel's futex one
 * that compares, sleeps and wakes as the kernel does, and may wake anybody. No
 * sleep ends by itself. The set's own words are nobody's business here:
 * model_rotary.c is about them.
 *
 * What must hold: no item is run by two threads at once; and when all threads
 * sleep there is no work, and no turn is left to a parked one. */
#include "tests/model/explored.h"

#include "lib/base/clock.h"

/* Asserts would end the search before it has found what they are about. */
#undef NDEBUG
#define NDEBUG

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long model_futex(ATOMIC(uint32_t) * word, int operation, uint32_t value,
			const void *deadline);

#define syscall(number, word, operation, value, deadline, ...)                 \
	model_futex(word, operation, (uint32_t)(value), deadline)
/* The clock stands still, so that each run can be repeated. */
#define clock_thread_cpu_ns() INT64_C(0)
/* A nap is a moment in which others may run, as any other. */
#define clock_nanosleep(clock, flags, time, rest) ((void)(time))

#include "daemon/engine/decoder_rt.c"
#include "daemon/engine/item.c"
#include "lib/sync/hazard.c"
#include "lib/sync/pcm_ring.c"
#include "lib/sync/rotary.c"
#include "lib/sync/wake.c"

#include <cmocka.h>

#include "tests/model/search.h"

enum { ITEMS = 2, THREADS_MAX = EXPLORER_THREADS_MAX };

enum seed {
	SEED_NONE,
	SEED_COUNT_NOT_RAISED,
	SEED_SLEEPER_NOT_COUNTED,
	SEED_NO_COMPARE,    /* the kernel's */
	SEED_CLAIM_NO_MARK, /* a claim leaves the word as it was */
	SEED_WORK_AFTER_POST,
	SEED_SHORT_ROUND,   /* fewer looks than there are items */
	SEED_SILENT_LEAVER, /* who lost its turn does not post */
};

struct search {
	unsigned decoders; /* threads */
	unsigned turns;
	unsigned posts;
	unsigned preemptions;
	unsigned overruns;
	enum seed seed;
	unsigned shortages; /* of a private reserve */
};

struct world {
	const struct search *search;
	struct hazard_domain hazards;
	struct rotary set;
	struct wake wake;
	struct decoders decoders;
	struct stream streams[ITEMS];
	uint32_t work[ITEMS];
	unsigned runners[ITEMS];
	unsigned overruns;
	unsigned shortages;
	unsigned leftovers; /* quanta that may still leave work */
	ATOMIC(uint32_t) * bed[THREADS_MAX]; /* what each sleeps on */
};

static struct world world;

static bool
is_leaving(void)
{
	const unsigned thread = explorer_current();

	return thread < world.search->decoders &&
	       world.decoders.threads[thread].state == DECODER_DEMOTED;
}

bool
model_drops(const volatile void *address)
{
	unsigned i;

	switch (world.search->seed) {
	case SEED_COUNT_NOT_RAISED:
		return address == &world.wake.count;
	case SEED_SLEEPER_NOT_COUNTED:
		return address == &world.wake.sleepers;
	case SEED_SILENT_LEAVER:
		return address == &world.wake.count && is_leaving();
	case SEED_CLAIM_NO_MARK:
		for (i = 0; i < ITEMS; i++)
			if (address == &world.streams[i].item.claim)
				return true;
		return false;
	default:
		return false;
	}
}

static bool
is_within(const volatile void *address, const void *object, size_t size)
{
	const volatile char *at = address;
	const char *from = object;

	return at >= from && at < from + size;
}

static bool
touch(void *unused, unsigned thread, const volatile void *address)
{
	unsigned i;

	(void)unused;
	(void)thread;
	for (i = 0; i < ITEMS; i++)
		if (address == &world.streams[i].item.claim)
			return true;
	return is_within(address, &world.wake, sizeof(world.wake)) ||
	       is_within(address, &world.decoders.park,
			 sizeof(world.decoders.park)) ||
	       is_within(address, world.work, sizeof(world.work)) ||
	       address == &world.decoders.turns;
}

static long
futex_wait(ATOMIC(uint32_t) * word, uint32_t value)
{
	if (*word != value && world.search->seed != SEED_NO_COMPARE) {
		errno = EAGAIN;
		return -1;
	}
	world.bed[explorer_current()] = word;
	explorer_sleep();
	return 0;
}

/* The one with this rank among those that sleep on the word, or THREADS_MAX. */
static unsigned
nth_sleeper(const ATOMIC(uint32_t) * word, unsigned rank)
{
	unsigned i;

	for (i = 0; i < THREADS_MAX; i++)
		if (world.bed[i] == word && rank-- == 0)
			break;
	return i;
}

static long
futex_wake(const ATOMIC(uint32_t) * word, uint32_t limit)
{
	uint32_t woken;

	if (world.search->seed == SEED_SILENT_LEAVER &&
	    word == &world.wake.count && is_leaving())
		return 0;
	for (woken = 0; woken < limit; woken++) {
		unsigned count = 0;
		unsigned thread;

		while (nth_sleeper(word, count) < THREADS_MAX)
			count++;
		if (count == 0)
			break;
		thread = nth_sleeper(word, explorer_choose(count));
		world.bed[thread] = NULL;
		explorer_wake(thread);
	}
	return (long)woken;
}

static long
model_futex(ATOMIC(uint32_t) * word, int operation, uint32_t value,
	    const void *deadline)
{
	explorer_step(word);
	if ((operation & ~FUTEX_PRIVATE_FLAG) == FUTEX_WAKE)
		return futex_wake(word, value);
	if (deadline != NULL)
		explorer_fail("a sleep has a time limit");
	return futex_wait(word, value);
}

static unsigned
number_of(const struct stream *stream)
{
	return (unsigned)(stream - world.streams);
}

RT_DEVICE bool
stream_wants_quantum(struct stream *stream)
{
	const uint32_t *work = &world.work[number_of(stream)];

	explorer_step(work);
	return *work != 0;
}

/* Nobody asks for calm. */
RT_SAFE bool
stream_is_urgent(const struct stream *stream)
{
	return stream != NULL;
}

RT_DEVICE enum item_work
stream_quantum(struct stream *stream, int64_t urgent_ns)
{
	const unsigned i = number_of(stream);

	(void)urgent_ns;
	world.runners[i]++;
	if (world.leftovers == 0 || explorer_choose(2) == 0) {
		world.work[i] = 0;
	} else {
		world.leftovers--;
	}
	explorer_step(&world.work[i]);
	if (world.overruns < world.search->overruns &&
	    explorer_choose(2) == 1) {
		world.overruns++;
		decoder_on_overrun(&world.decoders.threads[explorer_current()]);
	}
	if (world.runners[i] != 1)
		explorer_fail("two threads run one item");
	world.runners[i]--;
	return ITEM_WORKED;
}

/* There are no lanes here. */
RT_DEVICE bool
lane_wants_quantum(struct lane *lane, const struct plan *plan)
{
	(void)lane;
	(void)plan;
	abort();
}

RT_DEVICE enum item_work
lane_quantum(struct lane *lane, const struct plan *plan)
{
	(void)lane;
	(void)plan;
	abort();
}

RT_SAFE const void *
snapshot_enter(struct snapshot *snapshot, unsigned reader)
{
	(void)snapshot;
	(void)reader;
	abort();
}

RT_SAFE void
snapshot_leave(struct snapshot *snapshot, unsigned reader)
{
	(void)snapshot;
	(void)reader;
	abort();
}

/* Nobody measures or listens. */
RT_SAFE void
rt_set_subject(const struct rt_subject *subject)
{
	(void)subject;
}

RT_DEVICE void
rt_budget_start(struct rt_budget *budget)
{
	(void)budget;
}

RT_DEVICE bool
rt_budget_stop(struct rt_budget *budget)
{
	(void)budget;
	return false;
}

RT_SAFE void
rt_note_quantum(struct rt_figures *figures, int64_t used_ns)
{
	(void)figures;
	(void)used_ns;
}

RT_SAFE void
rt_note_wakeup(struct rt_figures *figures, int64_t late_ns)
{
	(void)figures;
	(void)late_ns;
}

/* The reserve lacks something now and then. */
bool
zone_thread_is_ready(void)
{
	if (world.shortages == world.search->shortages ||
	    explorer_choose(2) == 0)
		return true;
	world.shortages++;
	return false;
}

void
zone_thread_rest(void)
{
}

void
zone_janitor_wake(void)
{
}

RT_DEVICE void
bell_ring(const struct bell *bell, uint32_t kind, uint32_t lane, uint64_t id,
	  uint64_t value)
{
	(void)bell;
	(void)kind;
	(void)lane;
	(void)id;
	(void)value;
}

static void
make_work(void)
{
	const unsigned i = explorer_choose(ITEMS);

	if (world.search->seed == SEED_WORK_AFTER_POST)
		wake_post(&world.wake);
	explorer_step(&world.work[i]);
	world.work[i] = 1;
	if (world.search->seed != SEED_WORK_AFTER_POST)
		wake_post(&world.wake);
}

static void
thread_main(void *unused, unsigned thread)
{
	unsigned i;

	(void)unused;
	if (thread < world.search->decoders) {
		decoder_loop(&world.decoders.threads[thread]);
		return;
	}
	for (i = 0; i < world.search->posts; i++)
		make_work();
}

static void
reset(void *unused)
{
	const struct search *search = world.search;
	struct decoders *decoders = &world.decoders;
	unsigned i;

	(void)unused;
	memset(&world, 0, sizeof(world));
	world.search = search;
	world.leftovers = 1;
	hazard_domain_init(&world.hazards);
	rotary_init(&world.set, &world.hazards);
	wake_init(&world.wake);
	wake_init(&decoders->park);
	decoders->set = &world.set;
	decoders->hazards = &world.hazards;
	decoders->wake = &world.wake;
	atomic_init(&decoders->turns, search->turns);
	for (i = 0; i < search->decoders; i++) {
		decoders->threads[i].decoders = decoders;
		decoders->threads[i].index = i;
		decoders->threads[i].marked = search->shortages > 0;
	}
	for (i = 0; i < ITEMS; i++) {
		world.streams[i].id = i + 1;
		item_init(&world.streams[i].item, ITEM_STREAM);
		rotary_insert(&world.set, &world.streams[i].item.node);
	}
	atomic_init(&decoders->items, ITEMS);
	if (search->seed == SEED_SHORT_ROUND)
		atomic_init(&decoders->items, (uint32_t)-DECODER_ROUND_SLACK);
}

/* All sleep, or have ended. */
static void
check(void *unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < ITEMS; i++)
		if (world.work[i] != 0)
			explorer_fail("all sleep, and there is work");
	for (i = 0; i < world.search->decoders; i++)
		if (world.bed[i] == &world.decoders.park.count &&
		    world.decoders.turns != 0)
			explorer_fail("a parked thread sleeps on its turn");
}

static const char *
explore(const struct search *search)
{
	const struct explorer_case explored = {
		.threads = search->decoders + 1,
		.preemptions = search->preemptions,
		.reset = reset,
		.main = thread_main,
		.check = check,
		.touch = touch,
	};

	world.search = search;
	return search_run(&explored,
			  "seed %d, %u decoders, %u posts, %u overruns: ",
			  (int)search->seed, search->decoders, search->posts,
			  search->overruns);
}

static unsigned preemptions = 2;

static void
no_order_loses_a_wake_up(void **unused)
{
	const struct search searches[] = {
		{1, 1, 3, preemptions + 1, 0, SEED_NONE, 0},
		{2, 2, 2, preemptions, 0, SEED_NONE, 0},
		{3, 3, 2, preemptions - 1, 0, SEED_NONE, 0},
		{2, 1, 1, preemptions, 1, SEED_NONE, 0},
		{3, 2, 1, preemptions - 1, 1, SEED_NONE, 0},
		{1, 1, 2, preemptions, 0, SEED_NONE, 1},
	};

	(void)unused;
	SEARCHES_FIND_NOTHING(explore, searches);
}

static void
every_seeded_fault_is_found(void **unused)
{
	const struct search searches[] = {
		{1, 1, 2, 1, 0, SEED_COUNT_NOT_RAISED, 0},
		{1, 1, 2, 1, 0, SEED_SLEEPER_NOT_COUNTED, 0},
		{1, 1, 2, 1, 0, SEED_NO_COMPARE, 0},
		{2, 2, 1, 1, 0, SEED_CLAIM_NO_MARK, 0},
		{1, 1, 2, 2, 0, SEED_WORK_AFTER_POST, 0},
		{1, 1, 2, 1, 0, SEED_SHORT_ROUND, 0},
		{3, 2, 1, 2, 1, SEED_SILENT_LEAVER, 0},
	};

	(void)unused;
	SEARCHES_FIND_FAULTS(explore, searches);
}

int
main(int argc, char **argv)
{
	unsigned *const numbers[] = {&preemptions, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_loses_a_wake_up),
		cmocka_unit_test(every_seeded_fault_is_found),
	};

	search_parse(argc, argv, numbers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

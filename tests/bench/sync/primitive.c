/* SPDX-License-Identifier: GPL-3.0-or-later */
/* primitive.c - what the rivals are made of, one thread alone. */
#include "lib/sync/hazard.h"
#include "tests/bench/sync/bench_sync.h"
#include "tests/bench/sync/gang.h"
#include "tests/bench/sync/lock.h"

#include <stdio.h>
#include <string.h>
#include <urcu/urcu-memb.h>

struct things {
	struct lock locks[4]; /* by kind */
	struct hazard_domain domain;
	ALIGNED(2 * CACHE_LINE) ATOMIC(uint64_t) word;
};

#define BATCH(name, statement)                                                 \
	static void name##_batch(void *context, unsigned index)                \
	{                                                                      \
		struct things *things = context;                               \
		unsigned i;                                                    \
                                                                               \
		(void)index;                                                   \
		(void)things;                                                  \
		for (i = 0; i < GANG_BATCH; i++) {                             \
			statement;                                             \
		}                                                              \
	}

static void
lock_and_unlock(struct lock *lock)
{
	(void)lock_take(lock);
	lock_give(lock);
}

static void
hold_and_let_go(struct hazard_reader *reader, const void *pointer)
{
	hazard_set(reader, 0, pointer);
	hazard_clear(reader, 0);
}

static void
read_section(void)
{
	urcu_memb_read_lock();
	urcu_memb_read_unlock();
}

static void
exchange_word(ATOMIC(uint64_t) * word)
{
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	(void)atomic_compare_exchange_strong(word, &old, old + 1);
}

BATCH(clock, (void)clock_now_ns())
BATCH(mutex, lock_and_unlock(&things->locks[LOCK_MUTEX]))
BATCH(pi, lock_and_unlock(&things->locks[LOCK_PI]))
BATCH(spin, lock_and_unlock(&things->locks[LOCK_SPIN]))
BATCH(backoff, lock_and_unlock(&things->locks[LOCK_BACKOFF]))
BATCH(hazard, hold_and_let_go(&things->domain.readers[0], things))
BATCH(rcu, read_section())
BATCH(add, (void)atomic_fetch_add(&things->word, 1))
BATCH(exchange, exchange_word(&things->word))

static const struct {
	const char *name;
	void (*batch)(void *context, unsigned index);
} primitives[] = {
	{"clock", clock_batch},
	{"mutex", mutex_batch},
	{"pi", pi_batch},
	{"spin", spin_batch},
	{"backoff", backoff_batch},
	{"hazard", hazard_batch},
	{"rcu", rcu_batch},
	{"add", add_batch},
	{"exchange", exchange_batch},
};

static void
begin(void *context)
{
	(void)context;
	urcu_memb_register_thread();
}

static void
end(void *context)
{
	(void)context;
	urcu_memb_unregister_thread();
}

int
primitive_cost(const char *name, unsigned ms)
{
	static struct things things;
	struct gang_work work = {begin, end, NULL, &things};
	struct gang_cost cost;
	enum lock_kind kind;
	size_t i;

	hazard_domain_init(&things.domain);
	for (kind = LOCK_MUTEX; kind <= LOCK_BACKOFF; kind++)
		lock_init(&things.locks[kind], kind);
	for (i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (strcmp(primitives[i].name, name) == 0)
			work.batch = primitives[i].batch;
	if (work.batch == NULL)
		return 2;
	gang_measure(&work, 1, ms, &cost);
	printf("cpu_ns %.3f\nwall_ns %.3f\n", cost.cpu_ns, cost.wall_ns);
	for (kind = LOCK_MUTEX; kind <= LOCK_BACKOFF; kind++)
		lock_finish(&things.locks[kind]);
	return 0;
}

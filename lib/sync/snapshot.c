/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.c - the current object and its generation, the readers' slots, and
 * the objects that were current once, oldest first.
 *
 * A slot holding g > 0 says: this reader may hold any object of generation g or
 * later. So an object of generation r may go when every slot is 0 or above r.
 *
 * Ordering: the writer stores the pointer, then the generation; a reader loads
 * the generation, fills its slot, then loads the pointer, which is therefore
 * never older than what the slot says. Slot store, pointer load, pointer store
 * and the scan of the slots are seq_cst: a scan that misses a slot comes before
 * its store, hence the pointer load after it yields the newer object, which
 * that scan frees nothing of. Leaving is a release: the last use of the object
 * comes before its release function. */
#include "lib/sync/snapshot.h"

#include "lib/base/alloc.h"
#include "lib/base/list.h"

#include <assert.h>

struct snapshot_slot {
	ALIGNED(2 * CACHE_LINE) ATOMIC(uint64_t) generation;
};

struct snapshot_entry {
	struct list retired; /* in snapshot.retired */
	void *object;
	uint64_t generation;
};

struct snapshot {
	/* written by the writer, read by all */
	ALIGNED(2 * CACHE_LINE) ATOMIC(void *) current;
	ATOMIC(uint64_t) generation;
	/* the writer's own, and immutable things */
	ALIGNED(2 * CACHE_LINE) struct allocator *allocator;
	void (*release)(void *object, void *context);
	void *context;
	struct snapshot_entry *entry; /* of current; NULL: none */
	struct list retired;          /* snapshot_entry::retired */
	struct snapshot_slot slots[SNAPSHOT_READERS_MAX];
};

_Static_assert(offsetof(struct snapshot, current) % CACHE_LINE == 0 &&
		       offsetof(struct snapshot, allocator) % CACHE_LINE == 0 &&
		       offsetof(struct snapshot, slots) % CACHE_LINE == 0 &&
		       sizeof(struct snapshot_slot) % CACHE_LINE == 0,
	       "writer, readers and common words on lines of their own");

struct snapshot *
snapshot_create(struct allocator *allocator,
		void (*release)(void *object, void *context), void *context)
{
	struct snapshot *snapshot = allocator_new_aligned(
		allocator, sizeof(*snapshot), _Alignof(struct snapshot));

	if (snapshot == NULL)
		return NULL;
	snapshot->allocator = allocator;
	snapshot->release = release;
	snapshot->context = context;
	list_init(&snapshot->retired);
	return snapshot;
}

static void
release_entry(struct snapshot *snapshot, struct snapshot_entry *entry)
{
	snapshot->release(entry->object, snapshot->context);
	allocator_delete(snapshot->allocator, entry);
}

/* Releases the retired objects of generations below limit. */
static void
release_below(struct snapshot *snapshot, uint64_t limit)
{
	struct list *i = NULL;
	struct list *after = NULL;

	list_for_each_safe (i, after, &snapshot->retired) {
		struct snapshot_entry *entry =
			list_entry(i, struct snapshot_entry, retired);

		if (entry->generation >= limit)
			break;
		list_remove(i);
		release_entry(snapshot, entry);
	}
}

void
snapshot_destroy(struct snapshot *snapshot)
{
	if (snapshot == NULL)
		return;
	release_below(snapshot, UINT64_MAX);
	if (snapshot->entry != NULL)
		release_entry(snapshot, snapshot->entry);
	allocator_delete(snapshot->allocator, snapshot);
}

uint64_t
snapshot_publish(struct snapshot *snapshot, void *object)
{
	struct snapshot_entry *entry =
		allocator_new(snapshot->allocator, sizeof(*entry));

	if (entry == NULL)
		return 0;
	entry->object = object;
	entry->generation = atomic_load_explicit(&snapshot->generation,
						 memory_order_relaxed) +
			    1;
	atomic_store_explicit(&snapshot->current, object, memory_order_seq_cst);
	atomic_store_explicit(&snapshot->generation, entry->generation,
			      memory_order_release);
	if (snapshot->entry != NULL)
		list_append(&snapshot->retired, &snapshot->entry->retired);
	snapshot->entry = entry;
	return entry->generation;
}

/* The oldest generation that some reader may hold; UINT64_MAX: none reads. */
static uint64_t
oldest_held(const struct snapshot *snapshot)
{
	uint64_t oldest = UINT64_MAX;
	size_t i = 0;

	for (i = 0; i < SNAPSHOT_READERS_MAX; i++) {
		const uint64_t held = atomic_load_explicit(
			&snapshot->slots[i].generation, memory_order_seq_cst);

		if (held != 0 && held < oldest)
			oldest = held;
	}
	return oldest;
}

size_t
snapshot_reclaim(struct snapshot *snapshot)
{
	if (!list_empty(&snapshot->retired))
		release_below(snapshot, oldest_held(snapshot));
	return list_length(&snapshot->retired);
}

void *
snapshot_current(const struct snapshot *snapshot)
{
	return atomic_load_explicit(&snapshot->current, memory_order_relaxed);
}

/* A generation that is not published yet was passed by nobody: the one that a
 * reader may take next is below it. */
bool
snapshot_passed(const struct snapshot *snapshot, uint64_t generation)
{
	return generation <= atomic_load_explicit(&snapshot->generation,
						  memory_order_relaxed) &&
	       oldest_held(snapshot) >= generation;
}

/* Generation 0 is the empty snapshot; what the pointer may yield by the time it
 * is loaded is generation 1 or later. */
RT_SAFE const void *
snapshot_enter(struct snapshot *snapshot, unsigned reader)
{
	const uint64_t generation = atomic_load_explicit(&snapshot->generation,
							 memory_order_acquire);

	assert(reader < SNAPSHOT_READERS_MAX);
	(void)atomic_exchange_explicit(&snapshot->slots[reader].generation,
				       generation == 0 ? 1 : generation,
				       memory_order_seq_cst);
	return atomic_load_explicit(&snapshot->current, memory_order_seq_cst);
}

RT_SAFE void
snapshot_leave(struct snapshot *snapshot, unsigned reader)
{
	assert(reader < SNAPSHOT_READERS_MAX);
	atomic_store_explicit(&snapshot->slots[reader].generation, 0,
			      memory_order_release);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c - a circular doubly linked list with a cursor, behind one lock. What a
 * pull reads of its member it reads inside. A node is free once it is out. */
#include "tests/bench/sync/lock.h"
#include "tests/bench/sync/rival.h"

#include <stdlib.h>

struct ALIGNED(CACHE_LINE) node {
	struct node *next;
	struct node *prev;
	unsigned value;
};

struct locked_list {
	struct lock lock;
	ALIGNED(2 * CACHE_LINE) struct node *cursor;
	/* the writer's own */
	struct rival_freed freed;
	struct node nodes[RIVAL_MEMBERS_MAX];
};

static void *
create(enum lock_kind kind)
{
	struct locked_list *list = aligned_alloc(2 * CACHE_LINE, sizeof(*list));
	unsigned i;

	if (list == NULL)
		abort();
	lock_init(&list->lock, kind);
	list->cursor = NULL;
	list->freed.count = 0;
	for (i = 0; i < RIVAL_MEMBERS_MAX; i++)
		list->nodes[i].value = i;
	return list;
}

static void
destroy(void *set)
{
	struct locked_list *list = set;

	lock_finish(&list->lock);
	free(list);
}

static int
pull(void *set, unsigned reader)
{
	struct locked_list *list = set;
	int value;

	(void)reader;
	if (!lock_take(&list->lock))
		return RIVAL_GAVE_UP;
	value = (int)list->cursor->value;
	list->cursor = list->cursor->next;
	lock_give(&list->lock);
	return value;
}

/* Only readers are in a hurry; the writer tries again. */
static void
take(struct locked_list *list)
{
	while (!lock_take(&list->lock))
		continue;
}

static void
insert(void *set, unsigned member)
{
	struct locked_list *list = set;
	struct node *node = &list->nodes[member];

	take(list);
	if (list->cursor == NULL) {
		list->cursor = node->next = node->prev = node;
	} else {
		node->prev = list->cursor;
		node->next = list->cursor->next;
		node->next->prev = node;
		node->prev->next = node;
	}
	lock_give(&list->lock);
}

static void
remove_member(void *set, unsigned member)
{
	struct locked_list *list = set;
	struct node *node = &list->nodes[member];

	take(list);
	node->prev->next = node->next;
	node->next->prev = node->prev;
	if (list->cursor == node)
		list->cursor = node->next;
	lock_give(&list->lock);
	rival_freed_add(&list->freed, member);
}

static unsigned
reclaim(void *set, unsigned ret_members[RIVAL_MEMBERS_MAX])
{
	struct locked_list *list = set;

	return rival_freed_take(&list->freed, ret_members);
}

static void *
create_mutex(void)
{
	return create(LOCK_MUTEX);
}

static void *
create_pi(void)
{
	return create(LOCK_PI);
}

static void *
create_spin(void)
{
	return create(LOCK_SPIN);
}

static void *
create_backoff(void)
{
	return create(LOCK_BACKOFF);
}

#define LOCKED_LIST(kind)                                                      \
	const struct rival rival_##kind = {                                    \
		.name = #kind,                                                 \
		.create = create_##kind,                                       \
		.destroy = destroy,                                            \
		.pull = pull,                                                  \
		.insert = insert,                                              \
		.remove = remove_member,                                       \
		.reclaim = reclaim,                                            \
	}

LOCKED_LIST(mutex);
LOCKED_LIST(pi);
LOCKED_LIST(spin);
LOCKED_LIST(backoff);

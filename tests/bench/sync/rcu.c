/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rcu.c - liburcu's list (the membarrier flavour), and a cursor into it that
 * readers move by a compare-exchange.
 *
 * A reader may put the cursor on a node that was just taken out, as with the
 * rotary set. So a node is free after two grace periods: after the first nobody
 * can put the cursor there any more; then the writer moves it off; after the
 * second nobody uses the node. The writer waits for both, one removal at a
 * time. */
#include "lib/base/attr.h"
#include "tests/bench/sync/rival.h"

#include <stdlib.h>
#include <urcu/rculist.h>
#include <urcu/uatomic.h>
#include <urcu/urcu-memb.h>

struct ALIGNED(CACHE_LINE) node {
	struct cds_list_head link;
	unsigned long removed;
	unsigned value;
};

struct rcu_list {
	ALIGNED(2 * CACHE_LINE) struct cds_list_head *cursor; /* NULL: none */
	ALIGNED(2 * CACHE_LINE) struct cds_list_head head;
	/* the writer's own */
	struct rival_freed freed;
	struct node nodes[RIVAL_MEMBERS_MAX];
};

static void *
create(void)
{
	struct rcu_list *list = aligned_alloc(2 * CACHE_LINE, sizeof(*list));
	unsigned i;

	if (list == NULL)
		abort();
	CDS_INIT_LIST_HEAD(&list->head);
	list->cursor = NULL;
	list->freed.count = 0;
	for (i = 0; i < RIVAL_MEMBERS_MAX; i++)
		list->nodes[i].value = i;
	return list;
}

static void
thread_begin(void *set)
{
	(void)set;
	urcu_memb_register_thread();
}

static void
thread_end(void *set)
{
	(void)set;
	urcu_memb_unregister_thread();
}

/* The next node after link; the list's head is none. */
static struct cds_list_head *
next_of(struct rcu_list *list, struct cds_list_head *link)
{
	struct cds_list_head *next = rcu_dereference(link->next);

	return next == &list->head ? rcu_dereference(list->head.next) : next;
}

static int
pull(void *set, unsigned reader)
{
	struct rcu_list *list = set;
	struct cds_list_head *link;
	struct node *node;
	int value;

	(void)reader;
	urcu_memb_read_lock();
	do {
		link = rcu_dereference(list->cursor);
		node = cds_list_entry(link, struct node, link);
	} while (uatomic_cmpxchg(&list->cursor, link, next_of(list, link)) !=
			 link ||
		 CMM_LOAD_SHARED(node->removed) != 0);
	value = (int)node->value;
	urcu_memb_read_unlock();
	return value;
}

static void
insert(void *set, unsigned member)
{
	struct rcu_list *list = set;
	struct node *node = &list->nodes[member];

	CMM_STORE_SHARED(node->removed, 0);
	cds_list_add_rcu(&node->link, &list->head);
	if (list->cursor == NULL)
		rcu_assign_pointer(list->cursor, &node->link);
}

/* Off node; where it leads to is in the list, since only one removal at a time
 * is under way. */
static void
move_cursor_off(struct rcu_list *list, struct node *node)
{
	(void)uatomic_cmpxchg(&list->cursor, &node->link,
			      next_of(list, &node->link));
}

static void
remove_member(void *set, unsigned member)
{
	struct rcu_list *list = set;
	struct node *node = &list->nodes[member];

	CMM_STORE_SHARED(node->removed, 1);
	cmm_smp_mb();
	cds_list_del_rcu(&node->link);
	move_cursor_off(list, node);
	urcu_memb_synchronize_rcu();
	move_cursor_off(list, node);
	urcu_memb_synchronize_rcu();
	rival_freed_add(&list->freed, member);
}

static unsigned
reclaim(void *set, unsigned ret_members[RIVAL_MEMBERS_MAX])
{
	struct rcu_list *list = set;

	return rival_freed_take(&list->freed, ret_members);
}

const struct rival rival_rcu = {
	.name = "rcu",
	.create = create,
	.destroy = free,
	.thread_begin = thread_begin,
	.thread_end = thread_end,
	.pull = pull,
	.insert = insert,
	.remove = remove_member,
	.reclaim = reclaim,
};

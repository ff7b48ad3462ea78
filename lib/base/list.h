/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.h - the project's one intrusive, doubly linked, circular list.
 *
 * A list is a struct list whose links point to itself when it is empty; a
 * member is a struct list inside the object. One thread at a time.
 * Strict-aliasing clean: every link is read and written as struct list, and
 * list_entry() goes through char. RT: RT_SAFE, O(1) but for list_length(). */
#ifndef ROTARY_BASE_LIST_H
#define ROTARY_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next;
	struct list *prev;
};

static inline void
list_init(struct list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool
list_empty(const struct list *list)
{
	return list->next == list;
}

/* Links member, which is in no list, right after position. */
static inline void
list_insert(struct list *position, struct list *member)
{
	member->prev = position;
	member->next = position->next;
	position->next->prev = member;
	position->next = member;
}

static inline void
list_append(struct list *list, struct list *member)
{
	list_insert(list->prev, member);
}

/* Unlinks member and leaves it linked to itself, so that a second call is
 * harmless. */
static inline void
list_remove(struct list *member)
{
	member->prev->next = member->next;
	member->next->prev = member->prev;
	list_init(member);
}

static inline size_t
list_length(const struct list *list)
{
	size_t length = 0;
	const struct list *i;

	for (i = list->next; i != list; i = i->next)
		length++;
	return length;
}

#define list_entry(link, type, member)                                         \
	((type *)(void *)((char *)(link)-offsetof(type, member)))

#define list_for_each(i, list)                                                 \
	for ((i) = (list)->next; (i) != (list); (i) = (i)->next)

/* As list_for_each, but i may be removed or freed in the body. */
#define list_for_each_safe(i, after, list)                                     \
	for ((i) = (list)->next, (after) = (i)->next; (i) != (list);           \
	     (i) = (after), (after) = (i)->next)

#endif

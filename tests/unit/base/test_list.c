/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_list.c - the intrusive list. Built at -O0, -O2 and -O3 as well (see
 * CMakeLists.txt here), since its macros must be clean of aliasing. */
#include "lib/base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct item {
	long before;
	struct list link;
	int number;
	struct list other;
};

enum { ITEMS = 64 };

static int
number_at(struct list *link)
{
	return list_entry(link, struct item, link)->number;
}

/* Both directions agree with numbers[0..count). */
static void
assert_order(struct list *list, const int *numbers, size_t count)
{
	struct list *i;
	size_t at = 0;

	assert_int_equal(list_length(list), count);
	list_for_each (i, list) {
		assert_true(at < count);
		assert_int_equal(number_at(i), numbers[at++]);
	}
	assert_int_equal(at, count);
	for (i = list->prev; i != list; i = i->prev)
		assert_int_equal(number_at(i), numbers[--at]);
	assert_int_equal(at, 0);
}

static void
test_order(void **state)
{
	static const int APPENDED[] = {1, 2, 3}, WITHOUT[] = {1, 3};
	static const int FRONT[] = {2, 1, 3}, BETWEEN[] = {1, 2, 3};
	struct item items[4];
	struct list list;
	int i;

	(void)state;
	list_init(&list);
	assert_true(list_empty(&list));
	for (i = 1; i < 4; i++) {
		items[i].number = i;
		list_append(&list, &items[i].link);
	}
	assert_order(&list, APPENDED, 3);
	list_remove(&items[2].link);
	assert_order(&list, WITHOUT, 2);
	list_remove(&items[2].link); /* harmless */
	assert_order(&list, WITHOUT, 2);
	list_insert(&list, &items[2].link);
	assert_order(&list, FRONT, 3);
	list_remove(&items[2].link);
	list_insert(&items[1].link, &items[2].link);
	assert_order(&list, BETWEEN, 3);
	for (i = 1; i < 4; i++)
		list_remove(&items[i].link);
	assert_true(list_empty(&list));
}

/* What a compiler that trusts types would get wrong: one object's fields and
 * its links are written and read in turns through different types. */
static void
test_two_lists(void **state)
{
	struct item items[ITEMS];
	struct list list, other, *i, *after;
	int sum = 0, count = 0;

	(void)state;
	list_init(&list);
	list_init(&other);
	for (count = 0; count < ITEMS; count++) {
		items[count].number = count;
		items[count].before = -1;
		list_append(&list, &items[count].link);
		list_insert(&other, &items[count].other);
	}
	list_for_each_safe (i, after, &list) {
		struct item *item = list_entry(i, struct item, link);

		item->before = item->number;
		if (item->number % 2 == 1) {
			list_remove(&item->link);
			item->number = -item->number;
		}
	}
	assert_int_equal(list_length(&list), ITEMS / 2);
	count = ITEMS;
	list_for_each (i, &other) {
		struct item *item = list_entry(i, struct item, other);

		count--;
		assert_int_equal(item->before, count);
		sum += item->number;
	}
	assert_int_equal(sum, -ITEMS / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_two_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

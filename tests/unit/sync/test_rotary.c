/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set in one thread; where a case needs a reader that stands between two of
 * its steps, the test takes those steps itself: sets the hazards, moves the
 * head. */
#include "lib/sync/rotary.h"
#include "lib/sync/rotary_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 6 };

struct fixture {
	struct hazard_domain domain;
	struct rotary set;
	struct rotary_node node[NODES];
	struct hazard_reader *reader;
	struct hazard_reader *slow; /* the one whose steps the test takes */
	struct rotary_node *released[NODES * 4];
	size_t released_count;
};

static void
note_release(struct rotary_node *node, void *context)
{
	struct fixture *f = context;

	/* whoever still follows it falls */
	memset(node, 0xdb, sizeof(*node));
	f->released[f->released_count] = node;
	f->released_count++;
}

static int
set_up(void **state)
{
	struct fixture *f = aligned_alloc(_Alignof(struct fixture), sizeof(*f));

	if (f == NULL)
		return -1;
	hazard_domain_init(&f->domain);
	rotary_init(&f->set, &f->domain);
	f->reader = &f->domain.readers[0];
	f->slow = &f->domain.readers[1];
	f->released_count = 0;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	free(*state);
	return 0;
}

static struct rotary_node *
head_of(struct fixture *f)
{
	return rotary_word_node(atomic_load(&f->set.head));
}

/* What a slow reader does at last, whose looks were long ago. */
static void
stand_on(struct fixture *f, const struct rotary_node *node)
{
	const uint64_t word = atomic_load(&f->set.head);

	atomic_store(&f->set.head, rotary_word_moved(word, node));
}

/* Its exchange, if it saw word; true when that succeeds. */
static bool
moves_head(struct fixture *f, uint64_t word, const struct rotary_node *node)
{
	return atomic_compare_exchange_strong(&f->set.head, &word,
					      rotary_word_moved(word, node));
}

/* Inserts nodes 0 .. count - 1, so that they are pulled in that order. */
static void
fill(struct fixture *f, int count)
{
	int i;

	rotary_insert(&f->set, &f->node[0]);
	for (i = count - 1; i > 0; i--)
		rotary_insert(&f->set, &f->node[i]);
}

static size_t
reclaim(struct fixture *f)
{
	return rotary_reclaim(&f->set, note_release, f);
}

static void
assert_pulls(struct fixture *f, const int *order, int count)
{
	int i;

	for (i = 0; i < count; i++)
		assert_ptr_equal(rotary_pull(&f->set, f->reader),
				 &f->node[order[i]]);
	rotary_release(f->reader);
}

static void
an_empty_set_gives_nothing(void **state)
{
	struct fixture *f = *state;

	assert_null(rotary_pull(&f->set, f->reader));
	assert_null(rotary_head(&f->set, f->reader));
	assert_int_equal(rotary_length(&f->set), 0);
	assert_int_equal(reclaim(f), 0);
}

static void
the_head_revolves(void **state)
{
	struct fixture *f = *state;

	fill(f, 4);
	assert_int_equal(rotary_length(&f->set), 4);
	assert_ptr_equal(rotary_head(&f->set, f->reader), &f->node[0]);
	assert_ptr_equal(rotary_head(&f->set, f->reader), &f->node[0]);
	assert_pulls(f, (const int[]){0, 1, 2, 3, 0, 1}, 6);
	assert_ptr_equal(rotary_head(&f->set, f->reader), &f->node[2]);
}

static void
one_node_gets_every_turn(void **state)
{
	struct fixture *f = *state;

	fill(f, 1);
	assert_pulls(f, (const int[]){0, 0, 0}, 3);
}

static void
an_insert_goes_right_after_the_head(void **state)
{
	struct fixture *f = *state;

	fill(f, 3);
	assert_pulls(f, (const int[]){0}, 1);
	rotary_insert(&f->set, &f->node[5]);
	assert_pulls(f, (const int[]){1, 5, 2, 0, 1}, 5);
}

static void
a_removed_node_has_no_turn_wherever_it_stood(void **state)
{
	struct fixture *f = *state;

	fill(f, 5);
	rotary_remove(&f->set, &f->node[0]);
	assert_pulls(f, (const int[]){1, 2}, 2);
	rotary_remove(&f->set, &f->node[2]);
	rotary_remove(&f->set, &f->node[4]);
	assert_pulls(f, (const int[]){3, 1, 3}, 3);
	rotary_remove(&f->set, &f->node[3]);
	assert_pulls(f, (const int[]){1, 1}, 2);
	rotary_remove(&f->set, &f->node[1]);
	assert_null(rotary_pull(&f->set, f->reader));
	assert_int_equal(rotary_length(&f->set), 0);
}

static void
a_reclaim_takes_three_calls_and_gives_each_node_once(void **state)
{
	struct fixture *f = *state;

	fill(f, 3);
	rotary_remove(&f->set, &f->node[1]);
	assert_int_equal(reclaim(f), 1);
	rotary_remove(&f->set, &f->node[2]);
	assert_int_equal(reclaim(f), 2);
	assert_int_equal(reclaim(f), 1);
	assert_int_equal(f->released_count, 1);
	assert_ptr_equal(f->released[0], &f->node[1]);
	assert_int_equal(reclaim(f), 0);
	assert_int_equal(f->released_count, 2);
	assert_ptr_equal(f->released[1], &f->node[2]);
	assert_int_equal(reclaim(f), 0);
	assert_int_equal(f->released_count, 2);
	rotary_insert(&f->set, &f->node[1]);
	assert_pulls(f, (const int[]){0, 1, 0}, 3);
}

static void
a_pulled_node_is_kept_until_it_is_let_go(void **state)
{
	struct fixture *f = *state;
	int i;

	fill(f, 2);
	assert_ptr_equal(rotary_pull(&f->set, f->reader), &f->node[0]);
	rotary_remove(&f->set, &f->node[0]);
	rotary_remove(&f->set, &f->node[1]);
	for (i = 0; i < 5; i++)
		(void)reclaim(f);
	/* nothing keeps node 1: the pull let its successor go */
	assert_int_equal(f->released_count, 1);
	assert_ptr_equal(f->released[0], &f->node[1]);
	rotary_release(f->reader);
	for (i = 0; i < 3; i++)
		(void)reclaim(f);
	assert_int_equal(f->released_count, 2);
}

/* The case that plain hazard pointers get wrong: a slow reader holds A and its
 * successor B; B is removed; then the reader moves the head from A to B. */
static void
a_head_set_late_to_a_removed_node_is_harmless(void **state)
{
	struct fixture *f = *state;
	int i;

	fill(f, 3);
	hazard_set(f->slow, 0, &f->node[0]);
	hazard_set(f->slow, 1, &f->node[1]);
	rotary_remove(&f->set, &f->node[1]);
	for (i = 0; i < 5; i++)
		assert_int_equal(reclaim(f), 1);
	stand_on(f, &f->node[1]);
	hazard_clear(f->slow, 0);
	hazard_clear(f->slow, 1);
	/* nobody holds it, but the head stands on it: not to be released */
	assert_int_equal(reclaim(f), 1);
	assert_ptr_equal(head_of(f), &f->node[1]);
	assert_int_equal(reclaim(f), 1);
	assert_ptr_equal(head_of(f), &f->node[2]);
	assert_int_equal(reclaim(f), 0);
	assert_int_equal(f->released_count, 1);
	assert_pulls(f, (const int[]){2, 0, 2}, 3);
}

static void
readers_and_inserts_step_over_a_removed_head(void **state)
{
	struct fixture *f = *state;

	fill(f, 3);
	rotary_remove(&f->set, &f->node[1]);
	stand_on(f, &f->node[1]);
	rotary_insert(&f->set, &f->node[5]);
	assert_ptr_equal(rotary_head(&f->set, f->reader), &f->node[2]);
	stand_on(f, &f->node[1]);
	assert_pulls(f, (const int[]){2, 5, 0, 2}, 4);
}

/* B's way back led to C; when C goes it must lead on. */
static void
a_removed_node_leads_on_when_its_successor_goes(void **state)
{
	struct fixture *f = *state;
	int i;

	fill(f, 4);
	hazard_set(f->slow, 1, &f->node[1]);
	rotary_remove(&f->set, &f->node[1]);
	rotary_remove(&f->set, &f->node[2]);
	for (i = 0; i < 3; i++)
		(void)reclaim(f);
	assert_int_equal(f->released_count, 1);
	assert_ptr_equal(f->released[0], &f->node[2]);
	stand_on(f, &f->node[1]);
	hazard_clear(f->slow, 1);
	assert_pulls(f, (const int[]){3, 0, 3}, 3);
}

/* The set is emptied while a slow reader is about to move the head onto what
 * was removed: its exchange must fail, and the next insert must stand. */
static void
an_emptied_set_stays_empty_and_can_be_filled_again(void **state)
{
	struct fixture *f = *state;
	uint64_t word = 0;
	int i;

	fill(f, 2);
	hazard_set(f->slow, 0, &f->node[0]);
	hazard_set(f->slow, 1, &f->node[1]);
	rotary_remove(&f->set, &f->node[1]);
	word = atomic_load(&f->set.head);
	stand_on(f, &f->node[1]);
	rotary_remove(&f->set, &f->node[0]);
	assert_null(rotary_pull(&f->set, f->reader));
	assert_false(moves_head(f, word, &f->node[1]));
	rotary_insert(&f->set, &f->node[4]);
	for (i = 0; i < 3; i++)
		(void)reclaim(f);
	assert_pulls(f, (const int[]){4, 4}, 2);
	hazard_clear(f->slow, 0);
	hazard_clear(f->slow, 1);
	for (i = 0; i < 3; i++)
		(void)reclaim(f);
	assert_int_equal(f->released_count, 2);
	assert_pulls(f, (const int[]){4, 4}, 2);
}

/* A reader looked at A and its successor B, and stands still; something is put
 * in between them, and the others go all the way round. Its exchange would pass
 * over what is new. */
static void
a_slow_reader_cannot_pass_over_an_insertion(void **state)
{
	struct fixture *f = *state;
	uint64_t word = 0;

	fill(f, 2);
	word = atomic_load(&f->set.head);
	rotary_insert(&f->set, &f->node[2]);
	assert_false(moves_head(f, word, &f->node[1]));
	word = atomic_load(&f->set.head);
	assert_pulls(f, (const int[]){0, 2, 1}, 3);
	assert_ptr_equal(head_of(f), rotary_word_node(word));
	assert_false(moves_head(f, word, &f->node[2]));
	assert_pulls(f, (const int[]){0, 2, 1}, 3);
}

/* 22 bits go round after 4 million moves, and leave the address alone. */
static void
the_count_of_moves_wraps(void **state)
{
	struct fixture *f = *state;
	const uint64_t last = ~(rotary_word_one - 1);

	fill(f, 2);
	atomic_fetch_or(&f->set.head, last);
	assert_ptr_equal(head_of(f), &f->node[0]);
	rotary_insert(&f->set, &f->node[2]);
	assert_int_equal(atomic_load(&f->set.head) & last, 0);
	atomic_fetch_or(&f->set.head, last);
	assert_pulls(f, (const int[]){0, 2, 1, 0}, 4);
}

#define rotary_test(test)                                                      \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rotary_test(an_empty_set_gives_nothing),
		rotary_test(the_head_revolves),
		rotary_test(one_node_gets_every_turn),
		rotary_test(an_insert_goes_right_after_the_head),
		rotary_test(a_removed_node_has_no_turn_wherever_it_stood),
		rotary_test(
			a_reclaim_takes_three_calls_and_gives_each_node_once),
		rotary_test(a_pulled_node_is_kept_until_it_is_let_go),
		rotary_test(a_head_set_late_to_a_removed_node_is_harmless),
		rotary_test(readers_and_inserts_step_over_a_removed_head),
		rotary_test(a_removed_node_leads_on_when_its_successor_goes),
		rotary_test(a_slow_reader_cannot_pass_over_an_insertion),
		rotary_test(the_count_of_moves_wraps),
		rotary_test(an_emptied_set_stays_empty_and_can_be_filled_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

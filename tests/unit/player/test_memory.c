/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue and songs when memory runs out: each allocation in turn fails, and
 * what failed has changed nothing. malloc is ours here; sanitizers need their
 * own, and so skip this. */
#include "daemon/player/queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if !defined(ROTARY_SANITIZED)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static unsigned fail_at; /* the allocation, from 1, that fails; 0: none */

static bool
fails(void)
{
	return fail_at > 0 && --fail_at == 0;
}

void *
malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *block, size_t size)
{
	return fails() ? NULL : __libc_realloc(block, size);
}

static struct song *
try_song(void)
{
	struct song_builder *builder = song_builder_create("some/song.flac");

	if (builder == NULL)
		return NULL;
	for (int i = 0; i < 40; i++)
		song_builder_tag(builder, TAG_TITLE, "a title of some length",
				 22);
	return song_builder_finish(builder);
}

static void
test_song(void **state)
{
	struct song *song = NULL;
	unsigned n = 0;

	(void)state;
	while (song == NULL) {
		fail_at = ++n;
		song = try_song();
		if (fail_at > 0)
			break; /* all of them worked */
		assert_null(song);
	}
	fail_at = 0;
	assert_non_null(song);
	assert_int_equal(song_tag_count(song), 40);
	assert_true(n > 3);
	song_unref(song);
}

enum { SONGS = 130 };

static struct play_queue *
make_queue(struct song *song)
{
	struct play_queue *queue = play_queue_create();

	assert_non_null(queue);
	for (uint32_t i = 0; i < SONGS; i++)
		assert_int_equal(play_queue_insert(queue, i, song, 0, NULL), 0);
	return queue;
}

typedef int edit_fn(struct play_queue *queue, struct song *song);

static uint32_t
last(void *unused, uint32_t below)
{
	(void)unused;
	return below - 1;
}

static int
edit_insert(struct play_queue *queue, struct song *song)
{
	int error = 0;

	/* Up to where array and table grow. */
	for (int i = 0; error == 0 && i < 300; i++)
		error = play_queue_insert(queue, 3, song, 0, NULL);
	return error;
}

static int
edit_delete(struct play_queue *queue, struct song *song)
{
	(void)song;
	return play_queue_delete(queue, 5, 120);
}

static int
edit_move(struct play_queue *queue, struct song *song)
{
	(void)song;
	return play_queue_move(queue, 5, 20, 100);
}

static int
edit_swap(struct play_queue *queue, struct song *song)
{
	(void)song;
	return play_queue_swap(queue, 5, 20);
}

static int
edit_shuffle(struct play_queue *queue, struct song *song)
{
	(void)song;
	return play_queue_shuffle(queue, 0, SONGS, last, NULL);
}

static int
edit_priority(struct play_queue *queue, struct song *song)
{
	(void)song;
	return play_queue_set_priority(queue, 0, SONGS, 5);
}

static edit_fn *const edits[] = {
	edit_insert, edit_delete,  edit_move,
	edit_swap,   edit_shuffle, edit_priority,
};

/* The view is as it was, the queue whole. */
static void
check(struct play_queue *queue, const struct play_queue_view *view)
{
	for (uint32_t i = 0; i < SONGS; i++)
		assert_int_equal(play_queue_view_at(view, i)->id, i + 1);
	for (uint32_t i = 0; i < play_queue_length(queue); i++)
		assert_int_equal(
			play_queue_find(queue, play_queue_at(queue, i)->id), i);
}

/* Lets the n-th allocation of an edit fail; false when it has no n-th. */
static bool
fail_edit(edit_fn *edit, struct song *song, unsigned n)
{
	struct play_queue *queue = make_queue(song);
	struct play_queue_view *view = play_queue_view(queue);
	const uint32_t version = play_queue_version(queue);
	bool failed;
	int error;

	assert_non_null(view);
	fail_at = n;
	error = edit(queue, song);
	failed = fail_at == 0;
	fail_at = 0;
	/* A smaller array after a delete is a wish, not a must. */
	assert_true(error == (failed ? -ENOMEM : 0) ||
		    (edit == edit_delete && error == 0));
	if (error < 0 && edit != edit_insert)
		assert_int_equal(play_queue_version(queue), version);
	check(queue, view);
	play_queue_clear(queue);
	play_queue_view_unref(view);
	play_queue_destroy(queue);
	return failed;
}

static void
test_edits(void **state)
{
	struct song *song = try_song();

	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		unsigned n = 1;

		while (fail_edit(edits[i], song, n))
			n++;
		/* Each had to copy what the view shares. */
		assert_true(n > 2);
	}
	song_unref(song);
}

static void
test_create(void **state)
{
	struct play_queue *queue;

	(void)state;
	fail_at = 1;
	assert_null(play_queue_create());
	queue = play_queue_create();
	fail_at = 1;
	assert_null(play_queue_view(queue));
	play_queue_destroy(queue);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_song),
		cmocka_unit_test(test_edits),
		cmocka_unit_test(test_create),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int
main(void)
{
	return 0;
}

#endif

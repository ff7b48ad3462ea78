/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue against a plain model of it: random changes, and after each one
 * that every id is found, that plchanges would have told each changed place,
 * that frozen copies stay as they were, and that no song is lost or kept. */
#include "daemon/player/queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static uint32_t
random_below(void *unused, uint32_t below)
{
	(void)unused;
	seed = seed * UINT64_C(6364136223846793005) +
	       UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static struct song *
make_song(const char *uri)
{
	struct song_builder *builder = song_builder_create(uri);
	struct song *song;

	assert_non_null(builder);
	song = song_builder_finish(builder);
	assert_non_null(song);
	return song;
}

static uint32_t
insert(struct play_queue *queue, uint32_t position, const char *uri)
{
	struct song *song = make_song(uri);
	uint32_t id;

	assert_int_equal(play_queue_insert(queue, position, song, 0, &id), 0);
	song_unref(song);
	return id;
}

static struct play_queue *
queue_of(const char *letters)
{
	struct play_queue *queue = play_queue_create();

	assert_non_null(queue);
	for (; *letters != '\0'; letters++)
		insert(queue, play_queue_length(queue),
		       (const char[]){*letters, '\0'});
	return queue;
}

static void
assert_letters(const struct play_queue *queue, const char *letters)
{
	assert_int_equal(play_queue_length(queue), strlen(letters));
	for (uint32_t i = 0; letters[i] != '\0'; i++) {
		const struct play_queue_item *item = play_queue_at(queue, i);

		assert_int_equal(song_uri(item->song)[0], letters[i]);
		assert_int_equal(play_queue_find(queue, item->id), i);
	}
}

static void
test_edits(void **state)
{
	struct play_queue *queue = queue_of("abcdef");

	(void)state;
	assert_int_equal(play_queue_move(queue, 0, 2, 3), 0);
	assert_letters(queue, "cdeabf");
	assert_int_equal(play_queue_move(queue, 3, 5, 0), 0);
	assert_letters(queue, "abcdef");
	assert_int_equal(play_queue_move(queue, 0, 6, 0), 0);
	assert_int_equal(play_queue_move(queue, 0, 2, 5), -ERANGE);
	assert_int_equal(play_queue_swap(queue, 0, 5), 0);
	assert_letters(queue, "fbcdea");
	assert_int_equal(play_queue_swap(queue, 0, 6), -ERANGE);
	assert_int_equal(play_queue_delete(queue, 1, 3), 0);
	assert_letters(queue, "fdea");
	assert_int_equal(play_queue_delete(queue, 3, 5), -ERANGE);
	assert_int_equal(play_queue_delete(queue, 3, 2), -ERANGE);
	assert_int_equal(play_queue_delete(queue, 4, 4), 0);
	insert(queue, 1, "x");
	assert_letters(queue, "fxdea");
	assert_null(play_queue_at(queue, 5));
	play_queue_clear(queue);
	assert_letters(queue, "");
	play_queue_destroy(queue);
}

static void
test_versions(void **state)
{
	struct play_queue *queue = queue_of("abcd");
	uint32_t version = play_queue_version(queue);

	(void)state;
	assert_int_equal(version, 5);
	assert_int_equal(play_queue_delete(queue, 1, 1), 0);
	assert_int_equal(play_queue_move(queue, 1, 2, 1), 0);
	assert_int_equal(play_queue_set_priority(queue, 0, 4, 0), 0);
	assert_int_equal(play_queue_version(queue), version);

	assert_int_equal(play_queue_move(queue, 1, 2, 2), 0);
	assert_int_equal(play_queue_version(queue), ++version);
	assert_int_equal(play_queue_at(queue, 0)->version, 2);
	assert_int_equal(play_queue_at(queue, 1)->version, version);
	assert_int_equal(play_queue_at(queue, 2)->version, version);
	assert_int_equal(play_queue_at(queue, 3)->version, 5);

	assert_int_equal(play_queue_set_priority(queue, 0, 2, 9), 0);
	assert_int_equal(play_queue_set_priority(queue, 1, 3, 9), 0);
	assert_int_equal(play_queue_at(queue, 1)->version, version + 1);
	assert_int_equal(play_queue_at(queue, 2)->version, version + 2);
	assert_int_equal(play_queue_prioritized(queue), 3);
	assert_int_equal(play_queue_delete(queue, 0, 1), 0);
	assert_int_equal(play_queue_prioritized(queue), 2);
	play_queue_destroy(queue);
}

static void
test_ids(void **state)
{
	struct play_queue *queue = queue_of("ab");
	struct song *song = make_song("c");
	uint32_t id;

	(void)state;
	assert_int_equal(play_queue_at(queue, 0)->id, 1);
	assert_int_equal(play_queue_insert(queue, 0, song, 2, &id), -EEXIST);
	assert_int_equal(play_queue_insert(queue, 9, song, 0, &id), -ERANGE);
	/* The same slot as id 1 until the table has grown. */
	assert_int_equal(play_queue_insert(queue, 0, song, 65, &id), 0);
	assert_int_equal(id, 65);
	assert_int_equal(play_queue_insert(queue, 0, song, INT32_MAX, NULL), 0);
	assert_int_equal(play_queue_find(queue, 65), 1);
	assert_int_equal(play_queue_find(queue, 1), 2);
	assert_int_equal(play_queue_find(queue, INT32_MAX), 0);
	assert_int_equal(play_queue_find(queue, 0), -ENOENT);
	assert_int_equal(play_queue_find(queue, 1000), -ENOENT);
	/* Deleted ids do not come again soon. */
	assert_int_equal(play_queue_delete(queue, 0, 4), 0);
	assert_int_equal(play_queue_find(queue, 1), -ENOENT);
	assert_int_equal(insert(queue, 0, "d"), 3);
	song_unref(song);
	play_queue_destroy(queue);
}

static void
test_mark(void **state)
{
	struct play_queue *queue = queue_of("abcdef");

	(void)state;
	assert_int_equal(play_queue_mark(queue), -ENOENT);
	play_queue_set_mark(queue, play_queue_at(queue, 2)->id);
	insert(queue, 2, "x");
	assert_int_equal(play_queue_mark(queue), 3);
	assert_int_equal(play_queue_move(queue, 3, 4, 0), 0);
	assert_int_equal(play_queue_mark(queue), 0);
	assert_int_equal(play_queue_swap(queue, 0, 4), 0);
	assert_letters(queue, "dabxcef");
	assert_int_equal(play_queue_mark(queue), 4);
	assert_int_equal(play_queue_delete(queue, 0, 1), 0);
	assert_int_equal(play_queue_delete(queue, 2, 5), 0);
	assert_letters(queue, "abf");
	assert_int_equal(play_queue_mark(queue), 2);
	/* What comes into the gap comes after the song that left it. */
	insert(queue, 2, "y");
	assert_int_equal(play_queue_mark(queue), 2);
	insert(queue, 0, "z");
	assert_int_equal(play_queue_mark(queue), 3);
	assert_int_equal(play_queue_delete(queue, 1, 5), 0);
	assert_int_equal(play_queue_mark(queue), 1);
	play_queue_clear(queue);
	assert_int_equal(play_queue_mark(queue), 0);
	play_queue_set_mark(queue, 0);
	assert_int_equal(play_queue_mark(queue), -ENOENT);
	play_queue_destroy(queue);
}

/* the model */

enum { MODEL_MAX = 200, VIEWS_MAX = 6, STEPS = 4000 };

struct model_item {
	uint32_t id;
	char uri[12];
	uint8_t priority;
};

struct model {
	struct model_item items[MODEL_MAX * 2];
	uint32_t length;
};

struct frozen {
	struct play_queue_view *view;
	struct model model;
};

static struct model model;

static bool
same(const struct play_queue_item *item, const struct model_item *wanted)
{
	return item->id == wanted->id && item->priority == wanted->priority &&
	       strcmp(song_uri(item->song), wanted->uri) == 0;
}

static void
model_rotate(uint32_t from, uint32_t middle, uint32_t to)
{
	static struct model_item kept[MODEL_MAX * 2];

	memcpy(kept, model.items + from, (middle - from) * sizeof(*kept));
	memmove(model.items + from, model.items + middle,
		(to - middle) * sizeof(*kept));
	memcpy(model.items + from + (to - middle), kept,
	       (middle - from) * sizeof(*kept));
}

static void
step_insert(struct play_queue *queue)
{
	static unsigned count;
	const uint32_t at = random_below(NULL, model.length + 1);
	struct model_item *item;

	memmove(model.items + at + 1, model.items + at,
		(model.length - at) * sizeof(*item));
	item = &model.items[at];
	*item = (struct model_item){0};
	snprintf(item->uri, sizeof(item->uri), "s%u", ++count);
	item->id = insert(queue, at, item->uri);
	model.length++;
}

static void
step_delete(struct play_queue *queue, uint32_t from, uint32_t to)
{
	assert_int_equal(play_queue_delete(queue, from, to), 0);
	memmove(model.items + from, model.items + to,
		(model.length - to) * sizeof(model.items[0]));
	model.length -= to - from;
}

static void
step_shuffle(struct play_queue *queue, uint32_t from, uint32_t to)
{
	assert_int_equal(
		play_queue_shuffle(queue, from, to, random_below, NULL), 0);
	/* The same songs in some order: checked by finding each. */
	for (uint32_t i = from; i < to; i++) {
		const int64_t at = play_queue_find(queue, model.items[i].id);

		assert_in_range(at, from, to - 1);
		assert_true(same(play_queue_at(queue, (uint32_t)at),
				 &model.items[i]));
	}
	for (uint32_t i = from; i < to; i++) {
		const struct play_queue_item *item = play_queue_at(queue, i);

		model.items[i].id = item->id;
		model.items[i].priority = item->priority;
		snprintf(model.items[i].uri, sizeof(model.items[i].uri), "%s",
			 song_uri(item->song));
	}
}

static void
step_range(struct play_queue *queue)
{
	const uint32_t a = random_below(NULL, model.length + 1);
	const uint32_t b = random_below(NULL, model.length + 1);
	const uint32_t from = a < b ? a : b;
	const uint32_t to = a < b ? b : a;
	const uint8_t priority = (uint8_t)random_below(NULL, 3);
	uint32_t target;

	switch (random_below(NULL, 4)) {
	case 0:
		step_delete(queue, from, to - from > 5 ? from + 5 : to);
		break;
	case 1:
		target = random_below(NULL, model.length - (to - from) + 1);
		assert_int_equal(play_queue_move(queue, from, to, target), 0);
		if (target < from)
			model_rotate(target, from, to);
		else
			model_rotate(from, to, target + (to - from));
		break;
	case 2:
		step_shuffle(queue, from, to);
		break;
	default:
		assert_int_equal(
			play_queue_set_priority(queue, from, to, priority), 0);
		for (uint32_t i = from; i < to; i++)
			model.items[i].priority = priority;
	}
}

static void
step_swap(struct play_queue *queue)
{
	const uint32_t a = random_below(NULL, model.length);
	const uint32_t b = random_below(NULL, model.length);
	const struct model_item item = model.items[a];

	assert_int_equal(play_queue_swap(queue, a, b), 0);
	model.items[a] = model.items[b];
	model.items[b] = item;
}

static void
step(struct play_queue *queue)
{
	const uint32_t choice = random_below(NULL, 100);

	if (choice < 45 || model.length == 0) {
		if (model.length < MODEL_MAX)
			step_insert(queue);
		else
			step_delete(queue, 10, MODEL_MAX - 10);
	} else if (choice < 98) {
		if (choice < 60)
			step_swap(queue);
		else
			step_range(queue);
	} else {
		play_queue_clear(queue);
		model.length = 0;
	}
}

static void
check_queue(const struct play_queue *queue, const struct model *before,
	    uint32_t version)
{
	assert_int_equal(play_queue_length(queue), model.length);
	for (uint32_t i = 0; i < model.length; i++) {
		const struct play_queue_item *item = play_queue_at(queue, i);

		assert_true(same(item, &model.items[i]));
		if (i >= before->length || !same(item, &before->items[i]))
			assert_true(item->version > version);
		assert_true(item->version <= play_queue_version(queue));
	}
	for (uint32_t i = 0; i < model.length; i += 7)
		assert_int_equal(play_queue_find(queue, model.items[i].id), i);
}

static void
check_frozen(const struct frozen *frozen)
{
	assert_int_equal(play_queue_view_length(frozen->view),
			 frozen->model.length);
	for (uint32_t i = 0; i < frozen->model.length; i++)
		assert_true(same(play_queue_view_at(frozen->view, i),
				 &frozen->model.items[i]));
	assert_null(play_queue_view_at(frozen->view, frozen->model.length));
}

static void
test_model(void **state)
{
	static struct frozen frozen[VIEWS_MAX];
	static struct model before;
	struct play_queue *queue = play_queue_create();

	(void)state;
	seed = 7;
	for (int i = 0; i < STEPS; i++) {
		struct frozen *view = &frozen[random_below(NULL, VIEWS_MAX)];
		const uint32_t version = play_queue_version(queue);

		before = model;
		step(queue);
		check_queue(queue, &before, version);
		if (random_below(NULL, 3) == 0 && view->view != NULL) {
			check_frozen(view);
			play_queue_view_unref(view->view);
			view->view = NULL;
		} else if (random_below(NULL, 4) == 0 && view->view == NULL) {
			view->view = play_queue_view(queue);
			view->model = model;
		}
	}
	/* Views outlive the queue. */
	play_queue_destroy(queue);
	for (int i = 0; i < VIEWS_MAX; i++) {
		if (frozen[i].view == NULL)
			continue;
		check_frozen(&frozen[i]);
		play_queue_view_unref(frozen[i].view);
	}
}

/* A million songs: each change may take time in proportion, looking up an id
 * may not, or this test would not end. */
static void
test_million(void **state)
{
	struct play_queue *queue = play_queue_create();
	struct song *song = make_song("a");
	struct play_queue_view *view;
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; i < QUEUE_SONGS_MAX; i++)
		assert_int_equal(play_queue_insert(queue, i, song, 0, &id), 0);
	assert_int_equal(play_queue_insert(queue, 0, song, 0, &id), -ENOSPC);
	assert_int_equal(play_queue_find(queue, id), QUEUE_SONGS_MAX - 1);
	assert_int_equal(play_queue_move(queue, 0, 1, QUEUE_SONGS_MAX - 1), 0);
	assert_int_equal(play_queue_find(queue, 1), QUEUE_SONGS_MAX - 1);
	view = play_queue_view(queue);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(play_queue_delete(queue, 0, 1), 0);
		assert_int_equal(play_queue_find(queue, id),
				 QUEUE_SONGS_MAX - 3 - i);
	}
	for (uint32_t i = 0; i < QUEUE_SONGS_MAX - 5; i++)
		assert_int_equal(
			play_queue_find(queue, play_queue_at(queue, i)->id), i);
	assert_int_equal(play_queue_delete(queue, 1, QUEUE_SONGS_MAX - 5), 0);
	assert_int_equal(play_queue_length(queue), 1);
	assert_int_equal(play_queue_view_length(view), QUEUE_SONGS_MAX);
	assert_int_equal(play_queue_view_at(view, 999999)->id, 1);
	play_queue_view_unref(view);
	song_unref(song);
	play_queue_destroy(queue);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edits), cmocka_unit_test(test_versions),
		cmocka_unit_test(test_ids),   cmocka_unit_test(test_mark),
		cmocka_unit_test(test_model), cmocka_unit_test(test_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_stall.c - a file system that does not answer: opens and reads
 * hang in their worker until they are let go. Control goes on, what can be
 * heard is heard, and no memory that the hanging worker holds is used for
 * anything else or lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "daemon/source/source.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/rig/rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 8 * RIG_RATE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool hangs;
static unsigned hanging;

int __real_source_open(const struct path_root *root,
		       const struct source_ref *ref,
		       struct source **ret_source);
ssize_t __real_source_read(struct source *source, void *ret_bytes,
			   size_t length);
int __wrap_source_open(const struct path_root *root,
		       const struct source_ref *ref,
		       struct source **ret_source);
ssize_t __wrap_source_read(struct source *source, void *ret_bytes,
			   size_t length);

static void
pass(void)
{
	pthread_mutex_lock(&lock);
	hanging++;
	pthread_cond_broadcast(&changed);
	while (hangs)
		pthread_cond_wait(&changed, &lock);
	hanging--;
	pthread_mutex_unlock(&lock);
}

int
__wrap_source_open(const struct path_root *root, const struct source_ref *ref,
		   struct source **ret_source)
{
	pass();
	return __real_source_open(root, ref, ret_source);
}

ssize_t
__wrap_source_read(struct source *source, void *ret_bytes, size_t length)
{
	pass();
	return __real_source_read(source, ret_bytes, length);
}

static void
set_hangs(bool on)
{
	pthread_mutex_lock(&lock);
	hangs = on;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static bool
is_hanging(void)
{
	bool result;

	pthread_mutex_lock(&lock);
	result = hanging > 0;
	pthread_mutex_unlock(&lock);
	return result;
}

static int
set_up(void **state)
{
	static const struct work_limits limits = {
		.stall_ns = 30 * NS_PER_MS,
		.give_up_ns = 150 * NS_PER_MS,
	};

	set_hangs(false);
	rig_set_up_with(state, &(struct rig_options){.driver = &card_null,
						     .ring_bytes = 2 << 20,
						     .limits = &limits});
	rig_make(*state, "a.flac", 1, LONG);
	return 0;
}

static int
tear_down(void **state)
{
	set_hangs(false);
	return rig_tear_down(state);
}

static void
wait_until_hanging(struct rig *rig)
{
	while (!is_hanging())
		rig_turn(rig, clock_now_ns() + NS_PER_MS);
}

static void
wait_until_gone(struct rig *rig)
{
	while (rig->engine->stream_count > 0)
		rig_turn(rig, clock_now_ns() + 20 * NS_PER_MS);
}

static void
assert_all_memory_is_back(struct rig *rig)
{
	struct pool_usage usage;

	engine_stop(rig->engine, LANE_MUSIC);
	while (rig->engine->card.phase != CARD_DOWN)
		rig_turn(rig, clock_now_ns() + 20 * NS_PER_MS);
	pool_get_usage(rig->engine->commons->pool, &usage);
	assert_int_equal(usage.used_bytes, 0);
}

static void
an_open_that_hangs_fails_in_time(void **state)
{
	struct rig *rig = *state;
	uint64_t song;
	int at;

	set_hangs(true);
	song = rig_open(rig, "a.flac", 0);
	at = rig_wait(rig, RIG_FAILED, song);
	assert_string_equal(rig->events[at].reason,
			    "its file system does not answer");
	engine_release(rig->engine, song);
	/* Still in the worker's hands. */
	rig_run(rig, 20 * NS_PER_MS);
	assert_int_equal(rig->engine->stream_count, 1);
	set_hangs(false);
	wait_until_gone(rig);
	assert_all_memory_is_back(rig);
}

static void
release_does_not_wait_for_an_open(void **state)
{
	struct rig *rig = *state;
	uint64_t song;

	set_hangs(true);
	song = rig_open(rig, "a.flac", 0);
	wait_until_hanging(rig);
	engine_release(rig->engine, song);
	set_hangs(false);
	wait_until_gone(rig);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
	assert_all_memory_is_back(rig);
}

/* What is in the rings is heard; then the lane is dry, and the song fails. */
static void
a_song_whose_bytes_stay_away_runs_dry(void **state)
{
	struct rig *rig = *state;
	struct engine_position position;
	uint64_t song;

	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait(rig, RIG_STARTED, song);
	set_hangs(true);
	rig_wait(rig, RIG_FAILED, song);
	engine_position(rig->engine, LANE_MUSIC, &position);
	assert_true(position.stream == song || position.stream == 0);
	engine_release(rig->engine, song);
	set_hangs(false);
	wait_until_gone(rig);
	/* The next plays as if nothing had been. */
	song = rig_open_ready(rig, "a.flac", 7 * NS_PER_S + NS_PER_S / 2);
	rig_play(rig, song);
	rig_wait(rig, RIG_ENDED, song);
	engine_release(rig->engine, song);
	wait_until_gone(rig);
	assert_all_memory_is_back(rig);
}

/* A short hang is not even heard: the rings hold seconds. */
static void
a_short_hang_is_not_told(void **state)
{
	struct rig *rig = *state;
	uint64_t song;

	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait(rig, RIG_STARTED, song);
	set_hangs(true);
	rig_run(rig, 60 * NS_PER_MS);
	set_hangs(false);
	rig_run(rig, 300 * NS_PER_MS);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
}

static void
the_engine_ends_while_a_worker_hangs(void **state)
{
	struct rig *rig = *state;
	int64_t begin_ns;
	uint64_t song, other;

	song = rig_open_ready(rig, "a.flac", 0);
	rig_play(rig, song);
	rig_wait(rig, RIG_STARTED, song);
	set_hangs(true);
	other = rig_open(rig, "a.flac", NS_PER_S);
	wait_until_hanging(rig);
	(void)other;
	begin_ns = clock_now_ns();
	rig_stop(rig);
	/* Nothing that this could be waiting for ends before; 20 s is only
	 * what a hang would be told from. */
	assert_true(clock_now_ns() - begin_ns < RIG_PATIENCE_NS);
	assert_true(is_hanging());
	set_hangs(false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			an_open_that_hangs_fails_in_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			release_does_not_wait_for_an_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_song_whose_bytes_stay_away_runs_dry, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_short_hang_is_not_told,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_engine_ends_while_a_worker_hangs, set_up,
			tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

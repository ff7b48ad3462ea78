/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state with a real worker pool and real files: what is joined and when it
 * is due, what a kill -9 leaves, and folders that cannot be used. */
#include "daemon/player/state.h"

#include "daemon/work/work.h"
#include "lib/base/log.h"
#include "lib/base/thread.h"
#include "tests/unit/player/fake_engine.h"
#include "tests/unit/player/saved_queue.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const int64_t INTERVAL_NS = 10 * NS_PER_S;

/* Everything that a daemon has for its state. */
struct house {
	struct fake_engine *fake;
	struct work *work;
	struct state *state;
	bool found;
};

static struct house
open_house(const char *path)
{
	struct house house = {.fake = fake_create()};
	struct player_saved saved;
	struct text error = {0};

	house.fake->quiet = true;
	assert_int_equal(work_create(NULL, &house.work), 0);
	assert_int_equal(state_load(path, house.fake->queue, &saved,
				    &house.found, &house.state, &error),
			 0);
	if (house.found)
		player_restore(house.fake->player, &saved);
	state_start(house.state, house.work, house.fake->queue,
		    house.fake->player);
	text_finish(&error);
	return house;
}

static void
close_house(struct house *house)
{
	state_finish(house->state, 20 * NS_PER_S);
	work_destroy(house->work, NS_PER_S);
	fake_destroy(house->fake);
}

/* Time goes by until nothing is unsaved: also that in which a save that has
 * failed is not tried again. */
static void
settle(struct house *house)
{
	enum { LOOK_MS = 10, PATIENCE_MS = 60000 };
	struct pollfd event = {work_event_fd(house->work), POLLIN, 0};
	int64_t later_ns = clock_now_ns();
	int looks = 0;

	for (looks = 0; looks < PATIENCE_MS / LOOK_MS; looks++) {
		later_ns += 5 * NS_PER_S;
		(void)state_tick(house->state, later_ns, INTERVAL_NS);
		if (state_is_saved(house->state))
			return;
		if (poll(&event, 1, LOOK_MS) == 1)
			work_dispatch(house->work);
	}
	fail_msg("it is never saved");
}

static void
test_restore(void **state)
{
	struct house house = open_house(folder);
	struct house again;
	struct player_status status;

	(void)state;
	assert_false(house.found);
	for (unsigned i = 0; i < 10; i++)
		insert_song(house.fake->queue, i, i);
	player_queue_changed(house.fake->player);
	assert_int_equal(player_set_volume(house.fake->player, 42), 0);
	player_set_random(house.fake->player, true);
	player_set_consume(house.fake->player, PLAYER_ONESHOT);
	assert_int_equal(player_play(house.fake->player, 7), 0);
	fake_ready(house.fake, 1);
	fake_started(house.fake, 1);
	house.fake->elapsed_ns = 61 * NS_PER_S;
	player_pause(house.fake->player, true);
	state_changed(house.state, PLAYER_CHANGE_QUEUE);
	settle(&house);
	/* While the first one lives: a reader in another process. */
	again = open_house(folder);
	assert_true(again.found);
	assert_true(same_queue(house.fake->queue, again.fake->queue));
	player_get_status(again.fake->player, &status);
	assert_int_equal(status.volume, 42);
	assert_true(status.random && !status.repeat);
	assert_int_equal(status.consume, PLAYER_ONESHOT);
	assert_int_equal(status.state, PLAYER_PAUSE);
	assert_int_equal(status.song, 7);
	assert_true(status.elapsed_ns == 61 * NS_PER_S);
	close_house(&again);
	close_house(&house);
}

/* The n-th option, set to what it is not by default; false: no more. */
static bool
set_option(struct player *player, unsigned n)
{
	switch (n) {
	case 0:
		assert_int_equal(player_set_volume(player, 37), 0);
		break;
	case 1:
		player_set_repeat(player, true);
		break;
	case 2:
		player_set_random(player, true);
		break;
	case 3:
		player_set_single(player, PLAYER_ONESHOT);
		break;
	case 4:
		player_set_consume(player, PLAYER_ON);
		break;
	case 5:
		player_set_replay_gain(player, REPLAY_GAIN_ALBUM);
		break;
	case 6:
		player_set_mixramp_db(player, -17.5);
		break;
	case 7:
		player_set_mixramp_delay(player, 2.5);
		break;
	default:
		return false;
	}
	return true;
}

static void
assert_same_options(const struct house *one, const struct house *other)
{
	struct player_saved a, b;

	player_get_saved(one->fake->player, &a);
	player_get_saved(other->fake->player, &b);
	assert_int_equal(a.volume, b.volume);
	assert_int_equal(a.repeat, b.repeat);
	assert_int_equal(a.random, b.random);
	assert_int_equal(a.single, b.single);
	assert_int_equal(a.consume, b.consume);
	assert_int_equal(a.has_replay_gain, b.has_replay_gain);
	assert_int_equal(a.replay_gain, b.replay_gain);
	assert_true(a.mixramp_db == b.mixramp_db);
	assert_true(a.mixramp_delay_s == b.mixramp_delay_s);
}

/* Not only with what else has changed, or at the end. */
static void
test_each_option_is_saved_alone(void **state)
{
	struct house house = open_house(folder);
	unsigned i;

	(void)state;
	state_changed(house.state, PLAYER_CHANGE_QUEUE);
	settle(&house);
	for (i = 0; set_option(house.fake->player, i); i++) {
		struct house again;

		state_changed(house.state, PLAYER_CHANGE_OPTIONS);
		settle(&house);
		again = open_house(folder);
		assert_same_options(&house, &again);
		close_house(&again);
	}
	close_house(&house);
}

/* What finish() alone has to save. */
static void
test_finish(void **state)
{
	struct house house = open_house(folder);
	struct house again;

	(void)state;
	insert_song(house.fake->queue, 0, 5);
	state_changed(house.state, PLAYER_CHANGE_QUEUE);
	close_house(&house);
	again = open_house(folder);
	assert_true(again.found);
	assert_int_equal(play_queue_length(again.fake->queue), 1);
	close_house(&again);
	state_finish(NULL, 0);
}

static void
test_deadlines(void **state)
{
	struct house house = open_house(folder);
	const int64_t now_ns = clock_now_ns();
	int64_t next_ns;

	(void)state;
	/* Nothing to do, ever. */
	assert_true(state_tick(house.state, now_ns, INTERVAL_NS) == INT64_MAX);
	/* A burst is one save, within a second of its first change. */
	for (unsigned i = 0; i < 50; i++) {
		insert_song(house.fake->queue, i, i);
		state_changed(house.state, PLAYER_CHANGE_QUEUE);
	}
	next_ns = state_tick(house.state, now_ns, INTERVAL_NS);
	assert_true(next_ns > now_ns);
	assert_true(next_ns <= clock_now_ns() + NS_PER_S);
	assert_false(state_is_saved(house.state));
	assert_true(
		work_order_idle(house.work, (uint64_t)(uintptr_t)house.state));
	settle(&house);
	/* Play: the position each interval, and in pause nothing. */
	player_queue_changed(house.fake->player);
	assert_int_equal(player_play(house.fake->player, 0), 0);
	state_changed(house.state, PLAYER_CHANGE_PLAYER);
	settle(&house);
	next_ns = state_tick(house.state, now_ns, INTERVAL_NS);
	assert_true(next_ns < INT64_MAX);
	house.fake->elapsed_ns = NS_PER_S;
	assert_true(state_is_saved(house.state));
	(void)state_tick(house.state, next_ns, INTERVAL_NS);
	assert_true(state_is_saved(house.state)); /* it has not moved */
	fake_ready(house.fake, 1);
	fake_started(house.fake, 1);
	house.fake->elapsed_ns = 11 * NS_PER_S;
	(void)state_tick(house.state, next_ns + INTERVAL_NS, INTERVAL_NS);
	assert_false(state_is_saved(house.state));
	settle(&house);
	player_pause(house.fake->player, true);
	state_changed(house.state, PLAYER_CHANGE_PLAYER);
	settle(&house);
	assert_true(state_tick(house.state, now_ns, INTERVAL_NS) == INT64_MAX);
	close_house(&house);
}

/* A folder below a file cannot be made, even by root. */
static void
test_no_folder(void **state)
{
	struct house house;
	struct house again;
	int64_t next_ns, before_ns;
	char file[80];
	char path[96];

	(void)state;
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(path, sizeof(path), "%s/state/deep", file);
	assert_int_equal(close(open(file, O_CREAT | O_WRONLY, 0644)), 0);
	house = open_house(path);
	assert_false(house.found);
	insert_song(house.fake->queue, 0, 1);
	state_changed(house.state, PLAYER_CHANGE_QUEUE);
	before_ns = clock_now_ns();
	(void)state_tick(house.state, before_ns + 2 * NS_PER_S, INTERVAL_NS);
	while (!work_order_idle(house.work, (uint64_t)(uintptr_t)house.state)) {
		struct pollfd event = {work_event_fd(house.work), POLLIN, 0};

		assert_int_equal(poll(&event, 1, 60000), 1);
		work_dispatch(house.work);
	}
	assert_false(state_is_saved(house.state));
	/* Not at once again, however long this took. */
	next_ns = state_tick(house.state, before_ns, INTERVAL_NS);
	assert_true(next_ns > before_ns + 5 * NS_PER_S);
	assert_true(next_ns < INT64_MAX);
	/* And when the folder is there, all is saved. */
	assert_int_equal(remove(file), 0);
	assert_int_equal(mkdir(file, 0755), 0);
	snprintf(path, sizeof(path), "%s/state", file);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/state/deep", file);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)state_tick(house.state, next_ns, INTERVAL_NS);
	settle(&house);
	again = open_house(path);
	assert_int_equal(play_queue_length(again.fake->queue), 1);
	close_house(&again);
	close_house(&house);
}

/* kill -9 */

struct shared {
	ATOMIC(uint32_t) done;  /* edits made */
	ATOMIC(uint32_t) saved; /* of those, surely in the file */
};

static void
be_killed(struct shared *shared, uint64_t seed)
{
	struct dice edits = dice_seeded(seed);
	struct dice times = dice_seeded(seed + 1000);
	struct house house = open_house(folder);

	for (;;) {
		edit_queue(house.fake->queue, &edits);
		state_changed(house.state, PLAYER_CHANGE_QUEUE);
		atomic_fetch_add(&shared->done, 1);
		if (dice_roll(&times, 3) == 0)
			(void)state_tick(house.state,
					 clock_now_ns() + 5 * NS_PER_S,
					 INTERVAL_NS);
		work_dispatch(house.work);
		if (dice_roll(&times, 12) == 0) {
			settle(&house);
			atomic_store(&shared->saved,
				     atomic_load(&shared->done));
		}
	}
}

/* The queue after some number of edits in from..to. */
static bool
is_between(const struct play_queue *queue, uint64_t seed, uint32_t from,
	   uint32_t to)
{
	struct play_queue *model = play_queue_create();
	struct dice edits = dice_seeded(seed);
	bool found = false;

	for (uint32_t i = 0; !found && i <= to; i++) {
		if (i >= from)
			found = same_queue(queue, model);
		edit_queue(model, &edits);
	}
	play_queue_destroy(model);
	return found;
}

static void
kill_once(struct shared *shared, uint64_t seed, uint32_t at)
{
	struct play_queue *queue = play_queue_create();
	struct player_saved saved;
	struct text error = {0};
	struct state *state;
	pid_t child;
	bool found;

	atomic_store(&shared->done, 0);
	atomic_store(&shared->saved, 0);
	child = fork();
	if (child == 0)
		be_killed(shared, seed);
	assert_true(child > 0);
	while (atomic_load(&shared->done) < at)
		sched_yield();
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(
		state_load(folder, queue, &saved, &found, &state, &error), 0);
	/* One edit more may have been made than was counted. */
	assert_true(is_between(queue, seed, atomic_load(&shared->saved),
			       atomic_load(&shared->done) + 1));
	state_finish(state, 0);
	text_finish(&error);
	play_queue_destroy(queue);
}

static void
test_kill(void **state)
{
	struct shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct dice dice = dice_seeded(11);

	assert_ptr_not_equal(shared, MAP_FAILED);
	for (uint64_t i = 0; i < 12; i++) {
		kill_once(shared, i, 1 + dice_roll(&dice, 60));
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
	}
	munmap(shared, sizeof(*shared));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FOLDER_TEST(test_restore),
		FOLDER_TEST(test_each_option_is_saved_alone),
		FOLDER_TEST(test_finish),
		FOLDER_TEST(test_deadlines),
		FOLDER_TEST(test_no_folder),
		FOLDER_TEST(test_kill),
	};

	log_init(LOG_LEVEL_ERROR);
	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

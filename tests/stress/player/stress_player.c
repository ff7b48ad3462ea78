/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Storms of commands, edits and events, in every mode, some with songs that
 * fail. The fake engine asserts what an engine may expect of each stream;
 * here it is checked after each message that little is open at a time, that
 * what is shown exists, that one message leads to few opens (no busy loop), and
 * that a queue in which all songs fail comes to rest. */
#include "tests/unit/player/fake_engine.h"

#include "lib/base/log.h"

enum {
	STORMS = 60,
	MESSAGES = 1500,
	QUEUE_MAX = 40,
	OPENS_AT_ONCE = 20,
	AHEAD_MAX = 6
};

struct storm {
	struct fake_engine *fake;
	unsigned fail_percent;
};

static uint32_t
draw(struct storm *storm, uint32_t below)
{
	return fake_random(storm->fake, below);
}

/* A stream that still lives, by draw; 0: none. */
static uint64_t
some_stream(struct storm *storm)
{
	struct fake_engine *fake = storm->fake;
	const uint64_t first = fake->count > 8 ? fake->count - 8 : 0;
	const uint64_t id =
		fake->count == 0
			? 0
			: first + 1 +
				  draw(storm, (uint32_t)(fake->count - first));

	return id != 0 && !fake->streams[id - 1].released ? id : 0;
}

static void
engine_event(struct storm *storm)
{
	struct fake_engine *fake = storm->fake;
	const uint64_t id = some_stream(storm);
	struct fake_stream *stream;

	if (id == 0)
		return;
	stream = &fake->streams[id - 1];
	if (stream->failed || stream->ended)
		return;
	if (draw(storm, 100) < storm->fail_percent)
		fake_failed(fake, id);
	else if (!stream->ready)
		fake_ready(fake, id);
	else if ((stream->played || stream->followed) && !stream->started &&
		 draw(storm, 50) > 0)
		fake_started(fake, id);
	else if (stream->started && draw(storm, 3) > 0)
		fake->elapsed_ns += NS_PER_S;
	else if (stream->played || stream->followed)
		fake_ended(fake, id);
}

static void
edit(struct storm *storm)
{
	struct play_queue *queue = storm->fake->queue;
	const uint32_t length = play_queue_length(queue);
	const uint32_t a = length == 0 ? 0 : draw(storm, length);
	const uint32_t b = length == 0 ? 0 : draw(storm, length);
	const uint32_t left = length - a;

	switch (draw(storm, 8)) {
	case 0:
		assert_int_equal(
			play_queue_delete(
				queue, a,
				a + (left == 0 ? 0 : draw(storm, left))),
			0);
		break;
	case 1:
		if (length > 0)
			assert_int_equal(play_queue_move(queue, a, a + 1, b),
					 0);
		break;
	case 2:
		assert_int_equal(play_queue_shuffle(queue, 0, length,
						    fake_random, storm->fake),
				 0);
		break;
	case 3:
		if (length > 0)
			assert_int_equal(play_queue_set_priority(
						 queue, a, a + 1,
						 (uint8_t)draw(storm, 3)),
					 0);
		break;
	case 4:
		if (draw(storm, 10) == 0)
			play_queue_clear(queue);
		break;
	default:
		if (length < QUEUE_MAX)
			fake_insert(storm->fake, (char)('a' + draw(storm, 26)),
				    draw(storm, length + 1));
	}
	player_queue_changed(storm->fake->player);
}

static void
set_mode(struct storm *storm)
{
	struct player *player = storm->fake->player;
	const bool on = draw(storm, 2) == 0;
	const enum player_mode mode = (enum player_mode)draw(storm, 3);

	switch (draw(storm, 5)) {
	case 0:
		player_set_repeat(player, on);
		break;
	case 1:
		player_set_random(player, on);
		break;
	case 2:
		player_set_single(player, mode);
		break;
	case 3:
		player_set_consume(player, mode);
		break;
	default:
		if (player_set_volume(player, draw(storm, 101)) < 0)
			abort();
	}
}

static void
seek(struct storm *storm)
{
	struct player *player = storm->fake->player;
	const uint32_t length = play_queue_length(storm->fake->queue);
	const int64_t time_ns = (int64_t)draw(storm, 120) * NS_PER_S;
	int error;

	if (draw(storm, 2) == 0)
		error = player_seek_current(player, time_ns - 20 * NS_PER_S,
					    draw(storm, 2) == 0);
	else
		error = player_seek(player, draw(storm, length + 1), time_ns);
	assert_true(error == 0 || error == -ESRCH || error == -ERANGE);
}

static void
command(struct storm *storm)
{
	struct player *player = storm->fake->player;
	const uint32_t length = play_queue_length(storm->fake->queue);

	switch (draw(storm, 10)) {
	case 0:
		assert_int_equal(player_play(player, -1), 0);
		break;
	case 1:
	case 2:
		assert_int_equal(player_play(player, length), -ERANGE);
		if (length > 0)
			assert_int_equal(
				player_play(player, draw(storm, length)), 0);
		break;
	case 3:
		player_pause(player, draw(storm, 2) == 0);
		break;
	case 4:
		player_toggle(player);
		break;
	case 5:
		player_next(player);
		break;
	case 6:
		player_previous(player);
		break;
	case 7:
		if (draw(storm, 5) == 0)
			player_stop(player);
		break;
	case 8:
		if (draw(storm, 2) == 0)
			player_on_output_lost(player, "the card is gone");
		else
			player_on_output_back(player);
		break;
	default:
		seek(storm);
	}
}

static void
check(struct storm *storm, size_t opened)
{
	struct fake_engine *fake = storm->fake;
	struct player_status status;

	assert_true(fake->alive <=
		    (fake->length_ns >= NS_PER_S ? 3 : 3 + AHEAD_MAX));
	assert_true(fake->count - opened <= OPENS_AT_ONCE);
	player_get_status(fake->player, &status);
	assert_true(status.song < (int64_t)play_queue_length(fake->queue));
	assert_true(status.next_song < (int64_t)play_queue_length(fake->queue));
	if (status.song >= 0)
		assert_int_equal(
			play_queue_at(fake->queue, (uint32_t)status.song)->id,
			status.song_id);
	if (status.state != PLAYER_STOP)
		assert_true(status.song >= 0 && status.elapsed_ns >= 0);
	if (status.state == PLAYER_STOP)
		assert_int_equal(fake->alive, 0);
}

static void
step(struct storm *storm)
{
	const size_t opened = storm->fake->count;
	const uint32_t choice = draw(storm, 100);

	storm->fake->refuse = draw(storm, 30) == 0;
	if (choice < 60)
		engine_event(storm);
	else if (choice < 75)
		edit(storm);
	else if (choice < 80)
		set_mode(storm);
	else
		command(storm);
	check(storm, opened);
}

static void
test_storm(void **state)
{
	static const unsigned fail_percents[] = {0, 10, 60, 100};

	(void)state;
	for (unsigned i = 0; i < STORMS; i++) {
		struct storm storm = {
			.fake = fake_create(),
			.fail_percent = fail_percents[i % 4],
		};

		storm.fake->seed = i * 7919 + 1;
		storm.fake->quiet = true;
		if (i % 3 == 0)
			storm.fake->length_ns = NS_PER_S / 20;
		for (int n = 0; n < MESSAGES; n++)
			step(&storm);
		/* It was a storm. */
		assert_true(storm.fake->count > MESSAGES / 20);
		fake_destroy(storm.fake);
	}
}

/* Every open fails: from any modes it comes to rest within one round. */
static void
test_all_fail(void **state)
{
	enum { SONGS = 10 };

	(void)state;
	for (unsigned modes = 0; modes < 36; modes++) {
		struct fake_engine *fake = fake_create();
		struct player_status status;
		size_t answered = 0;

		fake->quiet = true;
		for (uint32_t i = 0; i < SONGS; i++)
			fake_insert(fake, (char)('a' + i), i);
		player_queue_changed(fake->player);
		player_set_repeat(fake->player, (modes & 1) != 0);
		player_set_random(fake->player, (modes & 2) != 0);
		player_set_single(fake->player,
				  (enum player_mode)(modes / 4 % 3));
		player_set_consume(fake->player,
				   (enum player_mode)(modes / 12));
		assert_int_equal(player_play(fake->player, 5), 0);
		while (answered < fake->count)
			fake_failed(fake, ++answered);
		assert_true(fake->count <= SONGS);
		player_get_status(fake->player, &status);
		assert_int_equal(status.state == PLAYER_PLAY, 0);
		assert_int_equal(play_queue_length(fake->queue), SONGS);
		assert_non_null(status.error);
		fake_destroy(fake);
	}
}

/* In random mode each song comes once a round, in every round. */
static void
test_rounds(void **state)
{
	enum { SONGS = 100, ROUNDS = 5 };
	struct fake_engine *fake = fake_create();
	unsigned played[SONGS] = {0};
	unsigned same_order = 0;
	uint32_t before = 0;

	(void)state;
	fake->quiet = true;
	for (uint32_t i = 0; i < SONGS; i++)
		fake_insert(fake, 'a', i);
	player_queue_changed(fake->player);
	player_set_random(fake->player, true);
	player_set_repeat(fake->player, true);
	assert_int_equal(player_play(fake->player, -1), 0);
	fake_ready(fake, 1);
	fake_started(fake, 1);
	for (unsigned i = 0; i < SONGS * ROUNDS; i++) {
		struct player_status status;

		player_get_status(fake->player, &status);
		assert_in_range(status.song, 0, SONGS - 1);
		assert_int_equal(played[status.song], i / SONGS);
		played[status.song]++;
		assert_true(i == 0 || status.song_id != before);
		same_order += status.song_id == before + 1;
		before = status.song_id;
		fake_ready(fake, fake->count);
		fake_started(fake, fake->count);
	}
	assert_true(same_order < SONGS * ROUNDS / 4);
	fake_destroy(fake);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_all_fail),
		cmocka_unit_test(test_rounds),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

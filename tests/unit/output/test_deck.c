/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/output/tape.h"

#include "daemon/output/mix_plan.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MUSIC = LANE_MUSIC };

static int
set_up(void **state)
{
	struct tape *tape = malloc(sizeof(*tape));

	tape_init(tape, 4000, 1000, 2);
	*state = tape;
	return 0;
}

static int
tear_down(void **state)
{
	tape_finish(*state);
	free(*state);
	return 0;
}

static void
test_a_deck_is_taken_and_released(void **state)
{
	struct deck *deck = &((struct tape *)*state)->bus->decks[MUSIC][0];

	assert_true(deck_begin(deck, 5));
	assert_false(deck_begin(deck, 6));
	assert_int_equal(atomic_load(&deck->cut), 5);
	tape_song(deck, 1, 0, 100, 16);
	deck_release(deck);
	assert_true(deck_begin(deck, 6));
	assert_int_equal(pcm_ring_written(&deck->ring), 0);
	assert_int_equal(atomic_load(&deck->cut), 6);
}

static void
test_stretches_are_found(void **state)
{
	struct deck *deck = tape_begin(*state, MUSIC, 1);
	struct deck_stretch found = {.stream_id = 99};
	uint64_t next = 0;

	assert_false(deck_stretch_at(deck, 0, &found, &next));
	assert_int_equal(found.stream_id, 99);
	tape_song(deck, 1, 0, 100, 16);
	tape_song(deck, 2, 50, 200, 24);
	assert_true(deck_stretch_at(deck, 0, &found, &next));
	assert_int_equal(found.stream_id, 1);
	assert_int_equal(next, 100);
	assert_true(deck_stretch_at(deck, 99, &found, &next));
	assert_int_equal(found.stream_id, 1);
	assert_true(deck_stretch_at(deck, 100, &found, &next));
	assert_int_equal(found.stream_id, 2);
	assert_int_equal(found.stream_frame, 50);
	assert_int_equal(next, UINT64_MAX);
}

/* A stream without a frame is passed over. */
static void
test_an_empty_stretch(void **state)
{
	struct deck *deck = tape_begin(*state, MUSIC, 1);
	struct deck_stretch found;
	uint64_t next;

	tape_song(deck, 1, 0, 100, 16);
	tape_stretch(deck, 2, 0, SAMPLE_S32, 16);
	tape_song(deck, 3, 0, 100, 16);
	assert_true(deck_stretch_at(deck, 100, &found, &next));
	assert_int_equal(found.stream_id, 3);
	assert_true(deck_stretch_at(deck, 99, &found, &next));
	assert_int_equal(next, 100);
}

static void
test_a_full_list_refuses(void **state)
{
	struct deck *deck = tape_begin(*state, MUSIC, 1);
	struct deck_stretch stretch = {.stream_rate_hz = TAPE_RATE_HZ};
	struct deck_stretch found;
	uint64_t next;

	for (uint64_t i = 0; i < DECK_STRETCHES; i++) {
		stretch.first_frame = stretch.stream_id = i;
		assert_true(deck_add_stretch(deck, &stretch));
	}
	assert_false(deck_add_stretch(deck, &stretch));
	deck_drop_stretches(deck, 9);
	assert_true(deck_stretch_at(deck, 9, &found, &next));
	assert_int_equal(found.stream_id, 9);
	for (uint64_t i = 0; i < 9; i++) {
		stretch.first_frame = stretch.stream_id = 1000 + i;
		assert_true(deck_add_stretch(deck, &stretch));
	}
	assert_false(deck_add_stretch(deck, &stretch));
	assert_true(deck_stretch_at(deck, 1005, &found, &next));
	assert_int_equal(found.stream_id, 1005);
	/* The last one stays, however far ahead the frame is. */
	deck_drop_stretches(deck, 100000);
	assert_true(deck_stretch_at(deck, 100000, &found, &next));
	assert_int_equal(found.stream_id, 1008);
}

static void
test_where_a_stream_ends(void **state)
{
	struct deck *deck = tape_begin(*state, MUSIC, 1);
	uint64_t end = 0;

	tape_song(deck, 1, 0, 100, 16);
	tape_stretch(deck, 1, 100, SAMPLE_S32, 16); /* its kind changed */
	tape_write(deck, 1, 100, 50, SAMPLE_S32, 16);
	assert_int_equal(deck_stream_end(deck, 0, 1, &end), DECK_END_OPEN);
	assert_int_equal(deck_stream_end(deck, 0, 2, &end), DECK_END_NONE);
	tape_song(deck, 2, 0, 300, 16);
	assert_int_equal(deck_stream_end(deck, 0, 1, &end), DECK_END_KNOWN);
	assert_int_equal(end, 150);
	assert_int_equal(deck_stream_end(deck, 150, 1, &end), DECK_END_KNOWN);
	assert_int_equal(deck_stream_end(deck, 151, 1, &end), DECK_END_NONE);
	assert_int_equal(deck_stream_end(deck, 0, 2, &end), DECK_END_OPEN);
	pcm_ring_end(&deck->ring);
	assert_int_equal(deck_stream_end(deck, 0, 2, &end), DECK_END_KNOWN);
	assert_int_equal(end, 450);
}

static void
test_history_holds_a_buffer_and_its_fades(void **state)
{
	(void)state;
	assert_true(deck_history_frames(24000, 48000) >= 24000 + 2 * 240);
	assert_true(deck_history_frames(0, 8000) > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_deck_is_taken_and_released, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stretches_are_found,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_empty_stretch, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_full_list_refuses,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_where_a_stream_ends,
						set_up, tear_down),
		cmocka_unit_test(test_history_holds_a_buffer_and_its_fades),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

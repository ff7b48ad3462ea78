/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames, history, rewind. A frame's samples carry its number, so that every
 * place in the buffer can be told from every other. */
#include "lib/sync/pcm_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CAPACITY = 10, CHANNELS = 3, HISTORY = 4 };

struct fixture {
	struct pcm_ring ring;
	uint32_t buffer[CAPACITY * CHANNELS];
};

static void
open_ring(struct fixture *fixture, size_t history)
{
	pcm_ring_init(&fixture->ring, fixture->buffer, CAPACITY, CHANNELS,
		      history);
}

/* Writes the next frames, as many as there is room for; returns how many. */
static size_t
put(struct pcm_ring *ring, size_t frames)
{
	size_t done = 0;
	size_t run;

	while (done < frames) {
		const uint64_t first = pcm_ring_written(ring);
		uint32_t *span = pcm_ring_write_span(ring, &run);
		size_t i;

		if (run == 0)
			break;
		if (run > frames - done)
			run = frames - done;
		for (i = 0; i < run * CHANNELS; i++)
			span[i] = (uint32_t)(first * CHANNELS + i);
		pcm_ring_commit(ring, run);
		done += run;
	}
	return done;
}

/* Reads and checks frames; returns how many there were. */
static size_t
take(struct pcm_ring *ring, size_t frames)
{
	size_t done = 0;
	size_t run;

	while (done < frames) {
		const uint64_t first = pcm_ring_position(ring);
		const uint32_t *span = pcm_ring_read_span(ring, &run);
		size_t i;

		if (run == 0)
			break;
		if (run > frames - done)
			run = frames - done;
		for (i = 0; i < run * CHANNELS; i++)
			assert_int_equal(span[i], first * CHANNELS + i);
		pcm_ring_consume(ring, run);
		done += run;
	}
	return done;
}

static void
without_history_all_is_room(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f, 0);
	assert_int_equal(put(&f.ring, 20), CAPACITY);
	assert_int_equal(take(&f.ring, 7), 7);
	assert_int_equal(pcm_ring_rewind(&f.ring, 1), 0);
	assert_int_equal(put(&f.ring, 20), 7);
	assert_int_equal(take(&f.ring, 20), CAPACITY);
	assert_int_equal(pcm_ring_readable(&f.ring), 0);
}

static void
history_is_taken_from_the_room(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f, HISTORY);
	assert_int_equal(put(&f.ring, 20), CAPACITY);
	assert_int_equal(take(&f.ring, 3), 3);
	assert_int_equal(pcm_ring_writable(&f.ring), 0);
	assert_int_equal(take(&f.ring, 1), 1);
	assert_int_equal(pcm_ring_writable(&f.ring), 0);
	assert_int_equal(take(&f.ring, 2), 2);
	assert_int_equal(pcm_ring_writable(&f.ring), 2);
	assert_int_equal(put(&f.ring, 20), 2);
}

static void
rewind_goes_to_the_kept_frame_and_no_further(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f, HISTORY);
	put(&f.ring, CAPACITY);
	take(&f.ring, 3);
	assert_int_equal(pcm_ring_rewind(&f.ring, 99), 3);
	assert_int_equal(pcm_ring_position(&f.ring), 0);
	assert_int_equal(take(&f.ring, 9), 9);
	assert_int_equal(put(&f.ring, 20), 5);
	assert_int_equal(pcm_ring_rewind(&f.ring, 2), 2);
	assert_int_equal(pcm_ring_rewind(&f.ring, 99), 2);
	assert_int_equal(pcm_ring_rewind(&f.ring, 1), 0);
	assert_int_equal(pcm_ring_position(&f.ring), 5);
	/* a rewind gives the writer nothing, nor does reading again */
	assert_int_equal(pcm_ring_writable(&f.ring), 0);
	assert_int_equal(take(&f.ring, 4), 4);
	assert_int_equal(pcm_ring_writable(&f.ring), 0);
	assert_int_equal(take(&f.ring, 1), 1);
	assert_int_equal(pcm_ring_writable(&f.ring), 1);
	assert_int_equal(take(&f.ring, 99), 5);
}

static void
many_laps_keep_every_frame(void **state)
{
	struct fixture f;
	size_t lap;

	(void)state;
	open_ring(&f, HISTORY);
	for (lap = 0; lap < 1000; lap++) {
		put(&f.ring, lap % 7);
		take(&f.ring, lap % 6);
		(void)pcm_ring_rewind(&f.ring, lap % 3);
		assert_true(pcm_ring_readable(&f.ring) <= CAPACITY);
	}
	assert_true(pcm_ring_written(&f.ring) > 1000);
}

static void
the_end_comes_after_the_last_frame(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f, HISTORY);
	put(&f.ring, 2);
	assert_false(pcm_ring_ended(&f.ring));
	pcm_ring_end(&f.ring);
	assert_true(pcm_ring_ended(&f.ring));
	assert_false(pcm_ring_at_end(&f.ring));
	take(&f.ring, 2);
	assert_true(pcm_ring_at_end(&f.ring));
	assert_int_equal(pcm_ring_rewind(&f.ring, 1), 1);
	assert_false(pcm_ring_at_end(&f.ring));
	pcm_ring_reset(&f.ring);
	assert_false(pcm_ring_ended(&f.ring));
	assert_int_equal(pcm_ring_written(&f.ring), 0);
	assert_int_equal(pcm_ring_position(&f.ring), 0);
	assert_int_equal(pcm_ring_writable(&f.ring), CAPACITY);
}

static void
what_was_written_can_be_taken_back(void **state)
{
	struct fixture f;
	size_t frames = 0;

	(void)state;
	open_ring(&f, HISTORY);
	put(&f.ring, 5);
	take(&f.ring, 4);
	/* With what was read of it, and not what is kept. */
	assert_int_equal(pcm_ring_unwrite(&f.ring, 1), 1);
	assert_int_equal(pcm_ring_written(&f.ring), 4);
	assert_int_equal(pcm_ring_position(&f.ring), 4);
	assert_int_equal(pcm_ring_unwrite(&f.ring, 1), 1);
	assert_int_equal(pcm_ring_position(&f.ring), 3);
	assert_int_equal(pcm_ring_readable(&f.ring), 0);
	assert_int_equal(pcm_ring_unwrite(&f.ring, 100), HISTORY - 1);
	/* It lies there still, to be written over. */
	assert_true(pcm_ring_write_span(&f.ring, &frames) ==
		    f.ring.buffer + (4 - HISTORY) * f.ring.channels);
	put(&f.ring, 2);
	take(&f.ring, 2);
	assert_int_equal(pcm_ring_readable(&f.ring), 0);
}

/* Nothing is written where there is no memory yet; what comes is used at once,
 * and a ring without a part of it never goes around. */
static void
what_is_not_provided_is_no_room(void **state)
{
	struct fixture f;
	size_t frames = 0;

	(void)state;
	open_ring(&f, HISTORY);
	assert_int_equal(pcm_ring_provided(&f.ring), SIZE_MAX);
	pcm_ring_provide(&f.ring, 0);
	assert_int_equal(pcm_ring_writable(&f.ring), 0);
	(void)pcm_ring_write_span(&f.ring, &frames);
	assert_int_equal(frames, 0);
	pcm_ring_provide(&f.ring, 3);
	put(&f.ring, 3);
	take(&f.ring, 3);
	assert_int_equal(pcm_ring_writable(&f.ring), 0);
	/* It is the buffer's, and stays when the ring is begun anew. */
	pcm_ring_reset(&f.ring);
	assert_int_equal(pcm_ring_writable(&f.ring), 3);
	put(&f.ring, 3);
	take(&f.ring, 3);
	pcm_ring_provide(&f.ring, SIZE_MAX);
	assert_int_equal(pcm_ring_writable(&f.ring), CAPACITY - 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_history_all_is_room),
		cmocka_unit_test(history_is_taken_from_the_room),
		cmocka_unit_test(rewind_goes_to_the_kept_frame_and_no_further),
		cmocka_unit_test(many_laps_keep_every_frame),
		cmocka_unit_test(the_end_comes_after_the_last_frame),
		cmocka_unit_test(what_was_written_can_be_taken_back),
		cmocka_unit_test(what_is_not_provided_is_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

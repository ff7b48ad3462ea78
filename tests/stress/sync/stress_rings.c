/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Byte ring and PCM ring: a writer and a reader at full speed. What is written
 * is a function of its number, so that every byte and sample read, also after
 * a rewind, is checked. */
#include "lib/sync/byte_ring.h"
#include "lib/sync/pcm_ring.h"
#include "tests/kit/crew.h"
#include "tests/kit/dice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
	BYTES = 500 * 1000,
	BYTE_CAPACITY = 1021,
	FRAMES = 200 * 1000,
	FRAME_CAPACITY = 509,
	HISTORY = 100,
	CHANNELS = 2,
};

struct byte_case {
	struct byte_ring ring;
	uint8_t buffer[BYTE_CAPACITY];
};

struct pcm_case {
	struct pcm_ring ring;
	uint32_t buffer[FRAME_CAPACITY * CHANNELS];
};

static uint8_t
byte_number(uint64_t number)
{
	return (uint8_t)(number * 167 >> 3);
}

static void
write_bytes(void *argument, unsigned index)
{
	struct byte_ring *ring = &((struct byte_case *)argument)->ring;
	struct dice dice = dice_seeded(index);
	uint64_t number = 0;

	while (number < BYTES) {
		size_t length;
		uint8_t *span = byte_ring_write_span(ring, &length);
		size_t i;

		if (length == 0) {
			crew_dawdle();
			continue;
		}
		length = 1 + dice_roll(&dice, (uint32_t)length);
		if (length > BYTES - number)
			length = (size_t)(BYTES - number);
		for (i = 0; i < length; i++)
			span[i] = byte_number(number + i);
		byte_ring_commit(ring, length);
		number += length;
	}
	byte_ring_end(ring);
}

static void
read_bytes(void *argument, unsigned index)
{
	struct byte_ring *ring = &((struct byte_case *)argument)->ring;
	struct dice dice = dice_seeded(index);
	uint64_t marked = 0;
	uint64_t number = 0;
	uint8_t bytes[300];

	while (!byte_ring_at_end(ring)) {
		const size_t length = byte_ring_read(
			ring, bytes, 1 + dice_roll(&dice, sizeof(bytes)));
		size_t i;

		for (i = 0; i < length; i++)
			crew_check(bytes[i] == byte_number(number + i));
		number += length;
		crew_check(byte_ring_marked(ring) == number - marked);
		if (length == 0)
			crew_dawdle();
		if (dice_roll(&dice, 4) == 0) {
			byte_ring_rewind(ring);
			number = marked;
		}
		if (dice_roll(&dice, 3) == 0 ||
		    byte_ring_marked(ring) == BYTE_CAPACITY) {
			byte_ring_mark(ring);
			marked = number;
		}
	}
	crew_check(number == BYTES);
}

static void
bytes_arrive_as_they_were_sent(void **state)
{
	static struct byte_case shared;
	const struct crew_member crew[] = {
		{write_bytes, &shared},
		{read_bytes, &shared},
	};

	(void)state;
	byte_ring_init(&shared.ring, shared.buffer, BYTE_CAPACITY);
	crew_run(crew, 2, CREW_JOLTED);
	assert_true(byte_ring_at_end(&shared.ring));
}

static void
write_frames(void *argument, unsigned index)
{
	struct pcm_ring *ring = &((struct pcm_case *)argument)->ring;
	struct dice dice = dice_seeded(index);
	uint64_t number = 0;

	while (number < FRAMES) {
		size_t run;
		uint32_t *span = pcm_ring_write_span(ring, &run);
		size_t i;

		if (run == 0) {
			crew_dawdle();
			continue;
		}
		run = 1 + dice_roll(&dice, (uint32_t)run);
		if (run > FRAMES - number)
			run = (size_t)(FRAMES - number);
		for (i = 0; i < run * CHANNELS; i++)
			span[i] = (uint32_t)(number * CHANNELS + i);
		pcm_ring_commit(ring, run);
		number += run;
	}
	pcm_ring_end(ring);
}

static void
read_frames(void *argument, unsigned index)
{
	struct pcm_ring *ring = &((struct pcm_case *)argument)->ring;
	struct dice dice = dice_seeded(index);
	uint64_t rewinds = 0;

	while (!pcm_ring_at_end(ring)) {
		const uint64_t first = pcm_ring_position(ring);
		size_t run;
		const uint32_t *span = pcm_ring_read_span(ring, &run);
		size_t i;

		if (run == 0)
			crew_dawdle();
		else
			run = 1 + dice_roll(&dice, (uint32_t)run);
		for (i = 0; i < run * CHANNELS; i++)
			crew_check(span[i] == (uint32_t)(first * CHANNELS + i));
		pcm_ring_consume(ring, run);
		if (dice_roll(&dice, 8) == 0)
			rewinds += pcm_ring_rewind(
				ring, dice_roll(&dice, HISTORY + 20));
	}
	crew_check(pcm_ring_position(ring) == FRAMES);
	crew_check(rewinds > 0);
}

/* A third thread looks at the fill level, as rtstats does. */
static void
watch_level(void *argument, unsigned index)
{
	struct pcm_ring *ring = &((struct pcm_case *)argument)->ring;

	(void)index;
	while (!pcm_ring_at_end(ring)) {
		(void)pcm_ring_readable(ring);
		crew_dawdle();
	}
}

static void
frames_survive_rewinds(void **state)
{
	static struct pcm_case shared;
	const struct crew_member crew[] = {
		{write_frames, &shared},
		{read_frames, &shared},
		{watch_level, &shared},
	};

	(void)state;
	pcm_ring_init(&shared.ring, shared.buffer, FRAME_CAPACITY, CHANNELS,
		      HISTORY);
	crew_run(crew, 3, CREW_JOLTED);
	assert_true(pcm_ring_at_end(&shared.ring));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_arrive_as_they_were_sent),
		cmocka_unit_test(frames_survive_rewinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

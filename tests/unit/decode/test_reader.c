/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/decode/reader.h"
#include "daemon/source/source.h"
#include "lib/sync/byte_ring.h"
#include "tests/kit/dice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_BYTES = 300000, RING_BYTES = 5000 };

static uint8_t contents[FILE_BYTES];
static uint8_t ring_buffer[RING_BYTES];

struct bench {
	struct source *source;
	struct byte_ring ring;
	struct reader reader;
};

static int
set_up(void **state)
{
	static struct bench bench;
	const int fd = memfd_create("reader", MFD_CLOEXEC);

	for (size_t i = 0; i < FILE_BYTES; i++)
		contents[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(write(fd, contents, FILE_BYTES), FILE_BYTES);
	assert_int_equal(source_open_fd(fd, &bench.source), 0);
	byte_ring_init(&bench.ring, ring_buffer, RING_BYTES);
	reader_init(&bench.reader, &bench.ring, bench.source);
	*state = &bench;
	return 0;
}

static int
tear_down(void **state)
{
	source_close(((struct bench *)*state)->source);
	return 0;
}

static void
expect(struct reader *reader, size_t length)
{
	uint8_t bytes[3000];

	while (length > 0) {
		const uint64_t offset = reader_offset(reader);
		size_t count = 0;

		assert_int_equal(reader_read(reader, bytes,
					     length < sizeof(bytes)
						     ? length
						     : sizeof(bytes),
					     &count),
				 READER_OK);
		assert_in_range(count, 1, length);
		assert_memory_equal(bytes, contents + offset, count);
		assert_int_equal(reader_offset(reader), offset + count);
		length -= count;
	}
}

static void
test_direct_seeks_and_reads(void **state)
{
	struct bench *bench = *state;
	struct reader *reader = &bench->reader;
	struct dice dice = dice_seeded(1);
	uint8_t byte;
	size_t count;

	assert_int_equal(reader_length(reader), FILE_BYTES);
	for (int i = 0; i < 300; i++) {
		const uint32_t offset = dice_roll(&dice, FILE_BYTES);
		uint32_t length = 1 + dice_roll(&dice, 4000);

		if (length > FILE_BYTES - offset)
			length = FILE_BYTES - offset;
		assert_int_equal(reader_seek(reader, offset), 0);
		expect(reader, length);
		reader_mark(reader);
	}
	assert_int_equal(reader_seek(reader, FILE_BYTES), 0);
	assert_int_equal(reader_read(reader, &byte, 1, &count), READER_EOF);
	assert_int_equal(reader_seek(reader, FILE_BYTES + 10), 0);
	assert_int_equal(reader_read(reader, &byte, 1, &count), READER_EOF);
	assert_int_equal(reader_seek(reader, 0), 0);
	expect(reader, 10);
}

static void
test_mark_and_rewind(void **state)
{
	struct bench *bench = *state;
	struct reader *reader = &bench->reader;
	uint8_t bytes[100];
	size_t count;

	assert_int_equal(reader_seek(reader, 1000), 0);
	expect(reader, 50);
	reader_mark(reader);
	expect(reader, RING_BYTES - 500);
	reader_rewind(reader);
	assert_int_equal(reader_offset(reader), 1050);
	expect(reader, RING_BYTES);
	/* All that the ring holds is pinned. */
	assert_true(reader_full(reader));
	assert_int_equal(reader_read(reader, bytes, sizeof(bytes), &count),
			 READER_STARVED);
	reader_mark(reader);
	assert_false(reader_full(reader));
	expect(reader, 10);
}

static void
test_from_direct_to_ring(void **state)
{
	struct bench *bench = *state;
	struct reader *reader = &bench->reader;
	struct dice dice = dice_seeded(2);
	uint8_t bytes[2000];
	enum reader_status status;
	size_t count;

	assert_int_equal(reader_seek(reader, 70000), 0);
	expect(reader, 1);
	reader_mark(reader);
	reader_set_ring_mode(reader);
	for (;;) {
		const uint64_t offset = reader_offset(reader);

		status = reader_read(reader, bytes,
				     1 + dice_roll(&dice, sizeof(bytes) - 1),
				     &count);
		if (status == READER_EOF)
			break;
		if (status == READER_STARVED) {
			assert_int_equal(
				reader_fill(&bench->ring, bench->source,
					    1 + dice_roll(&dice, 3000)),
				0);
			continue;
		}
		assert_int_equal(status, READER_OK);
		assert_memory_equal(bytes, contents + offset, count);
		reader_mark(reader);
	}
	assert_int_equal(reader_offset(reader), FILE_BYTES);
}

static void
test_without_a_source(void **state)
{
	struct byte_ring ring;
	struct reader reader;
	uint8_t bytes[10];
	size_t count;

	(void)state;
	byte_ring_init(&ring, ring_buffer, RING_BYTES);
	(void)byte_ring_write_span(&ring, &count);
	memcpy(ring_buffer, "abcdef", 6);
	byte_ring_commit(&ring, 6);
	reader_init(&reader, &ring, NULL);
	assert_int_equal(reader_length(&reader), 6);
	assert_int_equal(reader_read(&reader, bytes, 4, &count), READER_OK);
	assert_int_equal(count, 4);
	assert_int_equal(reader_seek(&reader, 5), 0);
	assert_true(reader_seek(&reader, 1) < 0);
	assert_int_equal(reader_read(&reader, bytes, 4, &count), READER_OK);
	assert_int_equal(count, 1);
	assert_int_equal(bytes[0], 'f');
	assert_int_equal(reader_read(&reader, bytes, 4, &count), READER_EOF);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_direct_seeks_and_reads,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mark_and_rewind, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_from_direct_to_ring,
						set_up, tear_down),
		cmocka_unit_test(test_without_a_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/decode/comments.h"
#include "tests/kit/failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct block {
	uint8_t bytes[1 << 20];
	size_t length;
};

static void
put_number(struct block *block, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		block->bytes[block->length++] = (uint8_t)(number >> (8 * i));
}

static void
put_string(struct block *block, const char *string)
{
	const size_t length = strlen(string);

	put_number(block, (uint32_t)length);
	memcpy(block->bytes + block->length, string, length);
	block->length += length;
}

static void
join(void *context, const char *name, const char *value, size_t length)
{
	char *text = context;

	assert_int_equal(strlen(value), length);
	(void)sprintf(text + strlen(text), "%s:%s;", name, value);
}

static void
feed(struct comments *comments, const struct block *block, size_t piece)
{
	comments_begin(comments);
	for (size_t at = 0; at < block->length; at += piece)
		comments_feed(comments, block->bytes + at,
			      block->length - at < piece ? block->length - at
							 : piece);
}

static void
test_pieces_of_any_size(void **state)
{
	struct block *block = calloc(1, sizeof(*block));

	(void)state;
	put_string(block, "a vendor");
	put_number(block, 6);
	put_string(block, "TITLE=One");
	put_string(block, "");
	put_string(block, "no equals sign");
	put_string(block, "=no name");
	put_string(block, "EMPTY=");
	put_string(block, "coverart=AAAA");
	for (size_t piece = 1; piece < 40; piece++) {
		struct comments comments;
		char text[100] = "";

		comments_init(&comments, NULL);
		feed(&comments, block, piece);
		comments_each(&comments, join, text);
		assert_string_equal(text, "TITLE:One;EMPTY:;");
		comments_finish(&comments);
	}
	free(block);
}

static void
test_lengths_that_lie(void **state)
{
	struct block *block = calloc(1, sizeof(*block));
	struct comments comments;
	char text[100] = "";

	(void)state;
	put_number(block, 0);
	put_number(block, UINT32_MAX);
	put_string(block, "A=1");
	put_number(block, UINT32_MAX);
	memcpy(block->bytes + block->length, "B=2", 3);
	block->length += 3;
	comments_init(&comments, NULL);
	feed(&comments, block, 5);
	comments_each(&comments, join, text);
	assert_string_equal(text, "A:1;");
	/* A second block goes on behind what the first left whole. */
	block->length = 0;
	put_number(block, 0);
	put_number(block, 2);
	put_string(block, "C=3");
	put_number(block, 10);
	memcpy(block->bytes + block->length, "D=4", 3);
	block->length += 3;
	feed(&comments, block, 7);
	text[0] = '\0';
	comments_each(&comments, join, text);
	assert_string_equal(text, "A:1;C:3;");
	comments_finish(&comments);
	free(block);
}

static void
count(void *context, const char *name, const char *value, size_t length)
{
	size_t *total = context;

	(void)name;
	(void)value;
	*total += length;
}

static void
test_what_is_kept_is_bounded(void **state)
{
	struct block *block = calloc(1, sizeof(*block));
	struct comments comments;
	char *value = malloc(COMMENTS_VALUE_MAX + 2);
	size_t total = 0;

	(void)state;
	memset(value, 'x', COMMENTS_VALUE_MAX + 1);
	value[1] = '=';
	value[COMMENTS_VALUE_MAX + 1] = '\0';
	put_number(block, 0);
	put_number(block, 1000);
	put_string(block, value); /* one too long */
	value[COMMENTS_VALUE_MAX] = '\0';
	for (int i = 0; i < 10; i++)
		put_string(block, value);
	comments_init(&comments, NULL);
	feed(&comments, block, 4096);
	assert_true(comments.kept_capacity <= COMMENTS_TOTAL_MAX);
	comments_each(&comments, count, &total);
	assert_int_equal(total, 3 * (COMMENTS_VALUE_MAX - 2));
	comments_finish(&comments);
	free(value);
	free(block);
}

static void
test_no_memory(void **state)
{
	struct block *block = calloc(1, sizeof(*block));
	char value[3000];

	(void)state;
	memset(value, 'v', sizeof(value));
	value[1] = '=';
	value[sizeof(value) - 1] = '\0';
	put_number(block, 0);
	put_number(block, 4);
	for (int i = 0; i < 4; i++)
		put_string(block, value);
	for (size_t at = 1; at < 5; at++) {
		struct failing_allocator allocator;
		struct comments comments;
		size_t total = 0;

		failing_allocator_init(&allocator, at);
		comments_init(&comments, &allocator.base);
		feed(&comments, block, 100);
		comments_each(&comments, count, &total);
		assert_true(total % (sizeof(value) - 3) == 0);
		comments_finish(&comments);
		assert_int_equal(allocator.live, 0);
	}
	free(block);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_of_any_size),
		cmocka_unit_test(test_lengths_that_lie),
		cmocka_unit_test(test_what_is_kept_is_bounded),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

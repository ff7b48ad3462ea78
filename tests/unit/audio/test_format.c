/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/audio/format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void
test_spec_at_its_limits(void **state)
{
	struct audio_spec spec = {44100, 2, SAMPLE_S32, 16};

	(void)state;
	assert_true(audio_spec_valid(&spec));
	spec.bits = 3;
	assert_false(audio_spec_valid(&spec));
	spec.bits = 33;
	assert_false(audio_spec_valid(&spec));
	spec.bits = 4;
	assert_true(audio_spec_valid(&spec));
	spec.channels = 0;
	assert_false(audio_spec_valid(&spec));
	spec.channels = AUDIO_CHANNELS_MAX + 1;
	assert_false(audio_spec_valid(&spec));
	spec.channels = AUDIO_CHANNELS_MAX;
	spec.rate_hz = 0;
	assert_false(audio_spec_valid(&spec));
	spec.rate_hz = AUDIO_RATE_MAX + 1;
	assert_false(audio_spec_valid(&spec));
	spec.rate_hz = AUDIO_RATE_MAX;
	assert_true(audio_spec_valid(&spec));
}

static void
test_float_has_no_bits(void **state)
{
	struct audio_spec spec = {48000, 1, SAMPLE_F32, 0};

	(void)state;
	assert_true(audio_spec_valid(&spec));
	spec.bits = 24;
	assert_false(audio_spec_valid(&spec));
}

static void
test_each_card_format_is_known(void **state)
{
	static const size_t bytes[CARD_FORMAT_COUNT] = {2, 4, 3, 4, 4};

	(void)state;
	for (int format = 0; format < CARD_FORMAT_COUNT; format++) {
		assert_int_equal(card_format_bytes(format), bytes[format]);
		assert_string_not_equal(card_format_name(format), "unknown");
	}
	assert_int_equal(card_format_bytes(CARD_FORMAT_COUNT), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec_at_its_limits),
		cmocka_unit_test(test_float_has_no_bits),
		cmocka_unit_test(test_each_card_format_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

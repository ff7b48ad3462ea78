/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tags as they are found, sensible and not, and the gains that follow. */
#include "daemon/audio/replay_gain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct replay_gain_settings track = {REPLAY_GAIN_TRACK, 0, 0};
static const struct replay_gain_settings album = {REPLAY_GAIN_ALBUM, 0, 0};

static void
tag(struct replay_gain *gain, const char *name, const char *value)
{
	replay_gain_tag(gain, name, value, strlen(value));
}

static void
expect_db(const struct replay_gain *gain,
	  const struct replay_gain_settings *settings, double db)
{
	const double got =
		20 * log10((double)replay_gain_linear(gain, settings));

	if (fabs(got - db) > 0.001)
		fail_msg("%f dB, not %f", got, db);
}

static void
test_how_gains_are_written(void **state)
{
	static const struct {
		const char *text;
		double db;
	} rows[] = {
		{"-7.5 dB", -7.5},    {"+3.25 dB", 3.25}, {"-0.00 dB", 0},
		{"-6", -6},           {" 2.5DB ", 2.5},   {"-7,5 dB", -7.5},
		{"10.000000 db", 10}, {".5", 0.5},        {"-60 dB", -60},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct replay_gain gain = {0};

		tag(&gain, "replaygain_Track_GAIN", rows[i].text);
		assert_true(gain.track.has_gain);
		expect_db(&gain, &track, rows[i].db);
	}
}

static void
test_nonsense_is_not_there(void **state)
{
	static const char *const texts[] = {
		"",       "abc",
		"nan",    "inf dB",
		"1e9 dB", "1000000000 dB",
		"-61 dB", "5 dBx",
		"- 5 dB", "dB",
		"--5",    "0x10",
		"5 5",    "99999999999999999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct replay_gain gain = {0};

		tag(&gain, "REPLAYGAIN_TRACK_GAIN", texts[i]);
		tag(&gain, "REPLAYGAIN_ALBUM_PEAK", texts[i]);
		if (strcmp(texts[i], "--5") != 0)
			tag(&gain, "R128_ALBUM_GAIN", texts[i]);
		assert_false(gain.track.has_gain);
		assert_false(gain.album.has_gain);
		assert_true(gain.album.peak == 0.0F);
		expect_db(&gain, &track, 0);
	}
}

static void
test_each_falls_back_to_the_other(void **state)
{
	struct replay_gain gain = {0};

	(void)state;
	tag(&gain, "REPLAYGAIN_TRACK_GAIN", "-4 dB");
	expect_db(&gain, &album, -4);
	tag(&gain, "REPLAYGAIN_ALBUM_GAIN", "-5 dB");
	expect_db(&gain, &album, -5);
	expect_db(&gain, &track, -4);
	gain = (struct replay_gain){0};
	tag(&gain, "REPLAYGAIN_ALBUM_GAIN", "-5 dB");
	expect_db(&gain, &track, -5);
}

static void
test_r128(void **state)
{
	struct replay_gain gain = {0};

	(void)state;
	tag(&gain, "R128_TRACK_GAIN", "-2560"); /* -10 dB of -23 LUFS */
	expect_db(&gain, &track, -5);
	tag(&gain, "R128_TRACK_GAIN", "0");
	expect_db(&gain, &track, 5);
	tag(&gain, "R128_TRACK_GAIN", "1.5");
	expect_db(&gain, &track, 5);
	/* It yields, in whichever order they stand. */
	tag(&gain, "REPLAYGAIN_TRACK_GAIN", "-3 dB");
	expect_db(&gain, &track, -3);
	tag(&gain, "R128_TRACK_GAIN", "256");
	expect_db(&gain, &track, -3);
}

static void
test_peaks_are_kept_under_full_scale(void **state)
{
	struct replay_gain gain = {0};

	(void)state;
	tag(&gain, "REPLAYGAIN_TRACK_GAIN", "12 dB");
	expect_db(&gain, &track, 12);
	tag(&gain, "REPLAYGAIN_TRACK_PEAK", "0.5");
	expect_db(&gain, &track, 20 * log10(2));
	tag(&gain, "REPLAYGAIN_TRACK_PEAK", "1.3");
	expect_db(&gain, &track, 0);
	tag(&gain, "REPLAYGAIN_TRACK_GAIN", "-1 dB");
	expect_db(&gain, &track, -1);
	tag(&gain, "REPLAYGAIN_TRACK_PEAK", "1e-30");
	tag(&gain, "REPLAYGAIN_TRACK_PEAK", "0");
	tag(&gain, "REPLAYGAIN_TRACK_PEAK", "-1");
	assert_true(gain.track.peak == 1.3F);
}

static void
test_settings(void **state)
{
	const struct replay_gain none = {0};
	struct replay_gain gain = {0};
	struct replay_gain_settings settings = {REPLAY_GAIN_TRACK, 3, -6};

	(void)state;
	tag(&gain, "REPLAYGAIN_TRACK_GAIN", "-4 dB");
	expect_db(&gain, &settings, -1);
	expect_db(&none, &settings, -6);
	settings.mode = REPLAY_GAIN_OFF;
	assert_true(replay_gain_linear(&gain, &settings) == 1.0F);
	assert_true(replay_gain_linear(&none, &settings) == 1.0F);
	settings = (struct replay_gain_settings){REPLAY_GAIN_TRACK, 4, 0};
	assert_true(replay_gain_linear(&gain, &settings) == 1.0F);
	settings.preamp_db = 1e9F;
	expect_db(&gain, &settings, REPLAY_GAIN_DB_MAX);
	settings.preamp_db = NAN;
	assert_true(replay_gain_linear(&gain, &settings) < 1.0F);
}

static void
test_names(void **state)
{
	enum replay_gain_mode mode = REPLAY_GAIN_AUTO;

	(void)state;
	assert_true(replay_gain_mode_parse("off", &mode));
	assert_int_equal(mode, REPLAY_GAIN_OFF);
	assert_true(replay_gain_mode_parse("auto", &mode));
	assert_string_equal(replay_gain_mode_name(mode), "auto");
	assert_false(replay_gain_mode_parse("Track", &mode));
	assert_false(replay_gain_mode_parse("", &mode));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_how_gains_are_written),
		cmocka_unit_test(test_nonsense_is_not_there),
		cmocka_unit_test(test_each_falls_back_to_the_other),
		cmocka_unit_test(test_r128),
		cmocka_unit_test(test_peaks_are_kept_under_full_scale),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

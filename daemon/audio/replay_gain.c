/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_gain.c - numbers are read by hand: strtod() would follow the locale,
 * and knows words for what is no number. */
#include "daemon/audio/replay_gain.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_BYTES_MAX = 32 };

static const float R128_TO_REFERENCE_DB = 5.0F;
static const float PEAK_MAX = 100.0F;

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* "[blanks][+-]digits[.digits][blanks][unit][blanks]" */
static bool
parse(const char *text, size_t length, const char *unit, double *ret_value)
{
	const char *at = text;
	const char *end = text + length;
	double value = 0, place = 1;
	bool negative = false, any = false;

	if (length > NUMBER_BYTES_MAX)
		return false;
	while (at < end && is_blank(*at))
		at++;
	if (at < end && (*at == '+' || *at == '-'))
		negative = *at++ == '-';
	for (; at < end && is_digit(*at); at++, any = true)
		value = value * 10 + (*at - '0');
	if (at < end && (*at == '.' || *at == ','))
		at++;
	for (; at < end && is_digit(*at); at++, any = true)
		value += (*at - '0') * (place /= 10);
	while (at < end && is_blank(*at))
		at++;
	if ((size_t)(end - at) >= strlen(unit) &&
	    strncasecmp(at, unit, strlen(unit)) == 0)
		at += strlen(unit);
	while (at < end && (is_blank(*at) || *at == '\0'))
		at++;
	*ret_value = negative ? -value : value;
	return any && at == end;
}

static void
take_gain(struct replay_gain_value *value, const char *text, size_t length)
{
	double db = 0;

	if (!parse(text, length, "dB", &db) || fabs(db) > REPLAY_GAIN_DB_MAX)
		return;
	value->has_gain = true;
	value->is_r128 = false;
	value->gain_db = (float)db;
}

static void
take_r128(struct replay_gain_value *value, const char *text, size_t length)
{
	double steps = 0;

	if (!parse(text, length, "", &steps) || steps != floor(steps) ||
	    steps < -32768 || steps > 32767 ||
	    fabs(steps / 256 + (double)R128_TO_REFERENCE_DB) >
		    REPLAY_GAIN_DB_MAX)
		return;
	if (value->has_gain && !value->is_r128)
		return;
	value->has_gain = true;
	value->is_r128 = true;
	value->gain_db = (float)(steps / 256) + R128_TO_REFERENCE_DB;
}

static void
take_peak(struct replay_gain_value *value, const char *text, size_t length)
{
	double peak = 0;

	if (parse(text, length, "", &peak) && peak > 0 &&
	    peak <= (double)PEAK_MAX)
		value->peak = (float)peak;
}

void
replay_gain_tag(struct replay_gain *gain, const char *name, const char *value,
		size_t length)
{
	if (strcasecmp(name, "REPLAYGAIN_TRACK_GAIN") == 0)
		take_gain(&gain->track, value, length);
	else if (strcasecmp(name, "REPLAYGAIN_ALBUM_GAIN") == 0)
		take_gain(&gain->album, value, length);
	else if (strcasecmp(name, "REPLAYGAIN_TRACK_PEAK") == 0)
		take_peak(&gain->track, value, length);
	else if (strcasecmp(name, "REPLAYGAIN_ALBUM_PEAK") == 0)
		take_peak(&gain->album, value, length);
	else if (strcasecmp(name, "R128_TRACK_GAIN") == 0)
		take_r128(&gain->track, value, length);
	else if (strcasecmp(name, "R128_ALBUM_GAIN") == 0)
		take_r128(&gain->album, value, length);
}

static float
linear(float db)
{
	const float most = REPLAY_GAIN_DB_MAX;

	if (!(db > -most))
		db = -most;
	if (db > most)
		db = most;
	return db == 0.0F ? 1.0F : powf(10.0F, db / 20.0F);
}

float
replay_gain_linear(const struct replay_gain *gain,
		   const struct replay_gain_settings *settings)
{
	const bool album = settings->mode != REPLAY_GAIN_TRACK;
	const struct replay_gain_value *value =
		album ? &gain->album : &gain->track;
	float factor = 1.0F;

	if (settings->mode == REPLAY_GAIN_OFF)
		return 1.0F;
	if (!value->has_gain)
		value = album ? &gain->track : &gain->album;
	if (!value->has_gain)
		return linear(settings->missing_preamp_db);
	factor = linear(value->gain_db + settings->preamp_db);
	/* Never softer than the song itself for its peak's sake. */
	if (value->peak > 0.0F && factor > 1.0F && factor * value->peak > 1.0F)
		factor = value->peak < 1.0F ? 1.0F / value->peak : 1.0F;
	return factor;
}

static const char *const mode_names[] = {
	[REPLAY_GAIN_OFF] = "off",
	[REPLAY_GAIN_TRACK] = "track",
	[REPLAY_GAIN_ALBUM] = "album",
	[REPLAY_GAIN_AUTO] = "auto",
};

const char *
replay_gain_mode_name(enum replay_gain_mode mode)
{
	return mode_names[mode];
}

bool
replay_gain_mode_parse(const char *name, enum replay_gain_mode *ret_mode)
{
	for (int i = 0; i <= REPLAY_GAIN_AUTO; i++) {
		if (strcmp(name, mode_names[i]) != 0)
			continue;
		*ret_mode = (enum replay_gain_mode)i;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_gain.h - how loud a song says that it is, and the gain that follows.
 *
 * Gains are relative to the ReplayGain 2.0 reference of -18 LUFS. Those of RFC
 * 7845 (R128_*_GAIN, Q7.8) are relative to -23 LUFS: 5 dB less. What makes no
 * sense is as if it were not there. Pure; any thread. */
#ifndef ROTARY_AUDIO_REPLAY_GAIN_H
#define ROTARY_AUDIO_REPLAY_GAIN_H

#include "lib/base/attr.h"

#include <stdbool.h>

enum replay_gain_mode {
	REPLAY_GAIN_OFF,
	REPLAY_GAIN_TRACK,
	REPLAY_GAIN_ALBUM,
	REPLAY_GAIN_AUTO, /* album where it is played as one, else track */
};

enum { REPLAY_GAIN_DB_MAX = 60 };

struct replay_gain_value {
	bool has_gain;
	bool is_r128; /* which yields to the other kind */
	float gain_db;
	float peak; /* 0: not known */
};

struct replay_gain {
	struct replay_gain_value track;
	struct replay_gain_value album;
};

struct replay_gain_settings {
	enum replay_gain_mode mode; /* AUTO: as ALBUM */
	float preamp_db;            /* for songs that have a gain */
	float missing_preamp_db;    /* for those that have none */
};

/* Takes in one tag of the song, whatever its name, in any case. */
void replay_gain_tag(struct replay_gain *gain, const char *name,
		     const char *value, size_t length);
/* Linear; 1: untouched. A known peak is not raised past full scale. */
float replay_gain_linear(const struct replay_gain *gain,
			 const struct replay_gain_settings *settings);

/* "off", "track", "album", "auto". */
const char *replay_gain_mode_name(enum replay_gain_mode mode);
bool replay_gain_mode_parse(const char *name, enum replay_gain_mode *ret_mode);

#endif

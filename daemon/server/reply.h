/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reply.h - "name: value" lines as clients can read them: one line each,
 * without control characters, valid UTF-8, at most REPLY_LINE_MAX bytes
 * (libmpdclient reads lines of 4,096).
 *
 * Any thread; the text is the caller's. */
#ifndef ROTARY_SERVER_REPLY_H
#define ROTARY_SERVER_REPLY_H

#include "daemon/audio/format.h"
#include "daemon/library/tag.h"
#include "lib/base/attr.h"

struct play_queue_item;
struct song;
struct text;

enum { REPLY_LINE_MAX = 4095 };

void reply_add(struct text *out, const char *name, const char *value);
void reply_int(struct text *out, const char *name, int64_t value);
/* Seconds with three decimals, never in exponent form. */
void reply_seconds(struct text *out, const char *name, int64_t ns);
/* Whole seconds, rounded to the nearest. */
int64_t reply_round_s(int64_t ns);
/* UTC, "2026-01-31T23:59:59Z"; nothing when it is unknown (0). */
void reply_time(struct text *out, const char *name, int64_t unix_s);
/* "44100:16:2", "48000:f:2"; nothing when the rate is unknown. */
void reply_format(struct text *out, const char *name,
		  const struct audio_spec *spec);
void reply_song(struct text *out, const struct song *song, tag_mask tags);
void reply_queue_song(struct text *out, const struct play_queue_item *item,
		      uint32_t position, tag_mask tags);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reply.c - the one place where values of files become lines of the protocol.
 *
 * A newline in a title could forge lines, even an OK, so every text passes
 * text_add_clean(). Numbers are put together from integers, so that no locale
 * and no exponent can come between. */
#include "daemon/server/reply.h"

#include "daemon/library/song.h"
#include "daemon/player/queue.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

void
reply_add(struct text *out, const char *name, const char *value)
{
	const size_t used = strlen(name) + 3; /* ": " and the newline */

	text_add(out, name);
	text_add(out, ": ");
	text_add_clean(out, value, strlen(value), REPLY_LINE_MAX - used);
	text_add_char(out, '\n');
}

void
reply_int(struct text *out, const char *name, int64_t value)
{
	text_printf(out, "%s: %" PRId64 "\n", name, value);
}

void
reply_seconds(struct text *out, const char *name, int64_t ns)
{
	int64_t ms = 0;

	if (ns > 0)
		ms = ns / NS_PER_MS + (ns % NS_PER_MS >= NS_PER_MS / 2);
	text_printf(out, "%s: %" PRId64 ".%03d\n", name, ms / 1000,
		    (int)(ms % 1000));
}

int64_t
reply_round_s(int64_t ns)
{
	if (ns <= 0)
		return 0;
	return ns / NS_PER_S + (ns % NS_PER_S >= NS_PER_S / 2);
}

void
reply_time(struct text *out, const char *name, int64_t unix_s)
{
	const time_t seconds = (time_t)unix_s;
	struct tm parts;
	char date[32];

	if (unix_s == 0 || gmtime_r(&seconds, &parts) == NULL)
		return;
	if (strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
		reply_add(out, name, date);
}

void
reply_format(struct text *out, const char *name, const struct audio_spec *spec)
{
	if (spec == NULL || spec->rate_hz == 0)
		return;
	if (spec->kind == SAMPLE_F32)
		text_printf(out, "%s: %u:f:%u\n", name, spec->rate_hz,
			    spec->channels);
	else
		text_printf(out, "%s: %u:%u:%u\n", name, spec->rate_hz,
			    spec->bits, spec->channels);
}

void
reply_song(struct text *out, const struct song *song, tag_mask tags)
{
	const int64_t duration_ns = song_duration_ns(song);
	const size_t count = song_tag_count(song);
	size_t i = 0;

	reply_add(out, "file", song_uri(song));
	reply_time(out, "Last-Modified", song_mtime_s(song));
	reply_format(out, "Format", song_spec(song));
	for (i = 0; i < count; i++) {
		const char *value = NULL;
		const enum tag tag = song_tag(song, i, &value);

		if ((tags & (UINT64_C(1) << tag)) != 0)
			reply_add(out, tag_name(tag), value);
	}
	if (duration_ns >= 0) {
		reply_int(out, "Time", reply_round_s(duration_ns));
		reply_seconds(out, "duration", duration_ns);
	}
}

void
reply_queue_song(struct text *out, const struct play_queue_item *item,
		 uint32_t position, tag_mask tags)
{
	reply_song(out, item->song, tags);
	reply_int(out, "Pos", position);
	reply_int(out, "Id", item->id);
	if (item->priority > 0)
		reply_int(out, "Prio", item->priority);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* song_pack.c - songs as bytes.
 *
 *   rate channels kind bits duration mtime { tag length value }...
 *
 * All numbers are LEB128: 7 bits a byte, lowest first. duration is in ns plus
 * 1, 0 for unknown; mtime is in s, 0 for unknown. tag counts as tag.h does,
 * which is why a change there is a new version of the state's schema. What is
 * read may be damaged: every length is checked against what is left. */
#include "daemon/player/song_pack.h"

#include "lib/base/text.h"

#include <string.h>

static void
add_number(struct text *text, uint64_t number)
{
	while (number >= 0x80) {
		text_add_char(text, (char)(number | 0x80));
		number >>= 7;
	}
	text_add_char(text, (char)number);
}

void
song_pack(const struct song *song, struct text *text)
{
	const struct audio_spec *spec = song_spec(song);
	const int64_t duration_ns = song_duration_ns(song);
	const int64_t mtime_s = song_mtime_s(song);

	add_number(text, spec->rate_hz);
	add_number(text, spec->channels);
	add_number(text, (uint64_t)spec->kind);
	add_number(text, spec->bits);
	add_number(text, duration_ns < 0 ? 0 : (uint64_t)duration_ns + 1);
	add_number(text, mtime_s < 0 ? 0 : (uint64_t)mtime_s);
	for (size_t i = 0; i < song_tag_count(song); i++) {
		const char *value = NULL;
		const enum tag tag = song_tag(song, i, &value);

		add_number(text, (uint64_t)tag);
		add_number(text, strlen(value));
		text_add(text, value);
	}
}

struct cursor {
	const uint8_t *next;
	const uint8_t *end;
	bool bad;
};

static uint64_t
take_number(struct cursor *cursor)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = 0;

		if (cursor->next == cursor->end)
			break;
		byte = *cursor->next++;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	cursor->bad = true;
	return 0;
}

static int64_t
take_signed(struct cursor *cursor)
{
	const uint64_t number = take_number(cursor);

	return number <= INT64_MAX ? (int64_t)number : 0;
}

static void
take_audio(struct cursor *cursor, struct song_builder *builder)
{
	struct audio_spec spec = {0};
	int64_t duration_ns = 0;
	int64_t mtime_s = 0;

	spec.rate_hz = (uint32_t)take_number(cursor);
	spec.channels = (uint32_t)take_number(cursor);
	spec.kind = take_number(cursor) == SAMPLE_F32 ? SAMPLE_F32 : SAMPLE_S32;
	spec.bits = (uint32_t)take_number(cursor);
	duration_ns = take_signed(cursor) - 1;
	mtime_s = take_signed(cursor);
	if (cursor->bad)
		return;
	if (!audio_spec_valid(&spec))
		spec = (struct audio_spec){0};
	song_builder_audio(builder, &spec, duration_ns);
	song_builder_mtime(builder, mtime_s);
}

struct song *
song_unpack(const char *uri, const void *bytes, size_t length)
{
	struct cursor cursor = {bytes, (const uint8_t *)bytes + length, false};
	struct song_builder *builder = song_builder_create(uri);

	if (builder == NULL)
		return NULL;
	take_audio(&cursor, builder);
	while (!cursor.bad && cursor.next != cursor.end) {
		const uint64_t tag = take_number(&cursor);
		const uint64_t size = take_number(&cursor);

		if (cursor.bad || tag >= TAG_COUNT ||
		    size > (uint64_t)(cursor.end - cursor.next))
			break;
		song_builder_tag(builder, (enum tag)tag,
				 (const char *)cursor.next, (size_t)size);
		cursor.next += size;
	}
	return song_builder_finish(builder);
}

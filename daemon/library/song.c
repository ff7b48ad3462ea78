/* SPDX-License-Identifier: GPL-3.0-or-later */
/* song.c - songs, each in one block of memory.
 *
 *   [struct song][place of each tag][URI, 0][value, 0][value, 0]...
 *
 * A queue holds up to a million of these, so that nothing is stored twice and
 * nothing is padded: a tag costs 4 bytes (its number and the place of its
 * value) beside the value itself. The block never changes once it is built;
 * the count is the only thing that threads share.
 *
 * The builder gathers cleaned values in one struct text and remembers a failed
 * allocation until the end, where it shows as NULL. */
#include "daemon/library/song.h"

#include "daemon/source/name.h"
#include "lib/base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_BITS = 6, TAG_BITS_MASK = (1 << TAG_BITS) - 1 };

_Static_assert((int)TAG_COUNT <= (int)TAG_BITS_MASK,
	       "a tag's number takes 6 bits");
_Static_assert((uint64_t)SONG_TAGS_MAX *(SONG_VALUE_MAX + 1) + 65536 <
		       (UINT64_C(1) << (32 - TAG_BITS)),
	       "a value's place takes 26 bits");

struct song {
	ATOMIC(uint32_t) references;
	uint32_t tag_count;
	int64_t duration_ns;
	int64_t mtime_s;
	struct audio_spec spec;
	/* place << TAG_BITS | tag; places count from the end of this table,
	 * where the URI stands. */
	uint32_t tags[];
};

struct song_builder {
	struct text bytes; /* URI and values, each with its NUL */
	uint32_t tags[SONG_TAGS_MAX];
	uint32_t tag_count;
	struct audio_spec spec;
	int64_t duration_ns;
	int64_t mtime_s;
};

struct song_builder *
song_builder_create(const char *uri)
{
	struct song_builder *builder = calloc(1, sizeof(*builder));

	if (builder == NULL)
		return NULL;
	builder->duration_ns = -1;
	name_add_outside(&builder->bytes, uri);
	text_add_char(&builder->bytes, '\0');
	return builder;
}

/* Takes the white space from both ends of what was added after place; control
 * characters are spaces by then. */
static void
trim(struct text *text, size_t place)
{
	size_t begin = place;

	if (text->failed)
		return;
	while (text->length > place && text->bytes[text->length - 1] == ' ')
		text->length--;
	while (begin < text->length && text->bytes[begin] == ' ')
		begin++;
	memmove(text->bytes + place, text->bytes + begin, text->length - begin);
	text->length -= begin - place;
}

void
song_builder_tag(struct song_builder *builder, enum tag tag, const char *value,
		 size_t length)
{
	const size_t place = builder->bytes.length;

	if ((unsigned)tag >= TAG_COUNT || builder->tag_count == SONG_TAGS_MAX)
		return;
	text_add_clean(&builder->bytes, value, length, SONG_VALUE_MAX);
	trim(&builder->bytes, place);
	if (builder->bytes.length == place)
		return;
	text_add_char(&builder->bytes, '\0');
	builder->tags[builder->tag_count++] =
		(uint32_t)place << TAG_BITS | (uint32_t)tag;
}

void
song_builder_audio(struct song_builder *builder, const struct audio_spec *spec,
		   int64_t duration_ns)
{
	builder->spec = *spec;
	builder->duration_ns = duration_ns;
}

void
song_builder_mtime(struct song_builder *builder, int64_t mtime_s)
{
	builder->mtime_s = mtime_s;
}

struct song *
song_builder_finish(struct song_builder *builder)
{
	const size_t table = builder->tag_count * sizeof(uint32_t);
	struct song *song = NULL;

	if (!builder->bytes.failed)
		song = malloc(sizeof(*song) + table + builder->bytes.length);
	if (song != NULL) {
		atomic_init(&song->references, 1);
		song->tag_count = builder->tag_count;
		song->duration_ns = builder->duration_ns;
		song->mtime_s = builder->mtime_s;
		song->spec = builder->spec;
		memcpy(song->tags, builder->tags, table);
		memcpy((char *)song->tags + table, builder->bytes.bytes,
		       builder->bytes.length);
	}
	text_finish(&builder->bytes);
	free(builder);
	return song;
}

struct song *
song_ref(struct song *song)
{
	if (song != NULL)
		atomic_fetch_add_explicit(&song->references, 1,
					  memory_order_relaxed);
	return song;
}

void
song_unref(struct song *song)
{
	if (song == NULL)
		return;
	/* The last one to leave must see all that others did before. */
	if (atomic_fetch_sub_explicit(&song->references, 1,
				      memory_order_acq_rel) == 1)
		free(song);
}

const char *
song_uri(const struct song *song)
{
	return (const char *)(song->tags + song->tag_count);
}

int64_t
song_duration_ns(const struct song *song)
{
	return song->duration_ns;
}

int64_t
song_mtime_s(const struct song *song)
{
	return song->mtime_s;
}

const struct audio_spec *
song_spec(const struct song *song)
{
	return &song->spec;
}

size_t
song_tag_count(const struct song *song)
{
	return song->tag_count;
}

enum tag
song_tag(const struct song *song, size_t index, const char **ret_value)
{
	assert(index < song->tag_count);
	*ret_value = song_uri(song) + (song->tags[index] >> TAG_BITS);
	return (enum tag)(song->tags[index] & TAG_BITS_MASK);
}

const char *
song_tag_value(const struct song *song, enum tag tag)
{
	const char *value = NULL;

	for (size_t i = 0; i < song->tag_count; i++)
		if (song_tag(song, i, &value) == tag)
			return value;
	return NULL;
}

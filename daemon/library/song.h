/* SPDX-License-Identifier: GPL-3.0-or-later */
/* song.h - one song: its URI and what its file says about it.
 *
 * Immutable once built, counted; made on workers, then shared by queue, replies
 * and library. song_ref()/song_unref() from any thread. */
#ifndef ROTARY_LIBRARY_SONG_H
#define ROTARY_LIBRARY_SONG_H

#include "daemon/audio/format.h"
#include "daemon/library/tag.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct song;

/* A value longer than this is cut: libmpdclient reads lines of 4,096 bytes. */
enum { SONG_VALUE_MAX = 3072, SONG_TAGS_MAX = 256 };

struct song_builder; /* opaque, for one thread */

/* A URI that is not fit for a line of the protocol is kept in the form that
 * name.h describes. NULL: no memory. */
NODISCARD struct song_builder *song_builder_create(const char *uri);
/* Values are cleaned. Empty values and what is over the limits are left out. */
void song_builder_tag(struct song_builder *builder, enum tag tag,
		      const char *value, size_t length);
void song_builder_audio(struct song_builder *builder,
			const struct audio_spec *spec, int64_t duration_ns);
void song_builder_mtime(struct song_builder *builder, int64_t mtime_s);
/* Frees the builder; NULL when memory ran out at any step. */
NODISCARD struct song *song_builder_finish(struct song_builder *builder);

struct song *song_ref(struct song *song);
void song_unref(struct song *song);

const char *song_uri(const struct song *song);
int64_t song_duration_ns(const struct song *song); /* < 0: unknown */
int64_t song_mtime_s(const struct song *song);     /* 0: unknown */
const struct audio_spec *song_spec(const struct song *song);
size_t song_tag_count(const struct song *song);
enum tag song_tag(const struct song *song, size_t index,
		  const char **ret_value);
/* The first value of a tag, or NULL. */
const char *song_tag_value(const struct song *song, enum tag tag);

#endif

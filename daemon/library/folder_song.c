/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder_song.c - what one file says about itself.
 *
 * Opens the decoder as for playing, asks for its tags and closes it again: what
 * cannot be opened here could not be played either, so the reasons agree. A
 * file that is passed over after crashes is told without tags. */
#include "daemon/library/folder.h"

#include "daemon/decode/decoder.h"
#include "daemon/decode/reader.h"
#include "daemon/source/skips.h"
#include "lib/base/clock.h"
#include "lib/rt/rt.h"
#include "lib/sync/byte_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RING_BYTES = 64 << 10 };

static const char *
reason_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
		return "there is no such file";
	case -EISDIR:
		return "it is a folder";
	case -EINVAL:
		return "it is not a file with sound in it";
	case -EACCES:
	case -EPERM:
		return "it may not be read";
	case -EXDEV:
		return "it leads out of the music folder";
	case -ELOOP:
		return "its links lead in a circle";
	case -ENOMEM:
		return "there is not enough memory for it";
	case -ENOTRECOVERABLE:
		return skips_reason;
	default:
		return "it could not be read";
	}
}

static void
take_tag(void *context, const char *name, const char *value, size_t length)
{
	const enum tag tag = tag_from_vorbis(name);

	if (tag != TAG_COUNT)
		song_builder_tag(context, tag, value, length);
}

static const char *
base_name(const char *uri)
{
	const char *slash = strrchr(uri, '/');

	return slash == NULL ? uri : slash + 1;
}

/* 0, or -errno and a reason. */
static int
read_tags(struct song_builder *builder, struct source *source, const char *uri,
	  const char **ret_reason)
{
	const struct decoder_info *info = NULL;
	struct decoder *decoder = NULL;
	struct reader reader;
	struct byte_ring ring;
	void *buffer = malloc(RING_BYTES);
	int error = 0;

	*ret_reason = NULL;
	if (buffer == NULL)
		return -ENOMEM;
	byte_ring_init(&ring, buffer, RING_BYTES);
	reader_init(&reader, &ring, source);
	error = decoder_open(NULL, &reader, base_name(uri), &decoder,
			     ret_reason);
	if (error == 0) {
		*ret_reason = NULL;
		info = decoder->ops->info(decoder);
		song_builder_audio(
			builder, &info->spec,
			info->frames == 0
				? -1
				: clock_frames_to_ns(info->frames,
						     info->spec.rate_hz));
		/* A song whose tags are broken is a song without them. */
		error = decoder_tags(decoder, take_tag, builder);
		if (error == -E2BIG)
			*ret_reason = decoder_overdrawn_reason;
		else
			error = 0;
	}
	decoder_destroy(decoder);
	free(buffer);
	return error;
}

/* While its file is looked at, a crash is put down to it. */
static int
read_into(struct song_builder *builder, struct source *source, const char *uri,
	  const char **ret_reason)
{
	struct rt_subject subject;
	int error = 0;

	source_describe(source, uri, &subject);
	rt_set_subject(&subject);
	song_builder_mtime(builder, source_mtime_s(source));
	error = read_tags(builder, source, uri, ret_reason);
	rt_set_subject(NULL);
	return error;
}

int
folder_read_song(const struct path_root *root, const struct source_ref *ref,
		 struct song **ret_song, const char **ret_reason)
{
	struct song_builder *builder = NULL;
	struct source *source = NULL;
	struct song *song = NULL;
	int error = source_open(root, ref, &source);

	*ret_reason = reason_of(error);
	if (error < 0 && error != -ENOTRECOVERABLE)
		return error;
	builder = song_builder_create(ref->uri);
	if (builder != NULL && source != NULL) {
		error = read_into(builder, source, ref->uri, ret_reason);
		if (error < 0 && *ret_reason == NULL)
			*ret_reason = reason_of(error);
	}
	source_close(source);
	song = builder == NULL ? NULL : song_builder_finish(builder);
	if (song == NULL) {
		*ret_reason = reason_of(-ENOMEM);
		return -ENOMEM;
	}
	*ret_song = song;
	return 0;
}

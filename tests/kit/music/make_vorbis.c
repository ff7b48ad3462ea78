/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_vorbis.c - libvorbisenc into memory, and libvorbisfile out of it. */
#include "tests/kit/music/music.h"

#include <vorbis/vorbisenc.h>
#include <vorbis/vorbisfile.h>

#include <stdlib.h>
#include <string.h>

enum { CHUNK_FRAMES = 1024, READ_FRAMES = 1000 };

struct encoder {
	vorbis_info info;
	vorbis_comment comment;
	vorbis_dsp_state state;
	vorbis_block block;
	ogg_stream_state stream;
	struct bytes *file;
};

static void
require(bool good)
{
	if (!good)
		abort();
}

static void
write_pages(struct encoder *encoder, bool flush)
{
	ogg_page page;

	while ((flush ? ogg_stream_flush(&encoder->stream, &page)
		      : ogg_stream_pageout(&encoder->stream, &page)) != 0) {
		bytes_append(encoder->file, page.header,
			     (size_t)page.header_len);
		bytes_append(encoder->file, page.body, (size_t)page.body_len);
	}
}

static void
begin(struct encoder *encoder, const struct recipe *recipe)
{
	ogg_packet headers[3];
	const char *const *tags = recipe->tags;
	const float quality = recipe->quality > 0 ? recipe->quality : 0.3F;

	vorbis_info_init(&encoder->info);
	require(vorbis_encode_init_vbr(&encoder->info, (long)recipe->channels,
				       (long)recipe->rate_hz, quality) == 0);
	vorbis_comment_init(&encoder->comment);
	for (; tags != NULL && tags[0] != NULL; tags += 2)
		vorbis_comment_add_tag(&encoder->comment, tags[0], tags[1]);
	require(vorbis_analysis_init(&encoder->state, &encoder->info) == 0);
	require(vorbis_block_init(&encoder->state, &encoder->block) == 0);
	require(ogg_stream_init(&encoder->stream, recipe->serial) == 0);
	require(vorbis_analysis_headerout(&encoder->state, &encoder->comment,
					  &headers[0], &headers[1],
					  &headers[2]) == 0);
	for (int i = 0; i < 3; i++) {
		require(ogg_stream_packetin(&encoder->stream, &headers[i]) ==
			0);
		if (i != 1)
			write_pages(encoder, true);
	}
}

/* What the encoder has ready goes into pages. */
static void
drain(struct encoder *encoder)
{
	ogg_packet packet;

	while (vorbis_analysis_blockout(&encoder->state, &encoder->block) ==
	       1) {
		require(vorbis_analysis(&encoder->block, NULL) == 0);
		require(vorbis_bitrate_addblock(&encoder->block) == 0);
		while (vorbis_bitrate_flushpacket(&encoder->state, &packet) ==
		       1) {
			require(ogg_stream_packetin(&encoder->stream,
						    &packet) == 0);
			write_pages(encoder, false);
		}
	}
}

void
make_vorbis(const struct recipe *recipe, struct bytes *ret_file)
{
	struct encoder encoder = {.file = ret_file};
	uint32_t frame = 0;

	begin(&encoder, recipe);
	while (frame < recipe->frames) {
		uint32_t count = recipe->frames - frame;
		float **planes;

		if (count > CHUNK_FRAMES)
			count = CHUNK_FRAMES;
		planes = vorbis_analysis_buffer(&encoder.state, CHUNK_FRAMES);
		for (uint32_t c = 0; c < recipe->channels; c++)
			for (uint32_t i = 0; i < count; i++)
				planes[c][i] =
					music_sample(recipe, frame + i, c);
		require(vorbis_analysis_wrote(&encoder.state, (int)count) == 0);
		frame += count;
		drain(&encoder);
	}
	require(vorbis_analysis_wrote(&encoder.state, 0) == 0);
	drain(&encoder);
	write_pages(&encoder, true);
	ogg_stream_clear(&encoder.stream);
	vorbis_block_clear(&encoder.block);
	vorbis_dsp_clear(&encoder.state);
	vorbis_comment_clear(&encoder.comment);
	vorbis_info_clear(&encoder.info);
}

struct cursor {
	const struct bytes *file;
	size_t at;
};

static size_t
read_some(void *to, size_t size, size_t count, void *context)
{
	struct cursor *cursor = context;
	size_t length = size * count;

	if (length > cursor->file->length - cursor->at)
		length = cursor->file->length - cursor->at;
	memcpy(to, cursor->file->data + cursor->at, length);
	cursor->at += length;
	return length / size;
}

void
vorbisfile_decode(const struct bytes *file, struct bytes *ret_samples)
{
	const ov_callbacks callbacks = {.read_func = read_some};
	struct cursor cursor = {.file = file};
	OggVorbis_File vorbis;
	float **planes;
	long count;
	int link;

	require(ov_open_callbacks(&cursor, &vorbis, NULL, 0, callbacks) == 0);
	while ((count = ov_read_float(&vorbis, &planes, READ_FRAMES, &link)) !=
	       0) {
		if (count < 0)
			continue;
		for (long i = 0; i < count; i++)
			for (int c = 0; c < ov_info(&vorbis, -1)->channels; c++)
				bytes_append(ret_samples, &planes[c][i],
					     sizeof(float));
	}
	(void)ov_clear(&vorbis);
}

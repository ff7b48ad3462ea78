/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vorbis_open.c - from the three header packets to the first frames.
 *
 * The comment packet is tapped: it may hold pictures of any size. libvorbis
 * wants one all the same and is given an empty one. Then the first frames are
 * decoded, because a file without any is not opened, the link's end is looked
 * for, and the decoder goes back to the begin. */
#include "daemon/decode/vorbis.h"
#include "daemon/decode/vorbis_books.h"

#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum {
	HEADER_MAGIC_BYTES = 7,
	FIRST_PACKET_BYTES = 30,
	AT_CHANNELS = 11,
	PACKET_BYTES = 16 << 10, /* room made for one that spans pages */
};

bool
vorbis_knows(const uint8_t *packet, size_t length)
{
	return length >= FIRST_PACKET_BYTES &&
	       memcmp(packet, "\1vorbis", HEADER_MAGIC_BYTES) == 0;
}

static void
tap_comments(void *context, const uint8_t *bytes, size_t length)
{
	struct vorbis *vorbis = context;

	while (length > 0 && vorbis->tapped < HEADER_MAGIC_BYTES) {
		vorbis->tapped++;
		bytes++;
		length--;
	}
	comments_feed(&vorbis->comments, bytes, length);
}

ogg_packet
vorbis_wrap(const uint8_t *bytes, size_t length)
{
	/* libogg's packet knows no const. */
	const union {
		const uint8_t *ours;
		unsigned char *theirs;
	} packet = {.ours = bytes};

	return (ogg_packet){
		.packet = packet.theirs,
		.bytes = (long)length,
	};
}

static int
give_header(struct vorbis *vorbis, const uint8_t *bytes, size_t length)
{
	ogg_packet wrapped = vorbis_wrap(bytes, length);
	int result = 0;

	wrapped.b_o_s = vorbis->packet_number == 0;
	wrapped.packetno = vorbis->packet_number++;
	result = vorbis_synthesis_headerin(&vorbis->library_info,
					   &vorbis->library_comment, &wrapped);
	return result == 0 ? 0 : result == OV_EFAULT ? -ENOMEM : -EINVAL;
}

static int
read_headers(struct vorbis *vorbis)
{
	static const uint8_t no_comments[] = {
		3, 'v', 'o', 'r', 'b', 'i', 's', 0, 0, 0, 0, 0, 0, 0, 0, 1};
	struct ogg_link *link = &vorbis->link;
	struct ogg_piece piece;
	int error = ogg_link_next(link, &piece);

	if (error < 0)
		return error;
	if (!vorbis_knows(piece.bytes, piece.length))
		return -EINVAL;
	if (piece.bytes[AT_CHANNELS] > AUDIO_CHANNELS_MAX)
		return -ECHRNG;
	error = give_header(vorbis, piece.bytes, piece.length);
	if (error < 0)
		return error;
	comments_begin(&vorbis->comments);
	link->tap = tap_comments;
	link->tap_context = vorbis;
	error = ogg_link_next(link, &piece);
	link->tap = NULL;
	if (error == 0)
		error = give_header(vorbis, no_comments, sizeof(no_comments));
	if (error == 0)
		error = ogg_link_next(link, &piece);
	if (error == 0)
		error = vorbis_books_check(piece.bytes, piece.length);
	if (error == 0)
		error = give_header(vorbis, piece.bytes, piece.length);
	return error;
}

static int
start_library(struct vorbis *vorbis)
{
	const vorbis_info *library_info = &vorbis->library_info;
	struct audio_spec *spec = &vorbis->info.spec;

	if (library_info->rate > AUDIO_RATE_MAX)
		return -ENOTSUP;
	*spec = (struct audio_spec){
		.rate_hz = (uint32_t)library_info->rate,
		.channels = (uint32_t)library_info->channels,
		.kind = SAMPLE_F32,
	};
	if (!audio_spec_valid(spec))
		return -EINVAL;
	if (library_info->bitrate_nominal > 0)
		vorbis->info.bitrate_bps =
			(uint32_t)library_info->bitrate_nominal;
	if (vorbis_synthesis_init(&vorbis->state, &vorbis->library_info) != 0)
		return -EINVAL;
	vorbis->has_state = true;
	if (vorbis_block_init(&vorbis->state, &vorbis->block) != 0)
		return -ENOMEM;
	return stage_init(
		&vorbis->stage, vorbis->allocator, spec->channels,
		(size_t)vorbis_info_blocksize(&vorbis->library_info, 1));
}

/* Stages the first frames: a file without any is not opened. */
static int
find_first(struct vorbis *vorbis)
{
	for (;;) {
		switch (vorbis_next_block(vorbis)) {
		case OGG_PACKET:
			return 0;
		case OGG_AGAIN:
			break;
		case OGG_ERROR:
			return reader_error(vorbis->link.window.reader);
		default:
			return -ENODATA;
		}
	}
}

/* What the file's end tells: the length. */
static int
measure(struct vorbis *vorbis)
{
	struct ogg_link *link = &vorbis->link;
	struct decoder_info *info = &vorbis->info;
	int64_t granule = -1;
	int error = ogg_link_find_end(link);

	if (error == 0)
		error = ogg_link_last_granule(link, &granule);
	if (error < 0)
		return error;
	info->chained = link->end < reader_length(link->window.reader);
	if (granule > vorbis->granule_base)
		info->frames = (uint64_t)(granule - vorbis->granule_base);
	if (link->end != UINT64_MAX && info->frames > 0)
		info->bitrate_bps =
			(uint32_t)((double)(link->end - link->begin) * 8 *
				   info->spec.rate_hz / (double)info->frames);
	return 0;
}

/* Back to the first page of audio, with nothing decoded. */
int
vorbis_begin_again(struct vorbis *vorbis)
{
	const int error = ogg_link_restart(&vorbis->link, vorbis->link.data);

	if (error < 0)
		return error;
	(void)vorbis_synthesis_restart(&vorbis->state);
	vorbis->previous_block = 0;
	vorbis->adrift = false;
	vorbis->cap_end = false;
	vorbis->has_audio = false;
	vorbis->position = 0;
	return 0;
}

static int
start(struct vorbis *vorbis, struct reader *reader)
{
	struct ogg_link *link = &vorbis->link;
	int error =
		ogg_link_open(link, vorbis->allocator, reader, vorbis_knows);

	if (error == 0)
		error = ogg_link_reserve(link, PACKET_BYTES);
	if (error == 0)
		error = read_headers(vorbis);
	if (error == 0)
		error = start_library(vorbis);
	if (error == 0)
		error = find_first(vorbis);
	if (error < 0 || !reader_can_seek(reader))
		return error;
	error = measure(vorbis);
	if (error == 0) /* which has moved the window */
		error = vorbis_begin_again(vorbis);
	if (error == 0)
		stage_move(&vorbis->stage, 0);
	return error;
}

void
vorbis_destroy(struct decoder *decoder)
{
	struct vorbis *vorbis = (struct vorbis *)decoder;

	if (vorbis == NULL)
		return;
	if (vorbis->has_state) {
		vorbis_block_clear(&vorbis->block);
		vorbis_dsp_clear(&vorbis->state);
	}
	vorbis_comment_clear(&vorbis->library_comment);
	vorbis_info_clear(&vorbis->library_info);
	stage_finish(&vorbis->stage);
	comments_finish(&vorbis->comments);
	ogg_link_finish(&vorbis->link);
	allocator_delete(vorbis->allocator, vorbis);
}

int
vorbis_open(struct allocator *allocator, struct reader *reader,
	    struct decoder **ret_decoder)
{
	struct vorbis *vorbis = allocator_new(allocator, sizeof(*vorbis));
	int error = 0;

	if (vorbis == NULL)
		return -ENOMEM;
	vorbis->base.ops = &decoder_vorbis;
	vorbis->allocator = allocator;
	vorbis_info_init(&vorbis->library_info);
	vorbis_comment_init(&vorbis->library_comment);
	comments_init(&vorbis->comments, allocator);
	error = start(vorbis, reader);
	if (error < 0) {
		vorbis_destroy(&vorbis->base);
		return error;
	}
	*ret_decoder = &vorbis->base;
	return 0;
}

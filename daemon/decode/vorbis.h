/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vorbis.h - the inside of the decoder of Ogg Vorbis, for its own files only:
 * vorbis.c (packets, the clock, seeking) and vorbis_open.c (headers). */
#ifndef ROTARY_DECODE_VORBIS_H
#define ROTARY_DECODE_VORBIS_H

#include "daemon/decode/comments.h"
#include "daemon/decode/ogg_link.h"
#include "daemon/decode/stage.h"

#include <vorbis/codec.h>

struct vorbis {
	struct decoder base;
	struct allocator *allocator;
	struct ogg_link link;
	struct stage stage;
	struct comments comments;
	struct decoder_info info;
	size_t tapped; /* bytes of the comment packet that passed by */
	/* libvorbis */
	vorbis_info library_info;
	vorbis_comment library_comment;
	vorbis_dsp_state state;
	vorbis_block block;
	bool has_state;
	ogg_int64_t packet_number;
	/* the clock */
	int64_t granule_base;
	bool based;          /* granule_base is known */
	uint64_t audio;      /* where the first page of audio begins */
	uint64_t position;   /* of the next frame that libvorbis gives */
	long previous_block; /* frames; 0: none, the next gives nothing */
	bool adrift;         /* position must be taken from a page */
	bool has_audio;      /* an audio packet was seen */
	bool has_end;        /* the stream's last packet was seen */
	bool cap_end;        /* the last packet must not pass its granule */
	enum decode_status final;
};

/* A packet for libvorbis, which only reads it. */
ogg_packet vorbis_wrap(const uint8_t *bytes, size_t length);
/* One step towards the next block. OGG_PACKET: it is staged. */
enum ogg_status vorbis_next_block(struct vorbis *vorbis);
/* Back to the begin of the audio, with nothing decoded. 0 or -errno. */
MAY_BLOCK NODISCARD int vorbis_begin_again(struct vorbis *vorbis);

bool vorbis_knows(const uint8_t *packet, size_t length);
/* decoder_ops::open and destroy. */
MAY_BLOCK int vorbis_open(struct allocator *allocator, struct reader *reader,
			  struct decoder **ret_decoder);
void vorbis_destroy(struct decoder *decoder);

extern const struct decoder_ops decoder_vorbis;

#endif

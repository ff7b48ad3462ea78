/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vorbis.c - Ogg Vorbis by libvorbis.
 *
 * libvorbisfile is not used: it pulls its input, loses what follows when a
 * read starves at a chain link, reads tags of any size into memory, and
 * corrects its clock only at the end of the page behind a loss. libvorbis
 * itself is what decodes under it, so the samples are the same.
 *
 * The clock. A page tells where its last packet ends (its granule); a packet
 * gives (previous block + this block) / 4 frames, the first one none. So where
 * a page begins is known from its granule and the sizes of its packets, before
 * any of them is decoded. That place is needed where counting on is not
 * possible: behind a loss and behind a seek. What is missing before it comes
 * out as silence.
 *
 *   base: the granule of our frame 0 (a recording of a broadcast begins late)
 */
#include "daemon/decode/vorbis.h"

#include "daemon/decode/planes.h"

#include <errno.h>

enum {
	STEPS_MAX = 64,
	TRIES_MAX = 8,
	GAP_MAX_S = 60, /* where the length is not known */
	AHEAD_PARTS = 16,
};

/* From the order of channels in Vorbis to that in a WAVE file. */
static const uint8_t channel_maps[AUDIO_CHANNELS_MAX][AUDIO_CHANNELS_MAX] = {
	{0},
	{0, 1},
	{0, 2, 1},
	{0, 1, 2, 3},
	{0, 2, 1, 3, 4},
	{0, 2, 1, 5, 3, 4},
	{0, 2, 1, 6, 5, 3, 4},
	{0, 2, 1, 7, 5, 6, 3, 4},
};

static int
probe(const uint8_t *head, size_t length)
{
	return ogg_head_has(head, length, vorbis_knows) ? 100 : 0;
}

/* Frames that a packet's block spans; 0 when it is no audio. */
static long
block_of(struct vorbis *vorbis, const uint8_t *bytes, size_t length)
{
	ogg_packet wrapped = vorbis_wrap(bytes, length);
	const long frames =
		vorbis_packet_blocksize(&vorbis->library_info, &wrapped);

	return frames > 0 ? frames : 0;
}

/* Frames that come out of the page in hand, from the packet given on. */
static int64_t
frames_of_page(struct vorbis *vorbis, long block)
{
	struct ogg_cursor cursor = {0};
	long previous = vorbis->previous_block;
	int64_t frames = 0;

	while (block > 0) {
		const uint8_t *bytes = NULL;
		size_t length = 0;

		if (previous > 0)
			frames += (previous + block) / 4;
		previous = block;
		do {
			length = ogg_link_peek(&vorbis->link, &cursor, &bytes);
			block = length > 0 ? block_of(vorbis, bytes, length)
					   : 0;
		} while (length > 0 && block == 0);
	}
	return frames;
}

/* The granule of a stream's last page leaves out what the encoder had to add
 * to its last block, and how much that is, is lost with the page before. But
 * all blocks begin on a grid, which tells at least the least it can be. */
static int64_t
cut_from_end(struct vorbis *vorbis, int64_t place)
{
	const int64_t grid =
		vorbis_info_blocksize(&vorbis->library_info, 0) / 4;
	const int64_t off = (place - (int64_t)vorbis->position) % grid;

	vorbis->cap_end = true;
	return off > 0 ? grid - off : -off;
}

/* Takes the clock from the page in hand, before its first audio packet is
 * decoded. */
static void
set_clock(struct vorbis *vorbis, long block)
{
	const struct ogg_page_info *page = &vorbis->link.page;
	const int64_t frames = frames_of_page(vorbis, block);
	int64_t place = 0;
	int64_t limit = 0;

	if (page->granule < 0)
		return; /* no packet ends here: the next page tells */
	if (!vorbis->based) {
		vorbis->based = true;
		if (page->granule > frames && (page->flags & OGG_PAGE_END) == 0)
			vorbis->granule_base = page->granule - frames;
	}
	if (!vorbis->adrift)
		return;
	vorbis->adrift = false;
	place = page->granule - frames - vorbis->granule_base;
	if ((page->flags & OGG_PAGE_END) != 0)
		place += cut_from_end(vorbis, place);
	limit = vorbis->info.frames > 0
			? (int64_t)vorbis->info.frames
			: (int64_t)vorbis->stage.next +
				  (int64_t)GAP_MAX_S *
					  vorbis->info.spec.rate_hz;
	if (place >= (int64_t)vorbis->position && place <= limit)
		vorbis->position = (uint64_t)place;
}

static void
lose_track(struct vorbis *vorbis)
{
	(void)vorbis_synthesis_restart(&vorbis->state);
	vorbis->previous_block = 0;
	vorbis->adrift = true;
	vorbis->cap_end = false;
}

/* Planes into interleaved frames in the order of a WAVE file. end: where the
 * packet's page ends, if it is the last on it. */
static void
stage_frames(struct vorbis *vorbis, int64_t end)
{
	const uint32_t channels = vorbis->info.spec.channels;
	float **planes = NULL;
	int count = vorbis_synthesis_pcmout(&vorbis->state, &planes);

	if (count <= 0)
		return;
	if ((size_t)count > vorbis->stage.capacity)
		count = (int)vorbis->stage.capacity;
	planes_join_f32((void *)stage_block(&vorbis->stage, (size_t)count),
			planes, channel_maps[channels - 1], channels,
			(size_t)count);
	(void)vorbis_synthesis_read(&vorbis->state, count);
	if (vorbis->cap_end && end >= 0 &&
	    (int64_t)vorbis->position + count > end)
		count = end > (int64_t)vorbis->position
				? (int)(end - (int64_t)vorbis->position)
				: 0;
	stage_put(&vorbis->stage, vorbis->position, (size_t)count);
	vorbis->position += (uint64_t)count;
}

static bool
decode_block(struct vorbis *vorbis, ogg_packet *packet)
{
	stage_ahead(&vorbis->stage, AHEAD_PARTS);
	if (vorbis_synthesis(&vorbis->block, packet) != 0)
		return false;
	stage_ahead(&vorbis->stage, AHEAD_PARTS);
	if (vorbis_synthesis_blockin(&vorbis->state, &vorbis->block) != 0)
		return false;
	stage_ahead(&vorbis->stage, AHEAD_PARTS);
	return true;
}

/* Decodes a packet and stages what comes out. */
static void
take_packet(struct vorbis *vorbis, const struct ogg_piece *piece)
{
	const long block = block_of(vorbis, piece->bytes, piece->length);
	ogg_packet wrapped = vorbis_wrap(piece->bytes, piece->length);

	wrapped.e_o_s = piece->last;
	wrapped.granulepos = piece->granule;
	wrapped.packetno = vorbis->packet_number++;
	if (block == 0)
		return; /* no audio: a header, or a broken packet */
	if (!vorbis->has_audio) {
		vorbis->audio = vorbis->link.page.offset;
		vorbis->has_audio = true;
		/* With its begin damaged, time is counted from granule 0; a
		 * broadcast joined late has lost pages but no bytes. */
		if (piece->damage) {
			vorbis->based = true;
			lose_track(vorbis);
		}
	} else if (piece->hole) {
		lose_track(vorbis);
	}
	if (!vorbis->based || vorbis->adrift)
		set_clock(vorbis, block);
	if (!decode_block(vorbis, &wrapped)) {
		lose_track(vorbis);
		return;
	}
	vorbis->previous_block = block;
	stage_frames(vorbis, piece->granule - vorbis->granule_base);
}

enum ogg_status
vorbis_next_block(struct vorbis *vorbis)
{
	enum ogg_status status = OGG_AGAIN;
	int tries = 0;

	for (int step = 0; step < STEPS_MAX && tries < TRIES_MAX; step++) {
		struct ogg_piece piece;

		status = ogg_link_packet(&vorbis->link, &piece);
		if (status == OGG_AGAIN)
			continue;
		if (status != OGG_PACKET)
			return status;
		tries++;
		stage_ahead(&vorbis->stage, AHEAD_PARTS);
		vorbis->has_end |= piece.last;
		take_packet(vorbis, &piece);
		if (stage_holds(&vorbis->stage))
			return OGG_PACKET;
		status = OGG_AGAIN;
	}
	return status;
}

static void
end(struct vorbis *vorbis, enum decode_status final)
{
	vorbis->info.link_offset = vorbis->link.window.offset;
	vorbis->final = final;
}

/* Up to capacity frames of what is staged. */
static size_t
take(struct vorbis *vorbis, void *ret_samples, size_t capacity)
{
	const size_t count = stage_take(&vorbis->stage, ret_samples, capacity);

	vorbis->info.gap_frames = vorbis->stage.gap_frames;
	return count;
}

static enum decode_status
decode(struct decoder *decoder, void *ret_samples, size_t capacity,
       size_t *ret_frames)
{
	struct vorbis *vorbis = (struct vorbis *)decoder;
	enum ogg_status status;

	*ret_frames = take(vorbis, ret_samples, capacity);
	if (*ret_frames > 0)
		return DECODE_OK;
	if (vorbis->final != DECODE_OK)
		return vorbis->final;
	stage_aim(&vorbis->stage, ret_samples, capacity);
	status = vorbis_next_block(vorbis);
	stage_aim(&vorbis->stage, NULL, 0);
	switch (status) {
	case OGG_STARVED:
		return DECODE_STARVED;
	case OGG_END:
		/* The last page may be one without a packet. */
		vorbis->info.cut =
			!vorbis->has_end &&
			(vorbis->link.page.flags & OGG_PAGE_END) == 0;
		end(vorbis, DECODE_END);
		break;
	case OGG_NEXT_LINK:
		end(vorbis, DECODE_LINK);
		break;
	case OGG_ERROR:
		vorbis->final = DECODE_ERROR;
		break;
	case OGG_PACKET:
	case OGG_AGAIN:
		break;
	}
	*ret_frames = take(vorbis, ret_samples, capacity);
	return *ret_frames > 0 ? DECODE_OK : vorbis->final;
}

/* Where to begin so that frame comes out right: one whole block before it is
 * decoded for its overlap, and its packet may have begun on an earlier page. */
static int
seek(struct decoder *decoder, uint64_t frame)
{
	struct vorbis *vorbis = (struct vorbis *)decoder;
	const uint64_t total = vorbis->info.frames;
	const int64_t run_up = vorbis_info_blocksize(&vorbis->library_info, 1);
	uint64_t offset = 0;
	int error = 0;

	stage_move(&vorbis->stage, frame);
	if ((total > 0 && frame >= total) ||
	    frame > (uint64_t)(INT64_MAX - vorbis->granule_base)) {
		vorbis->final = DECODE_END;
		return 0;
	}
	vorbis->final = DECODE_OK;
	error = ogg_link_search(&vorbis->link,
				(int64_t)frame + vorbis->granule_base - run_up,
				&offset);
	if (error == -ENODATA || (error == 0 && offset <= vorbis->audio))
		return vorbis_begin_again(vorbis);
	if (error == 0)
		error = ogg_link_restart(&vorbis->link, offset);
	if (error == 0) {
		lose_track(vorbis);
		vorbis->position = 0;
	}
	return error;
}

static const struct decoder_info *
info(const struct decoder *decoder)
{
	return &((const struct vorbis *)decoder)->info;
}

static int
tags(struct decoder *decoder, decoder_tag_fn *tag, void *context)
{
	comments_each(&((struct vorbis *)decoder)->comments, tag, context);
	return 0;
}

static const char *const suffixes[] = {"ogg", "oga", NULL};
static const char *const mime_types[] = {"audio/ogg", "audio/vorbis",
					 "application/ogg", NULL};

const struct decoder_ops decoder_vorbis = {
	.name = "vorbis",
	.suffixes = suffixes,
	.mime_types = mime_types,
	.rt = true,
	.probe = probe,
	.open = vorbis_open,
	.info = info,
	.tags = tags,
	.decode = decode,
	.seek = seek,
	.destroy = vorbis_destroy,
};

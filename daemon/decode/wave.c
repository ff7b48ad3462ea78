/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wave.c - PCM files: WAVE and its kin (RF64, BW64, RIFX, W64), AIFF, AU, CAF.
 *
 * libsndfile finds out where the frames lie and what they are (wave_open.c) and
 * is not seen again: its own reads lose frames when they starve. From there on
 * a file is a run of frames of one size,
 *
 *   frame n is at data + n * frame_bytes, for n < info.frames
 *
 * and to decode is to take whole frames out of the window. A file that ends
 * before its last frame, because it was cut while it played, just ends. */
#include "daemon/decode/wave.h"

static int
probe(const uint8_t *head, size_t length)
{
	return wave_knows(head, length) ? 100 : 0;
}

static const struct decoder_info *
info(const struct decoder *decoder)
{
	return &((const struct wave *)decoder)->info;
}

static int
tags(struct decoder *decoder, decoder_tag_fn *tag, void *context)
{
	comments_each(&((struct wave *)decoder)->comments, tag, context);
	return 0;
}

static enum decode_status
end_early(struct wave *wave)
{
	wave->info.cut = true;
	wave->position = wave->info.frames;
	return DECODE_END;
}

static enum decode_status
decode(struct decoder *decoder, void *ret_samples, size_t capacity,
       size_t *ret_frames)
{
	struct wave *wave = (struct wave *)decoder;
	const uint64_t left = wave->info.frames - wave->position;
	size_t frames = 0;

	*ret_frames = 0;
	if (left == 0)
		return DECODE_END;
	if (window_length(&wave->window) < wave->frame_bytes) {
		switch (window_more(&wave->window)) {
		case READER_OK:
			break;
		case READER_STARVED:
			return DECODE_STARVED;
		case READER_EOF:
			return end_early(wave);
		case READER_ERROR:
			return DECODE_ERROR;
		}
	}
	frames = window_length(&wave->window) / wave->frame_bytes;
	if (frames > capacity)
		frames = capacity;
	if (frames > left)
		frames = (size_t)left;
	pcm_layout_decode(&wave->layout, ret_samples,
			  window_bytes(&wave->window),
			  frames * wave->info.spec.channels);
	if (wave->reorder)
		wave_reorder(wave, ret_samples, frames);
	window_drop(&wave->window, frames * wave->frame_bytes);
	wave->position += frames;
	*ret_frames = frames;
	return DECODE_OK;
}

static int
seek(struct decoder *decoder, uint64_t frame)
{
	struct wave *wave = (struct wave *)decoder;
	int error = 0;

	if (frame > wave->info.frames)
		frame = wave->info.frames;
	error = window_seek(&wave->window,
			    wave->data + frame * wave->frame_bytes);
	if (error == 0)
		wave->position = frame;
	return error;
}

static const char *const suffixes[] = {"wav", "wave", "rf64", "bw64",
				       "w64", "aif",  "aiff", "aifc",
				       "au",  "snd",  "caf",  NULL};
static const char *const mime_types[] = {"audio/wav",   "audio/x-wav",
					 "audio/wave",  "audio/vnd.wave",
					 "audio/aiff",  "audio/x-aiff",
					 "audio/basic", "audio/x-caf",
					 "audio/x-w64", NULL};

const struct decoder_ops decoder_wave = {
	.name = "wave",
	.suffixes = suffixes,
	.mime_types = mime_types,
	.rt = true,
	.probe = probe,
	.open = wave_open,
	.info = info,
	.tags = tags,
	.decode = decode,
	.seek = seek,
	.destroy = wave_destroy,
};

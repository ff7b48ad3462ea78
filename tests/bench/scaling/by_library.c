/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_library.c - what libFLAC and libvorbisfile do with nothing of ours around
 * them: they read the song from memory by their own means, and each channel is
 * added up as they hand it out, without being put anywhere. */
#include "tests/bench/scaling/bench_scaling.h"

#include <FLAC/stream_decoder.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vorbis/vorbisfile.h>

enum { FRAMES_AT_ONCE = 4096 };

/* A cursor over the song. */
struct reading {
	struct library *library;
	size_t at;
};

struct voice {
	struct reading reading;
	FLAC__StreamDecoder *flac; /* NULL: it is vorbis */
	OggVorbis_File vorbis;
};

struct library {
	char *song;
	size_t length;
	unsigned count;
	uint64_t frames;
	float sum[SCALING_MIX_SAMPLES];
	struct voice voices[SCALING_STREAMS_MAX];
};

static size_t
read_some(struct reading *reading, void *ret_bytes, size_t length)
{
	const size_t left = reading->library->length - reading->at;

	if (length > left)
		length = left;
	memcpy(ret_bytes, reading->library->song + reading->at, length);
	reading->at += length;
	return length;
}

static void
add(struct library *library, const void *plane, size_t frames,
    enum sample_kind kind)
{
	const struct audio_spec spec = {.channels = 1, .kind = kind};

	scaling_mix(library->sum, plane, frames, &spec);
}

static FLAC__StreamDecoderReadStatus
flac_read(const FLAC__StreamDecoder *flac, FLAC__byte *ret_bytes,
	  size_t *length, void *context)
{
	(void)flac;
	*length = read_some(context, ret_bytes, *length);
	return *length > 0 ? FLAC__STREAM_DECODER_READ_STATUS_CONTINUE
			   : FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
}

static FLAC__StreamDecoderWriteStatus
flac_write(const FLAC__StreamDecoder *flac, const FLAC__Frame *frame,
	   const FLAC__int32 *const planes[], void *context)
{
	const struct reading *reading = context;
	struct library *library = reading->library;
	uint32_t channel;

	(void)flac;
	for (channel = 0; channel < frame->header.channels; channel++)
		add(library, planes[channel], frame->header.blocksize,
		    SAMPLE_S32);
	library->frames += frame->header.blocksize;
	return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void
flac_error(const FLAC__StreamDecoder *flac,
	   FLAC__StreamDecoderErrorStatus status, void *context)
{
	(void)flac;
	(void)status;
	(void)context;
}

static size_t
vorbis_read(void *ret_bytes, size_t size, size_t count, void *context)
{
	return read_some(context, ret_bytes, size * count);
}

static int
open_voice(struct voice *voice, bool is_flac)
{
	static const ov_callbacks callbacks = {.read_func = vorbis_read};

	if (!is_flac)
		return ov_open_callbacks(&voice->reading, &voice->vorbis, NULL,
					 0, callbacks) == 0
			       ? 0
			       : -EINVAL;
	voice->flac = FLAC__stream_decoder_new();
	if (voice->flac == NULL)
		return -ENOMEM;
	if (FLAC__stream_decoder_init_stream(voice->flac, flac_read, NULL, NULL,
					     NULL, NULL, flac_write, NULL,
					     flac_error, &voice->reading) !=
		    FLAC__STREAM_DECODER_INIT_STATUS_OK ||
	    !FLAC__stream_decoder_process_until_end_of_metadata(voice->flac))
		return -EINVAL;
	return 0;
}

static int
read_song(struct library *library, const char *path)
{
	FILE *file = fopen(path, "rbe");
	long length = -1;

	if (file == NULL)
		return -errno;
	if (fseek(file, 0, SEEK_END) == 0)
		length = ftell(file);
	rewind(file);
	if (length > 0)
		library->song = malloc((size_t)length);
	if (library->song != NULL)
		library->length = fread(library->song, 1, (size_t)length, file);
	fclose(file);
	return library->length > 0 ? 0 : -EIO;
}

int
library_open(const char *path, unsigned count, struct library **ret_library)
{
	struct library *library = calloc(1, sizeof(*library));
	int result;

	if (library == NULL)
		return -ENOMEM;
	result = read_song(library, path);
	while (result == 0 && library->count < count) {
		struct voice *voice = &library->voices[library->count++];

		voice->reading.library = library;
		result = open_voice(voice,
				    memcmp(library->song, "fLaC", 4) == 0);
	}
	*ret_library = library;
	return result;
}

static void
decode_vorbis(struct library *library, struct voice *voice)
{
	float **planes = NULL;
	long frames;
	int link = 0;

	while ((frames = ov_read_float(&voice->vorbis, &planes, FRAMES_AT_ONCE,
				       &link)) > 0) {
		const int channels = ov_info(&voice->vorbis, link)->channels;

		for (int channel = 0; channel < channels; channel++)
			add(library, planes[channel], (size_t)frames,
			    SAMPLE_F32);
		library->frames += (uint64_t)frames;
	}
}

uint64_t
library_decode(struct library *library)
{
	unsigned i;

	for (i = 0; i < library->count; i++) {
		struct voice *voice = &library->voices[i];

		if (voice->flac == NULL)
			decode_vorbis(library, voice);
		else
			(void)FLAC__stream_decoder_process_until_end_of_stream(
				voice->flac);
	}
	return library->frames;
}

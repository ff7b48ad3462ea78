/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decode.c - opens, decodes and closes files, again and again, with libFLAC and
 * libvorbisfile and nothing of ours, so that all the allocator's calls are
 * theirs.
 *
 * usage: zone_decode ROUNDS FILE... (.flac or .ogg) */
#include "tests/bench/zone/bench.h"

#include <FLAC/stream_decoder.h>
#include <stdbool.h>
#include <vorbis/vorbisfile.h>

static FLAC__StreamDecoderWriteStatus
take_frame(const FLAC__StreamDecoder *decoder, const FLAC__Frame *frame,
	   const FLAC__int32 *const samples[], void *count)
{
	(void)decoder;
	(void)samples;
	*(uint64_t *)count += frame->header.blocksize;
	return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void
take_error(const FLAC__StreamDecoder *decoder,
	   FLAC__StreamDecoderErrorStatus status, void *unused)
{
	(void)decoder;
	(void)unused;
	fprintf(stderr, "zone_decode: status %d\n", (int)status);
	exit(1);
}

static uint64_t
decode_flac(const char *path)
{
	FLAC__StreamDecoder *decoder = FLAC__stream_decoder_new();
	uint64_t frames = 0;

	if (FLAC__stream_decoder_init_file(decoder, path, take_frame, NULL,
					   take_error, &frames) !=
		    FLAC__STREAM_DECODER_INIT_STATUS_OK ||
	    !FLAC__stream_decoder_process_until_end_of_stream(decoder))
		exit(1);
	(void)FLAC__stream_decoder_finish(decoder);
	FLAC__stream_decoder_delete(decoder);
	return frames;
}

static uint64_t
decode_vorbis(const char *path)
{
	OggVorbis_File file;
	uint64_t frames = 0;
	float **samples;
	int section;
	long got;

	if (ov_fopen(path, &file) != 0)
		exit(1);
	while ((got = ov_read_float(&file, &samples, 4096, &section)) > 0)
		frames += (uint64_t)got;
	(void)ov_clear(&file);
	return frames;
}

static bool
is_flac(const char *path)
{
	const char *end = strrchr(path, '.');

	return end != NULL && strcmp(end, ".flac") == 0;
}

int
main(int count, char **arguments)
{
	const unsigned rounds =
		count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 0;
	const int64_t began_ns = bench_now_ns();
	uint64_t frames = 0;
	unsigned round;
	int i;

	for (round = 0; round < rounds; round++)
		for (i = 2; i < count; i++)
			frames += is_flac(arguments[i])
					  ? decode_flac(arguments[i])
					  : decode_vorbis(arguments[i]);
	if (frames == 0) {
		fprintf(stderr, "usage: zone_decode ROUNDS FILE...\n");
		return 2;
	}
	bench_say("seconds", (double)(bench_now_ns() - began_ns) / 1e9);
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
	return 0;
}

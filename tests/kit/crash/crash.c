/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crash.c - a library to preload that makes libFLAC or libvorbis crash, as a
 * bug in them would: on files of one sample rate, in the thread and at the
 * place where it happens.
 *
 *   ROTARY_CRASH_AT=RATE:SAMPLE   when libFLAC decodes this sample, or a later
 *   ROTARY_CRASH_OPEN=RATE        when libvorbis reads headers, for tags too
 *   ROTARY_CRASH_STACK=1          by a stack that runs over
 *
 * It makes no system call after its start, so that no fence notices it. */
#include <FLAC/stream_decoder.h>
#include <vorbis/codec.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef FLAC__StreamDecoderInitStatus
init_fn(FLAC__StreamDecoder *, FLAC__StreamDecoderReadCallback,
	FLAC__StreamDecoderSeekCallback, FLAC__StreamDecoderTellCallback,
	FLAC__StreamDecoderLengthCallback, FLAC__StreamDecoderEofCallback,
	FLAC__StreamDecoderWriteCallback, FLAC__StreamDecoderMetadataCallback,
	FLAC__StreamDecoderErrorCallback, void *);
typedef int head_fn(vorbis_info *, vorbis_comment *, ogg_packet *);

static struct {
	init_fn *init;
	head_fn *head;
	FLAC__StreamDecoderWriteCallback write; /* the player's, of all alike */
	unsigned long at_rate;
	unsigned long long at_sample;
	long open_rate;
	bool by_stack;
} crash;

static void
find(const char *name, void *ret_function)
{
	void *found = dlsym(RTLD_NEXT, name);

	/* A program without them, such as env, is none of our business. */
	memcpy(ret_function, &found, sizeof(found));
}

static __attribute__((constructor)) void
begin(void)
{
	const char *at = getenv("ROTARY_CRASH_AT");
	const char *open = getenv("ROTARY_CRASH_OPEN");

	find("FLAC__stream_decoder_init_stream", &crash.init);
	find("vorbis_synthesis_headerin", &crash.head);
	crash.by_stack = getenv("ROTARY_CRASH_STACK") != NULL;
	if (open != NULL)
		crash.open_rate = strtol(open, NULL, 10);
	if (at != NULL &&
	    sscanf(at, "%lu:%llu", &crash.at_rate, &crash.at_sample) != 2) {
		fputs("rotary_crash: ROTARY_CRASH_AT is RATE:SAMPLE\n", stderr);
		abort();
	}
}

static __attribute__((noinline)) int
run_over(volatile char *above, int calls)
{
	volatile char room[512];

	room[0] = *above;
	return calls == 0 ? 0 : run_over(room, calls - 1) + room[0];
}

static __attribute__((noinline)) void
crash_in_library(void)
{
	int *volatile nowhere = (int *)(uintptr_t)16;
	volatile char first = 1;

	if (crash.by_stack)
		*nowhere = run_over(&first, INT_MAX);
	else
		*nowhere = 1;
}

static FLAC__StreamDecoderWriteStatus
write_or_crash(const FLAC__StreamDecoder *decoder, const FLAC__Frame *frame,
	       const FLAC__int32 *const planes[], void *context)
{
	const FLAC__FrameHeader *header = &frame->header;

	/* libFLAC tells samples here, whatever the frame counts. */
	if (header->sample_rate == crash.at_rate &&
	    header->number.sample_number + header->blocksize > crash.at_sample)
		crash_in_library();
	return crash.write(decoder, frame, planes, context);
}

FLAC__StreamDecoderInitStatus
FLAC__stream_decoder_init_stream(FLAC__StreamDecoder *decoder,
				 FLAC__StreamDecoderReadCallback read,
				 FLAC__StreamDecoderSeekCallback seek,
				 FLAC__StreamDecoderTellCallback tell,
				 FLAC__StreamDecoderLengthCallback length,
				 FLAC__StreamDecoderEofCallback eof,
				 FLAC__StreamDecoderWriteCallback write,
				 FLAC__StreamDecoderMetadataCallback metadata,
				 FLAC__StreamDecoderErrorCallback error,
				 void *context)
{
	crash.write = write;
	return crash.init(decoder, read, seek, tell, length, eof,
			  write_or_crash, metadata, error, context);
}

int
vorbis_synthesis_headerin(vorbis_info *info, vorbis_comment *comment,
			  ogg_packet *packet)
{
	const int result = crash.head(info, comment, packet);

	if (crash.open_rate != 0 && info->rate == crash.open_rate)
		crash_in_library();
	return result;
}

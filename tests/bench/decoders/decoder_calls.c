/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decoder_calls: a minute of music through a decoder, or of noise through the
 * resampler, with every allocation and lock on the way counted.
 *
 *   decoder_calls FILE SECONDS
 *   decoder_calls --resample IN_HZ OUT_HZ SECONDS
 *
 * As on a decoder thread: the reader is in RING mode, a call gives what a
 * quantum does. The ring holds the whole file, so that no read-ahead is mixed
 * in. What it takes to open and the first WARM_SECONDS are counted apart, as
 * "opening"; what follows is "steady". Exit: 0, 1 (it did not
 * last that long), 2 (usage, no file). */
#include "daemon/audio/resample.h"
#include "daemon/decode/decoder.h"
#include "daemon/decode/reader.h"
#include "daemon/source/source.h"
#include "lib/sync/byte_ring.h"
#include "tests/bench/decoders/counts.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RING_BYTES = 1 << 26,
	CHANNELS = 2,
	WARM_SECONDS = 5,
};

static float samples[RESAMPLE_CHUNK_FRAMES * CHANNELS];
static float resampled[RESAMPLE_CHUNK_FRAMES * CHANNELS];

/* The libraries lock nothing, not even when they are opened: one lock of our
 * own shows that it would be seen. */
static void
lock_once(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void
begin_steady(void)
{
	lock_once();
	counts_end();
	counts_print("opening");
	counts_begin();
}

/* False when it ends or fails before. */
static bool
decode_frames(struct decoder *decoder, uint64_t wanted)
{
	while (wanted > 0) {
		size_t frames = 0;
		const enum decode_status status = decoder->ops->decode(
			decoder, samples, RESAMPLE_CHUNK_FRAMES, &frames);

		if (status != DECODE_OK)
			return false;
		wanted -= frames < wanted ? frames : wanted;
	}
	return true;
}

static bool
decode(struct reader *reader, const char *file, uint64_t seconds)
{
	const char *reason = "";
	struct decoder *decoder = NULL;
	const struct decoder_info *info = NULL;
	bool done = false;

	counts_begin();
	if (decoder_open(NULL, reader, file, &decoder, &reason) < 0) {
		(void)fprintf(stderr, "%s: %s\n", file, reason);
		return false;
	}
	info = decoder->ops->info(decoder);
	/* The rest of the file; reading has begun in DIRECT mode. */
	if (info->spec.channels <= CHANNELS &&
	    reader_fill(reader->ring, reader->source, RING_BYTES) == 0 &&
	    reader_fill(reader->ring, reader->source, RING_BYTES) == 0) {
		reader_set_ring_mode(reader);
		done = decode_frames(
			decoder, WARM_SECONDS * (uint64_t)info->spec.rate_hz);
		begin_steady();
		done = done &&
		       decode_frames(decoder, seconds * info->spec.rate_hz);
		counts_end();
	}
	decoder_destroy(decoder);
	return done;
}

static int
decode_file(const char *file, uint64_t seconds)
{
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	void *buffer = malloc(RING_BYTES);
	struct source *source = NULL;
	struct byte_ring ring;
	struct reader reader;
	bool done = false;

	if (fd < 0 || buffer == NULL || source_open_fd(fd, &source) < 0) {
		perror(file);
		free(buffer);
		return 2;
	}
	byte_ring_init(&ring, buffer, RING_BYTES);
	reader_init(&reader, &ring, source);
	done = decode(&reader, file, seconds);
	source_close(source);
	free(buffer);
	return done ? 0 : 1;
}

static void
resample_frames(struct resampler *resampler, uint64_t wanted)
{
	while (wanted > 0) {
		size_t taken = 0;
		size_t given = 0;

		resampler_process(resampler, samples, RESAMPLE_CHUNK_FRAMES,
				  resampled, RESAMPLE_CHUNK_FRAMES, &taken,
				  &given);
		wanted -= taken < wanted ? taken : wanted;
	}
}

static int
resample(uint32_t in_hz, uint32_t out_hz, uint64_t seconds)
{
	struct resampler *resampler = NULL;
	size_t i;

	for (i = 0; i < RESAMPLE_CHUNK_FRAMES * CHANNELS; i++)
		samples[i] = (float)(i * 2654435761U % 65536) / 65536 - 0.5F;
	counts_begin();
	if (resampler_create(NULL, in_hz, out_hz, CHANNELS, RESAMPLE_HIGH,
			     &resampler) < 0)
		return 2;
	resample_frames(resampler, WARM_SECONDS * (uint64_t)in_hz);
	begin_steady();
	resample_frames(resampler, seconds * in_hz);
	counts_end();
	resampler_destroy(resampler);
	return 0;
}

int
main(int argc, char **argv)
{
	int result = 2;

	if (argc == 5 && strcmp(argv[1], "--resample") == 0)
		result = resample((uint32_t)strtoul(argv[2], NULL, 10),
				  (uint32_t)strtoul(argv[3], NULL, 10),
				  strtoull(argv[4], NULL, 10));
	else if (argc == 3)
		result = decode_file(argv[1], strtoull(argv[2], NULL, 10));
	else
		(void)fprintf(stderr, "decoder_calls FILE SECONDS | "
				      "--resample IN_HZ OUT_HZ SECONDS\n");
	counts_print("steady");
	return result;
}

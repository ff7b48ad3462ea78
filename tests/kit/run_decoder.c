/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_decoder.c - decodes a file by our decoders, for tests and by hand.
 *
 *   run_decoder [--info] [--tags] [--scraps SEED] [--seek FRAME] FILE
 *
 * Writes raw PCM (s32le or f32le, interleaved) to stdout, all links of a chain
 * one after the other; --info writes what was found to stderr instead, a line
 * a link. With --scraps the decoder is given a small ring in RING mode, filled
 * with 1 to 3,000 bytes at a time. Exit: 0, 1 (refused, with the reason), 2. */
#include "daemon/decode/decoder.h"
#include "daemon/decode/reader.h"
#include "daemon/source/source.h"
#include "lib/sync/byte_ring.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RING_BYTES = 1 << 20,
	SMALL_RING_BYTES = 4096,
	SCRAP_BYTES_MAX = 3000,
	FRAMES_A_CALL = 4096,
	LINKS_MAX = 1000,
	STEPS_WITHOUT_SOUND_MAX = 10 * 1000 * 1000,
};

struct options {
	const char *file;
	bool info;
	bool tags;
	bool scraps;
	bool seek;
	uint32_t seed;
	uint64_t frame;
};

struct run {
	const struct options *options;
	struct byte_ring ring;
	struct source *source;
	struct reader reader;
	uint32_t seed;
	uint64_t frames;
};

static uint32_t
next_random(struct run *run)
{
	run->seed = run->seed * 1664525U + 1013904223U;
	return run->seed >> 8;
}

static bool
feed(struct run *run)
{
	const size_t scrap = 1 + next_random(run) % SCRAP_BYTES_MAX;

	return reader_fill(&run->ring, run->source, scrap) == 0;
}

static void
print_tag(void *context, const char *name, const char *value,
	  size_t value_length)
{
	(void)context;
	(void)fprintf(stderr, "%s=%.*s\n", name, (int)value_length, value);
}

static void
print_info(const struct run *run, const struct decoder *decoder,
	   enum decode_status status)
{
	static const char *const names[] = {"ok", "starved", "end", "link",
					    "error"};
	const struct decoder_info *info = decoder->ops->info(decoder);

	(void)fprintf(
		stderr,
		"%s rate=%u channels=%u kind=%s bits=%u frames=%" PRIu64
		" played=%" PRIu64 " gap=%" PRIu64 " bitrate=%u status=%s\n",
		decoder->ops->name, info->spec.rate_hz, info->spec.channels,
		info->spec.kind == SAMPLE_S32 ? "s32" : "f32", info->spec.bits,
		info->frames, run->frames, info->gap_frames, info->bitrate_bps,
		names[status]);
}

static enum decode_status
decode_all(struct run *run, struct decoder *decoder)
{
	const uint32_t channels = decoder->ops->info(decoder)->spec.channels;
	uint32_t *samples = malloc((size_t)FRAMES_A_CALL * channels * 4);
	enum decode_status status = DECODE_OK;
	long silent_steps = 0;

	if (samples == NULL)
		return DECODE_ERROR;
	while (status == DECODE_OK || status == DECODE_STARVED) {
		size_t frames = 0;

		status = decoder->ops->decode(decoder, samples, FRAMES_A_CALL,
					      &frames);
		if (status == DECODE_STARVED && !feed(run))
			status = DECODE_ERROR;
		silent_steps = frames > 0 ? 0 : silent_steps + 1;
		if (silent_steps > STEPS_WITHOUT_SOUND_MAX) {
			(void)fprintf(stderr, "it hangs\n");
			status = DECODE_ERROR;
		}
		run->frames += frames;
		if (!run->options->info)
			(void)fwrite(samples, (size_t)channels * 4, frames,
				     stdout);
	}
	free(samples);
	return status;
}

/* Plays the link at offset. Returns how it ended. */
static enum decode_status
play_link(struct run *run, uint64_t offset, uint64_t *ret_next)
{
	const char *reason = "the source failed";
	struct decoder *decoder = NULL;
	enum decode_status status;

	byte_ring_reset(&run->ring);
	if (source_seek(run->source, offset) < 0)
		return DECODE_ERROR;
	reader_init(&run->reader, &run->ring, run->source);
	if (decoder_open(NULL, &run->reader, run->options->file, &decoder,
			 &reason) < 0) {
		(void)fprintf(stderr, "%s: %s\n", run->options->file, reason);
		return DECODE_ERROR;
	}
	if (run->options->tags)
		(void)decoder->ops->tags(decoder, print_tag, NULL);
	if (run->options->seek &&
	    decoder->ops->seek(decoder, run->options->frame) < 0)
		(void)fprintf(stderr, "seek failed\n");
	if (run->options->scraps)
		reader_set_ring_mode(&run->reader);
	run->frames = 0;
	status = decode_all(run, decoder);
	*ret_next = decoder->ops->info(decoder)->link_offset;
	if (run->options->info)
		print_info(run, decoder, status);
	decoder_destroy(decoder);
	return status;
}

static int
play(const struct options *options)
{
	const size_t capacity = options->scraps ? SMALL_RING_BYTES : RING_BYTES;
	struct run run = {.options = options, .seed = options->seed};
	void *buffer = malloc(capacity);
	enum decode_status status = DECODE_LINK;
	uint64_t offset = 0;
	const int fd = open(options->file, O_RDONLY | O_CLOEXEC);
	int links = 0;

	if (buffer == NULL || fd < 0 || source_open_fd(fd, &run.source) < 0) {
		perror(options->file);
		free(buffer);
		return 2;
	}
	byte_ring_init(&run.ring, buffer, capacity);
	while (status == DECODE_LINK && links++ < LINKS_MAX)
		status = play_link(&run, offset, &offset);
	source_close(run.source);
	free(buffer);
	return status == DECODE_END ? 0 : 1;
}

int
main(int argc, char **argv)
{
	struct options options = {0};

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--info") == 0) {
			options.info = true;
		} else if (strcmp(argv[i], "--tags") == 0) {
			options.tags = true;
		} else if (strcmp(argv[i], "--scraps") == 0 && i + 1 < argc) {
			options.scraps = true;
			options.seed = (uint32_t)strtoul(argv[++i], NULL, 10);
		} else if (strcmp(argv[i], "--seek") == 0 && i + 1 < argc) {
			options.seek = true;
			options.frame = strtoull(argv[++i], NULL, 10);
		} else {
			options.file = argv[i];
		}
	}
	if (options.file == NULL) {
		(void)fprintf(stderr, "run_decoder [--info] [--tags] "
				      "[--scraps SEED] [--seek FRAME] FILE\n");
		return 2;
	}
	return play(&options);
}

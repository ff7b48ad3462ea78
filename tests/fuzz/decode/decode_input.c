/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/decode/decode_input.h"

#include "daemon/decode/decoder.h"
#include "daemon/decode/reader.h"
#include "daemon/source/source.h"
#include "lib/sync/byte_ring.h"
#include "tests/kit/dice.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	RING_BYTES = 32 << 10,
	SMALL_RING_BYTES = 2048,
	SCRAP_BYTES_MAX = 3000,
	FRAMES_A_CALL = 512,
	STEPS_MAX = 20000, /* of sound, which silence can make endless */
	IDLE_STEPS_MAX = 1000 * 1000,
	SEEKS = 3,
};

struct input {
	struct source *source;
	struct byte_ring ring;
	struct reader reader;
	struct dice dice;
};

static uint8_t ring_buffer[RING_BYTES];

static void
require(bool good)
{
	if (!good)
		abort();
}

static struct source *
make_source(const uint8_t *data, size_t size)
{
	struct source *source = NULL;
	const int fd = memfd_create("input", MFD_CLOEXEC);

	require(fd >= 0);
	require(size == 0 || write(fd, data, size) == (ssize_t)size);
	require(source_open_fd(fd, &source) == 0);
	return source;
}

static void
see_tag(void *context, const char *name, const char *value, size_t length)
{
	(void)context;
	require(name[0] != '\0' && strlen(value) <= length);
}

/* Decodes to the end, or until it was enough. */
static void
run(struct input *input, struct decoder *decoder)
{
	const uint32_t channels = decoder->ops->info(decoder)->spec.channels;
	static uint32_t samples[FRAMES_A_CALL * AUDIO_CHANNELS_MAX];
	enum decode_status status = DECODE_OK;
	int idle = 0;

	for (int step = 0; step < STEPS_MAX;) {
		size_t frames = 0;

		status = decoder->ops->decode(decoder, samples, FRAMES_A_CALL,
					      &frames);
		require(frames <= FRAMES_A_CALL);
		require(decoder->ops->info(decoder)->spec.channels == channels);
		if (status == DECODE_STARVED)
			require(reader_fill(&input->ring, input->source,
					    1 + dice_roll(&input->dice,
							  SCRAP_BYTES_MAX)) ==
				0);
		else if (status != DECODE_OK)
			break;
		step += frames > 0;
		idle = frames > 0 ? 0 : idle + 1;
		require(idle < IDLE_STEPS_MAX);
	}
	if (status == DECODE_LINK)
		require(decoder->ops->info(decoder)->link_offset > 0);
}

static struct decoder *
open_input(struct input *input, size_t ring_bytes)
{
	struct decoder *decoder = NULL;
	const char *reason = NULL;

	require(source_seek(input->source, 0) == 0);
	byte_ring_init(&input->ring, ring_buffer, ring_bytes);
	reader_init(&input->reader, &input->ring, input->source);
	if (decoder_open(NULL, &input->reader, "x.flac", &decoder, &reason) !=
	    0)
		require(decoder == NULL && reason != NULL);
	else
		require(audio_spec_valid(&decoder->ops->info(decoder)->spec));
	return decoder;
}

void
decode_input(const uint8_t *data, size_t size)
{
	struct input input = {.dice = dice_seeded(size)};
	struct decoder *decoder;

	for (size_t i = 0; i < size; i++)
		input.dice.state = input.dice.state * 31 + data[i] + 1;
	input.source = make_source(data, size);
	decoder = open_input(&input, RING_BYTES);
	if (decoder != NULL) {
		const uint64_t frames = decoder->ops->info(decoder)->frames;

		(void)decoder->ops->tags(decoder, see_tag, NULL);
		run(&input, decoder);
		for (int i = 0; i < SEEKS; i++) {
			const uint64_t frame = dice_roll(
				&input.dice, frames > 0 && frames < 100000
						     ? (uint32_t)frames + 2
						     : 100000);

			if (decoder->ops->seek(decoder, frame) == 0)
				run(&input, decoder);
		}
		(void)decoder->ops->seek(decoder, UINT64_MAX);
		run(&input, decoder);
		decoder_destroy(decoder);
		decoder = open_input(&input, SMALL_RING_BYTES);
		require(decoder != NULL);
		reader_set_ring_mode(&input.reader);
		run(&input, decoder);
		decoder_destroy(decoder);
	}
	source_close(input.source);
}

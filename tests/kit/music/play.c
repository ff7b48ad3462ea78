/* SPDX-License-Identifier: GPL-3.0-or-later */
/* play.c - a decoder over a file in memory, by way of a real source. */
#include "tests/kit/music/music.h"

#include "daemon/decode/reader.h"
#include "daemon/source/source.h"
#include "lib/base/alloc.h"
#include "lib/sync/byte_ring.h"
#include "tests/kit/dice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SCRAP_BYTES_MAX = 3000,
	SILENT_STEPS_MAX = 1000 * 1000,
	FRAMES_A_CALL = 1000,
};

static void
require(bool good)
{
	if (!good)
		abort();
}

int
player_open(struct player *player, const struct bytes *file, uint64_t offset,
	    size_t ring_bytes, struct allocator *allocator)
{
	void *buffer;
	int error;

	if (ring_bytes == 0)
		ring_bytes = PLAYER_RING_BYTES;
	*player = (struct player){.file = file, .scrap_max = SCRAP_BYTES_MAX};
	player->fd = memfd_create("music", MFD_CLOEXEC);
	require(player->fd >= 0);
	for (size_t done = 0; done < file->length;) {
		const ssize_t count = write(player->fd, file->data + done,
					    file->length - done);

		require(count > 0);
		done += (size_t)count;
	}
	require(source_open_fd(player->fd, &player->source) == 0);
	require(source_seek(player->source, offset) == 0);
	player->ring =
		allocator_new_aligned(NULL, sizeof(*player->ring), CACHE_LINE);
	player->reader = calloc(1, sizeof(*player->reader));
	buffer = malloc(ring_bytes);
	require(player->ring != NULL && player->reader != NULL &&
		buffer != NULL);
	byte_ring_init(player->ring, buffer, ring_bytes);
	reader_init(player->reader, player->ring, player->source);
	error = decoder_open(allocator, player->reader, "music.flac",
			     &player->decoder, &player->reason);
	require((error == 0) == (player->decoder != NULL));
	require(error == 0 || player->reason != NULL);
	return error;
}

void
player_go_to_scraps(struct player *player, uint64_t seed)
{
	player->seed = seed + 1;
	reader_set_ring_mode(player->reader);
}

enum decode_status
player_decode(struct player *player, uint32_t capacity,
	      struct bytes *ret_samples)
{
	struct decoder *decoder = player->decoder;
	const size_t frame_bytes =
		decoder->ops->info(decoder)->spec.channels * sizeof(uint32_t);
	struct dice dice = dice_seeded(player->seed);
	void *samples = malloc(capacity * frame_bytes);
	long silent_steps = 0;

	require(samples != NULL);
	for (;;) {
		size_t frames = 0;
		const enum decode_status status = decoder->ops->decode(
			decoder, samples, capacity, &frames);

		require(frames <= capacity);
		require(status == DECODE_OK || frames == 0);
		bytes_append(ret_samples, samples, frames * frame_bytes);
		silent_steps = frames > 0 ? 0 : silent_steps + 1;
		require(silent_steps < SILENT_STEPS_MAX); /* it hangs */
		if (status == DECODE_STARVED) {
			require(player->seed != 0);
			require(reader_fill(player->ring, player->source,
					    1 + dice_roll(&dice,
							  player->scrap_max)) ==
				0);
		} else if (status != DECODE_OK) {
			free(samples);
			return status;
		}
	}
}

void
player_close(struct player *player)
{
	decoder_destroy(player->decoder);
	source_close(player->source);
	free(player->ring->buffer);
	allocator_delete(NULL, player->ring);
	free(player->reader);
}

enum decode_status
play(const struct bytes *file, struct bytes *ret_samples,
     struct decoder_info *ret_info)
{
	struct player player;
	enum decode_status status = DECODE_ERROR;

	if (player_open(&player, file, 0, 0, NULL) == 0) {
		status = player_decode(&player, FRAMES_A_CALL, ret_samples);
		if (ret_info != NULL)
			*ret_info = *player.decoder->ops->info(player.decoder);
	}
	player_close(&player);
	return status;
}

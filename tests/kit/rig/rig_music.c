/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rig_music.c - the rig's music: files of samples that a function tells, and
 * what of it the wav output holds. */
#include "tests/kit/crew.h"
#include "tests/kit/rig/rig.h"

#include <FLAC/stream_encoder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A 16-bit sample of the song, never silent for long. */
int16_t
rig_sample(unsigned seed, uint64_t frame, unsigned channel)
{
	uint64_t hash = (frame + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * 77 +
			channel * 1013;

	hash ^= hash >> 29;
	hash *= UINT64_C(0xbf58476d1ce4e5b9);
	hash ^= hash >> 32;
	return (int16_t)((int)(hash % 16384) - 8192);
}

void
rig_path(const struct rig *rig, const char *name, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s/%s", rig->folder, name);
}

void
rig_write(const struct rig *rig, const char *name, const void *bytes,
	  size_t length)
{
	char path[160];
	FILE *file;

	rig_path(rig, name, path, sizeof(path));
	file = fopen(path, "wb");
	crew_check(file != NULL);
	crew_check(fwrite(bytes, 1, length, file) == length);
	crew_check(fclose(file) == 0);
}

/* level 0: noise. */
static void
make_flac(const struct rig *rig, const struct rig_song *song, int16_t level)
{
	FLAC__StreamEncoder *encoder = FLAC__stream_encoder_new();
	FLAC__int32 block[64 * 8];
	char path[160];
	uint32_t done = 0;

	rig_path(rig, song->name, path, sizeof(path));
	crew_check(encoder != NULL);
	FLAC__stream_encoder_set_channels(encoder, song->channels);
	FLAC__stream_encoder_set_bits_per_sample(encoder, 16);
	FLAC__stream_encoder_set_sample_rate(encoder, song->rate_hz);
	FLAC__stream_encoder_set_compression_level(encoder, 0);
	FLAC__stream_encoder_set_total_samples_estimate(encoder, song->frames);
	crew_check(FLAC__stream_encoder_init_file(encoder, path, NULL, NULL) ==
		   FLAC__STREAM_ENCODER_INIT_STATUS_OK);
	while (done < song->frames) {
		uint32_t count = song->frames - done, i;

		count = count < 64 ? count : 64;
		for (i = 0; i < count * song->channels; i++)
			block[i] =
				level != 0
					? level
					: rig_sample(song->seed,
						     done + i / song->channels,
						     i % song->channels);
		crew_check(FLAC__stream_encoder_process_interleaved(
			encoder, block, count));
		done += count;
	}
	crew_check(FLAC__stream_encoder_finish(encoder));
	FLAC__stream_encoder_delete(encoder);
}

void
rig_make_flac(const struct rig *rig, const struct rig_song *song)
{
	make_flac(rig, song, 0);
}

/* STREAMINFO, which comes first, tells the length in 36 bits. */
void
rig_make_level(const struct rig *rig, const struct rig_song *song,
	       int16_t level, uint64_t told)
{
	enum { AT = 8 + 13, BYTES = 5 };
	uint8_t bytes[BYTES];
	char path[160];
	FILE *file;
	int i;

	make_flac(rig, song, level);
	rig_path(rig, song->name, path, sizeof(path));
	file = fopen(path, "r+b");
	crew_check(file != NULL && fseek(file, AT, SEEK_SET) == 0 &&
		   fread(bytes, 1, BYTES, file) == BYTES);
	bytes[0] = (uint8_t)((bytes[0] & 0xf0) | ((told >> 32) & 0x0f));
	for (i = 1; i < BYTES; i++)
		bytes[i] = (uint8_t)(told >> (32 - 8 * i));
	crew_check(fseek(file, AT, SEEK_SET) == 0 &&
		   fwrite(bytes, 1, BYTES, file) == BYTES);
	crew_check(fclose(file) == 0);
}

/* A stereo song at RIG_RATE. */
void
rig_make(const struct rig *rig, const char *name, unsigned seed,
	 uint32_t frames)
{
	const struct rig_song song = {name, seed, frames, RIG_RATE, 2};

	rig_make_flac(rig, &song);
}

static uint32_t
le(const uint8_t *bytes, unsigned count)
{
	uint32_t value = 0;

	while (count-- > 0)
		value = value << 8 | bytes[count];
	return value;
}

/* Frees what it makes them of. */
static float *
floats_of_24(uint8_t *bytes, size_t count)
{
	float *floats = malloc((count + 1) * sizeof(*floats));

	crew_check(floats != NULL);
	for (size_t i = 0; i < count; i++)
		floats[i] =
			(float)(int32_t)(le(bytes + 3 * i, 3) << 8) * 0x1p-31F;
	free(bytes);
	return floats;
}

void
rig_read_wav(const char *path, struct rig_wav *ret_wav)
{
	FILE *file = fopen(path, "rb");
	uint8_t head[12], chunk[8], format[40] = {0};
	void *content;
	size_t bytes;

	memset(ret_wav, 0, sizeof(*ret_wav));
	if (file == NULL)
		abort();
	crew_check(fread(head, 1, 12, file) == 12);
	while (fread(chunk, 1, 8, file) == 8 && memcmp(chunk, "data", 4) != 0) {
		const uint32_t length = le(chunk + 4, 4);

		if (memcmp(chunk, "fmt ", 4) == 0 && length <= sizeof(format))
			crew_check(fread(format, 1, length, file) == length);
		else
			fseek(file, length, SEEK_CUR);
	}
	ret_wav->channels = le(format + 2, 2);
	ret_wav->rate_hz = le(format + 4, 4);
	ret_wav->bits = le(format + 14, 2);
	bytes = le(chunk + 4, 4);
	content = malloc(bytes + 1);
	crew_check(content != NULL);
	crew_check(fread(content, 1, bytes, file) == bytes);
	fclose(file);
	ret_wav->frames = bytes / (ret_wav->bits / 8) / ret_wav->channels;
	if (ret_wav->bits == 16)
		ret_wav->samples = content;
	else if (ret_wav->bits == 32)
		ret_wav->floats = content;
	else
		ret_wav->floats = floats_of_24(content, bytes / 3);
}

/* The first frame at which the wav, from at on, differs from the song from
 * song_frame on; frames when none does. */
size_t
rig_same(const struct rig_wav *wav, size_t at, unsigned seed,
	 uint64_t song_frame, size_t frames)
{
	size_t i;
	uint32_t c;

	for (i = 0; i < frames; i++) {
		if (at + i >= wav->frames)
			return i;
		for (c = 0; c < wav->channels; c++)
			if (wav->samples[(at + i) * wav->channels + c] !=
			    rig_sample(seed, song_frame + i, c))
				return i;
	}
	return frames;
}

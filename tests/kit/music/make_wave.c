/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_wave.c - PCM files of all kinds by libsndfile, into memory. What is
 * expected of companded samples is what libsndfile itself reads back. */
#include "tests/kit/music/music.h"

#include <sndfile.h>

#include <stdlib.h>
#include <string.h>

struct tape {
	struct bytes *file;
	size_t at;
};

static void
require(bool good)
{
	if (!good)
		abort();
}

static sf_count_t
tape_length(void *context)
{
	return (sf_count_t)((struct tape *)context)->file->length;
}

static sf_count_t
tape_tell(void *context)
{
	return (sf_count_t)((struct tape *)context)->at;
}

static sf_count_t
tape_seek(sf_count_t offset, int whence, void *context)
{
	struct tape *tape = context;

	if (whence == SEEK_CUR)
		offset += (sf_count_t)tape->at;
	else if (whence == SEEK_END)
		offset += (sf_count_t)tape->file->length;
	require(offset >= 0);
	tape->at = (size_t)offset;
	return offset;
}

static sf_count_t
tape_read(void *bytes, sf_count_t length, void *context)
{
	struct tape *tape = context;
	const size_t left = tape->at < tape->file->length
				    ? tape->file->length - tape->at
				    : 0;
	const size_t count = (size_t)length < left ? (size_t)length : left;

	memcpy(bytes, tape->file->data + tape->at, count);
	tape->at += count;
	return (sf_count_t)count;
}

static sf_count_t
tape_write(const void *bytes, sf_count_t length, void *context)
{
	struct tape *tape = context;
	const size_t end = tape->at + (size_t)length;

	if (end > tape->file->length)
		bytes_append(tape->file, NULL, end - tape->file->length);
	memcpy(tape->file->data + tape->at, bytes, (size_t)length);
	tape->at = end;
	return length;
}

static SNDFILE *
open_tape(struct tape *tape, int mode, SF_INFO *info)
{
	SF_VIRTUAL_IO io = {tape_length, tape_seek, tape_read, tape_write,
			    tape_tell};
	SNDFILE *file = sf_open_virtual(&io, mode, info, tape);

	require(file != NULL);
	return file;
}

static uint32_t
bits_of(int format)
{
	switch (format & SF_FORMAT_SUBMASK) {
	case SF_FORMAT_PCM_S8:
	case SF_FORMAT_PCM_U8:
		return 8;
	case SF_FORMAT_PCM_24:
		return 24;
	case SF_FORMAT_PCM_32:
		return 32;
	default:
		return 16;
	}
}

static void
write_floats(const struct recipe *recipe, SNDFILE *file,
	     struct bytes *ret_samples)
{
	float frame[AUDIO_CHANNELS_MAX];

	for (uint32_t i = 0; i < recipe->frames; i++) {
		for (uint32_t c = 0; c < recipe->channels; c++)
			frame[c] = music_sample(recipe, i, c);
		require(sf_writef_float(file, frame, 1) == 1);
		if (ret_samples != NULL)
			bytes_append(ret_samples, frame,
				     recipe->channels * sizeof(float));
	}
}

static void
write_integers(const struct recipe *recipe, SNDFILE *file, uint32_t bits,
	       struct bytes *ret_samples)
{
	int frame[AUDIO_CHANNELS_MAX];

	for (uint32_t i = 0; i < recipe->frames; i++) {
		for (uint32_t c = 0; c < recipe->channels; c++) {
			const double sample =
				(double)music_sample(recipe, i, c) * 0x1p31;

			frame[c] = (int)((uint32_t)(int)sample >>
					 (32 - bits) << (32 - bits));
		}
		require(sf_writef_int(file, frame, 1) == 1);
		if (ret_samples != NULL)
			bytes_append(ret_samples, frame,
				     recipe->channels * sizeof(int));
	}
}

static void
read_back(const struct recipe *recipe, struct tape *tape,
	  struct bytes *ret_samples)
{
	int frame[AUDIO_CHANNELS_MAX];
	SF_INFO info = {0};
	SNDFILE *file;

	tape->at = 0;
	file = open_tape(tape, SFM_READ, &info);
	while (sf_readf_int(file, frame, 1) == 1)
		bytes_append(ret_samples, frame,
			     recipe->channels * sizeof(int));
	sf_close(file);
}

void
make_wave(const struct recipe *recipe, int format, struct bytes *ret_file,
	  struct bytes *ret_samples)
{
	const int coding = format & SF_FORMAT_SUBMASK;
	const bool floats =
		coding == SF_FORMAT_FLOAT || coding == SF_FORMAT_DOUBLE;
	const bool companded =
		coding == SF_FORMAT_ALAW || coding == SF_FORMAT_ULAW;
	struct tape tape = {.file = ret_file};
	SF_INFO info = {
		.samplerate = (int)recipe->rate_hz,
		.channels = (int)recipe->channels,
		.format = format,
	};
	SNDFILE *file;

	require(ret_file->length == 0);
	file = open_tape(&tape, SFM_WRITE, &info);
	if (floats)
		write_floats(recipe, file, ret_samples);
	else
		write_integers(recipe, file, bits_of(format),
			       companded ? NULL : ret_samples);
	sf_close(file);
	if (companded && ret_samples != NULL)
		read_back(recipe, &tape, ret_samples);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* music.h - small files of music, made in memory by the reference encoders,
 * and what our decoders make of them. Any failure of the kit itself aborts:
 * a test that could not be made is no test. One thread. */
#ifndef ROTARY_KIT_MUSIC_H
#define ROTARY_KIT_MUSIC_H

#include "daemon/decode/decoder.h"

struct allocator;

struct bytes {
	uint8_t *data;
	size_t length;
	size_t capacity;
};

void bytes_append(struct bytes *bytes, const void *data, size_t length);
void bytes_cut(struct bytes *bytes, size_t from, size_t length);
void bytes_copy(struct bytes *to, const struct bytes *from);
void bytes_finish(struct bytes *bytes);

struct recipe {
	uint32_t rate_hz;
	uint32_t channels;
	uint32_t bits;   /* FLAC only */
	uint32_t frames; /* in all */
	float quality;   /* Vorbis only, up to 1; 0: as usual */
	uint32_t block;  /* FLAC only; 0: the encoder's choice */
	uint64_t seed;
	double tone_hz;     /* not 0: music_tone() instead of music_sample() */
	int serial;         /* Ogg only */
	bool ogg;           /* FLAC only */
	bool unknown_total; /* FLAC only */
	const char *const *tags; /* "NAME", "value", ..., NULL; or NULL; not
				    in make_wave() */
};

/* A voice, or a chord and some noise: what an encoder has to work for. Samples
 * of channel c are told from those of others. In -1..1. */
float music_sample(const struct recipe *recipe, uint64_t frame,
		   uint32_t channel);

/* A plain tone of half of full scale, all channels alike, that begins in the
 * middle of a period: so a whole number of periods joins on to itself. */
float music_tone(const struct recipe *recipe, uint64_t frame);

/* Adds a file to ret_file; ret_samples, if not NULL, gets the frames as a
 * decoder should give them: S32, left-justified. */
void make_flac(const struct recipe *recipe, struct bytes *ret_file,
	       struct bytes *ret_samples);
/* The place of the first frame in a native file of make_flac(). */
size_t flac_audio_of(const struct bytes *file);
void make_vorbis(const struct recipe *recipe, struct bytes *ret_file);
/* By libsndfile: format is one of its SF_FORMAT_ words. ret_samples, if not
 * NULL, gets the frames as a decoder should give them. */
void make_wave(const struct recipe *recipe, int format, struct bytes *ret_file,
	       struct bytes *ret_samples);
/* What libvorbisfile gives for a file, in the order of Vorbis: floats. */
void vorbisfile_decode(const struct bytes *file, struct bytes *ret_samples);

/* A decoder at work on bytes in memory. */
struct player {
	const struct bytes *file;
	int fd;
	struct source *source;
	struct byte_ring *ring;
	struct reader *reader;
	struct decoder *decoder;
	const char *reason;
	uint64_t seed; /* of the scraps */
	uint32_t scrap_max;
};

enum { PLAYER_RING_BYTES = 64 << 10 };

/* Opens the file at offset. 0 or decoder_open()'s error. ring_bytes 0: the
 * usual. */
int player_open(struct player *player, const struct bytes *file,
		uint64_t offset, size_t ring_bytes,
		struct allocator *allocator);
/* From now on RING mode, 1 to 3,000 bytes at a time. */
void player_go_to_scraps(struct player *player, uint64_t seed);
/* Decodes until it ends, capacity frames a call; adds the frames. Aborts when
 * it hangs. */
enum decode_status player_decode(struct player *player, uint32_t capacity,
				 struct bytes *ret_samples);
void player_close(struct player *player);

/* The whole: open, decode, close; DECODE_ERROR if it doesn't open. */
enum decode_status play(const struct bytes *file, struct bytes *ret_samples,
			struct decoder_info *ret_info);

#endif

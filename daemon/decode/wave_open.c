/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wave_open.c - the header of a PCM file, as libsndfile understands it.
 *
 * libsndfile reads the file through a view (wave_view.h). It tells rate,
 * channels, length and coding. Where the frames begin it does not tell, but
 * shows: told to seek to frame 0, it seeks the view there.
 *
 * A data chunk of size 0 is one that was never finished, unless chunks follow:
 * then what is there up to the file's end are its frames. */
#include "daemon/decode/wave.h"

#include "daemon/decode/sndfile_module.h"
#include "daemon/decode/wave_view.h"
#include "lib/base/alloc.h"

#include <errno.h>
#include <string.h>

enum {
	WINDOW_BYTES = 32 << 10,
	MAGIC_BYTES = 12,
	CHUNK_HEAD_BYTES = 8,
	CHUNKS_MAX = 64,
	FORMAT_BYTES = 16, /* of the chunk, at least */
	FORMAT_CHUNK_BYTES = 256,
};

bool
wave_knows(const uint8_t *head, size_t length)
{
	static const uint8_t w64[MAGIC_BYTES] = {'r',  'i',  'f',  'f',
						 0x2e, 0x91, 0xcf, 0x11,
						 0xa5, 0xd6, 0x28, 0xdb};
	static const char *const riffs[] = {"RIFF", "RIFX", "RF64", "BW64"};

	if (length < MAGIC_BYTES)
		return false;
	for (size_t i = 0; i < sizeof(riffs) / sizeof(riffs[0]); i++)
		if (memcmp(head, riffs[i], 4) == 0)
			return memcmp(head + 8, "WAVE", 4) == 0;
	if (memcmp(head, "FORM", 4) == 0)
		return memcmp(head + 8, "AIFF", 4) == 0 ||
		       memcmp(head + 8, "AIFC", 4) == 0;
	return memcmp(head, w64, sizeof(w64)) == 0 ||
	       memcmp(head, ".snd", 4) == 0 || memcmp(head, "dns.", 4) == 0 ||
	       (memcmp(head, "caff", 4) == 0 && head[4] == 0);
}

/* From libsndfile's coding to ours. 0, -EPROTONOSUPPORT. */
static int
find_layout(struct wave *wave, int format, bool swapped)
{
	static const struct {
		int format;
		struct pcm_layout layout;
		uint32_t bits;
	} known[] = {
		{SF_FORMAT_PCM_S8, {PCM_SIGNED, 1, false}, 8},
		{SF_FORMAT_PCM_U8, {PCM_UNSIGNED, 1, false}, 8},
		{SF_FORMAT_PCM_16, {PCM_SIGNED, 2, false}, 16},
		{SF_FORMAT_PCM_24, {PCM_SIGNED, 3, false}, 24},
		{SF_FORMAT_PCM_32, {PCM_SIGNED, 4, false}, 32},
		{SF_FORMAT_FLOAT, {PCM_FLOAT, 4, false}, 0},
		{SF_FORMAT_DOUBLE, {PCM_FLOAT, 8, false}, 0},
		{SF_FORMAT_ALAW, {PCM_ALAW, 1, false}, 16},
		{SF_FORMAT_ULAW, {PCM_ULAW, 1, false}, 16},
	};
	const uint16_t one = 1;
	const bool machine_is_big = *(const uint8_t *)&one == 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].format != (format & SF_FORMAT_SUBMASK))
			continue;
		wave->layout = known[i].layout;
		wave->layout.big_endian = swapped != machine_is_big;
		wave->info.spec.kind = pcm_layout_kind(&wave->layout);
		wave->info.spec.bits = known[i].bits;
		return 0;
	}
	return -EPROTONOSUPPORT;
}

/* The first bytes of a chunk; returns how many there are of it. */
static size_t
read_chunk(const struct sndfile_module *module, SNDFILE *file, const char *id,
	   uint8_t ret_bytes[FORMAT_CHUNK_BYTES])
{
	SF_CHUNK_INFO info = {.id_size = 4};
	SF_CHUNK_ITERATOR *chunk = NULL;

	memcpy(info.id, id, 4);
	chunk = module->chunk(file, &info);
	if (chunk == NULL || module->chunk_size(chunk, &info) != 0 ||
	    info.datalen > FORMAT_CHUNK_BYTES)
		return 0;
	info.data = ret_bytes;
	return module->chunk_data(chunk, &info) == 0 ? info.datalen : 0;
}

/* Integers may have fewer bits than their bytes hold, at their low end: 20 or
 * 24 in what is the next size up. Only the chunk itself says so. */
static void
find_valid_bits(struct wave *wave, const struct sndfile_module *module,
		SNDFILE *file)
{
	const uint32_t most = 8 * wave->layout.bytes;
	uint8_t chunk[FORMAT_CHUNK_BYTES] = {0};
	size_t length = 0;
	uint32_t bits = 0;

	if (wave->layout.code != PCM_SIGNED)
		return;
	length = read_chunk(module, file, "fmt ", chunk);
	if (length >= FORMAT_BYTES) {
		const bool big = wave->layout.big_endian;
		const uint32_t tag = big ? (uint32_t)chunk[0] << 8 | chunk[1]
					 : (uint32_t)chunk[1] << 8 | chunk[0];
		/* wBitsPerSample or, where it is extensible,
		 * wValidBitsPerSample. */
		const size_t at = tag == 0xfffe ? 18 : 14;

		if (at + 2 <= length)
			bits = chunk[big ? at + 1 : at];
	} else if (read_chunk(module, file, "COMM", chunk) >= 8) {
		bits = chunk[7];
	}
	if (bits + 8 >= most && bits <= most && bits >= 8)
		wave->info.spec.bits = bits;
}

/* Where the channels are to be heard. */
static void
find_places(struct wave *wave, const struct sndfile_module *module,
	    SNDFILE *file)
{
	static const char *const layouts[] = {"chan", "CHAN"};
	uint8_t chunk[FORMAT_CHUNK_BYTES] = {0};
	size_t length = read_chunk(module, file, "fmt ", chunk);

	wave_place_by_format(wave, chunk, length);
	for (size_t i = 0; i < 2; i++) {
		length = read_chunk(module, file, layouts[i], chunk);
		wave_place_by_layout(wave, chunk, length);
	}
}

/* The head of the chunk at *offset, which moves to the next. False when there
 * is none that could be one. */
static bool
next_chunk(struct wave_view *view, uint64_t *offset,
	   uint8_t ret_head[CHUNK_HEAD_BYTES])
{
	uint64_t bytes = 0;

	view->at = *offset;
	if (wave_view_take(view, ret_head, CHUNK_HEAD_BYTES) < CHUNK_HEAD_BYTES)
		return false;
	for (int i = 0; i < 4; i++) {
		if (ret_head[i] < 0x20 || ret_head[i] > 0x7e)
			return false;
		bytes |= (uint64_t)ret_head[4 + i] << (8 * i);
	}
	*offset += CHUNK_HEAD_BYTES + bytes + bytes % 2;
	return true;
}

/* True when nothing but chunks follow from offset to the end. */
static bool
chunks_follow(struct wave_view *view, uint64_t offset)
{
	uint8_t head[CHUNK_HEAD_BYTES];

	for (int i = 0; i < CHUNKS_MAX && offset + 1 < view->length; i++)
		if (!next_chunk(view, &offset, head) ||
		    offset > view->length + 1)
			return false;
	return offset + 1 >= view->length;
}

/* A WAVE file whose format is none of PCM: libsndfile, which knows some of
 * these, only says that something is wrong with it. */
static bool
is_compressed(struct wave_view *view)
{
	static const uint16_t pcm_tags[] = {1, 3, 6, 7, 0xfffe};
	uint64_t offset = MAGIC_BYTES;
	uint8_t head[CHUNK_HEAD_BYTES];
	uint8_t tag[2];

	view->at = 0;
	if (wave_view_take(view, head, 4) < 4 || memcmp(head, "RIFF", 4) != 0)
		return false;
	for (int i = 0; i < CHUNKS_MAX; i++) {
		const uint64_t body = offset + CHUNK_HEAD_BYTES;

		if (!next_chunk(view, &offset, head))
			return false;
		if (memcmp(head, "fmt ", 4) != 0)
			continue;
		view->at = body;
		if (wave_view_take(view, tag, 2) < 2)
			return false;
		for (size_t k = 0; k < sizeof(pcm_tags) / 2; k++)
			if ((tag[1] << 8 | tag[0]) == pcm_tags[k])
				return false;
		return true;
	}
	return false;
}

/* Where the frames lie and how many there are. 0 or -errno. */
static int
find_frames(struct wave *wave, const struct sndfile_module *module,
	    SNDFILE *file, const SF_INFO *found, struct wave_view *view)
{
	uint64_t data = 0, room = 0;

	view->at = UINT64_MAX;
	if (module->seek(file, 0, SEEK_SET) != 0 || view->at > view->length)
		return -EINVAL;
	data = view->at;
	room = (view->length - data) / wave->frame_bytes;
	wave->info.frames = found->frames > 0 ? (uint64_t)found->frames : 0;
	if (wave->info.frames == 0 &&
	    (found->format & SF_FORMAT_TYPEMASK) != SF_FORMAT_AIFF &&
	    !chunks_follow(view, data))
		wave->info.frames = room;
	if (wave->info.frames > room)
		wave->info.frames = room;
	wave->data = view->base + data;
	return wave->info.frames > 0 ? 0 : -ENODATA;
}

static void
feed_number(struct comments *comments, size_t number)
{
	const uint8_t bytes[] = {(uint8_t)number, (uint8_t)(number >> 8),
				 (uint8_t)(number >> 16),
				 (uint8_t)(number >> 24)};

	comments_feed(comments, bytes, sizeof(bytes));
}

static void
feed_text(struct comments *comments, const char *text)
{
	comments_feed(comments, (const uint8_t *)text, strlen(text));
}

/* The file's strings, under the names that Vorbis comments have. */
static void
keep_strings(struct wave *wave, const struct sndfile_module *module,
	     SNDFILE *file)
{
	static const struct {
		int type;
		const char *name;
	} known[] = {
		{SF_STR_TITLE, "TITLE="},
		{SF_STR_ARTIST, "ARTIST="},
		{SF_STR_ALBUM, "ALBUM="},
		{SF_STR_DATE, "DATE="},
		{SF_STR_TRACKNUMBER, "TRACKNUMBER="},
		{SF_STR_GENRE, "GENRE="},
		{SF_STR_COMMENT, "COMMENT="},
		{SF_STR_COPYRIGHT, "COPYRIGHT="},
		{SF_STR_LICENSE, "LICENSE="},
		{SF_STR_SOFTWARE, "ENCODER="},
	};
	const size_t count = sizeof(known) / sizeof(known[0]);

	comments_begin(&wave->comments);
	feed_number(&wave->comments, 0); /* the vendor's name */
	feed_number(&wave->comments, count);
	for (size_t i = 0; i < count; i++) {
		const char *text = module->string(file, known[i].type);

		if (text == NULL || text[0] == '\0') {
			feed_number(&wave->comments, 0); /* is not kept */
			continue;
		}
		feed_number(&wave->comments,
			    strlen(known[i].name) + strlen(text));
		feed_text(&wave->comments, known[i].name);
		feed_text(&wave->comments, text);
	}
}

static int
understand(struct wave *wave, const struct sndfile_module *module,
	   SNDFILE *file, const SF_INFO *found, struct wave_view *view)
{
	struct decoder_info *info = &wave->info;
	const bool swapped =
		module->command(file, SFC_RAW_DATA_NEEDS_ENDSWAP, NULL, 0) != 0;
	uint64_t bits_a_second = 0;
	int error = find_layout(wave, found->format, swapped);

	if (error < 0)
		return error;
	if (found->channels > AUDIO_CHANNELS_MAX)
		return -ECHRNG;
	if (found->samplerate > AUDIO_RATE_MAX)
		return -ENOTSUP;
	info->spec.rate_hz = (uint32_t)found->samplerate;
	info->spec.channels = (uint32_t)found->channels;
	if (!audio_spec_valid(&info->spec))
		return -EINVAL;
	wave->frame_bytes = wave->layout.bytes * info->spec.channels;
	error = find_frames(wave, module, file, found, view);
	if (error < 0)
		return error;
	find_valid_bits(wave, module, file);
	find_places(wave, module, file);
	keep_strings(wave, module, file);
	bits_a_second = (uint64_t)wave->frame_bytes * 8 * info->spec.rate_hz;
	info->bitrate_bps = bits_a_second < UINT32_MAX ? (uint32_t)bits_a_second
						       : UINT32_MAX;
	return 0;
}

static int
read_header(struct wave *wave, struct wave_view *view)
{
	const struct sndfile_module *module = sndfile_module_load();
	SF_VIRTUAL_IO io = wave_view_io;
	SF_INFO found = {0};
	SNDFILE *file = NULL;
	int error = 0;

	if (module == NULL)
		return -ELIBACC;
	file = module->open(&io, SFM_READ, &found, view);
	if (view->error < 0)
		error = view->error;
	else if (file == NULL)
		error = is_compressed(view) ? -EPROTONOSUPPORT : -EINVAL;
	else
		error = understand(wave, module, file, &found, view);
	if (error == 0 && view->error < 0)
		error = view->error;
	if (file != NULL)
		(void)module->close(file);
	return error;
}

void
wave_destroy(struct decoder *decoder)
{
	struct wave *wave = (struct wave *)decoder;

	if (wave == NULL)
		return;
	window_finish(&wave->window);
	comments_finish(&wave->comments);
	allocator_delete(wave->allocator, wave);
}

int
wave_open(struct allocator *allocator, struct reader *reader,
	  struct decoder **ret_decoder)
{
	struct wave *wave = allocator_new(allocator, sizeof(*wave));
	struct wave_view view;
	int error = 0;

	if (wave == NULL)
		return -ENOMEM;
	wave->base.ops = &decoder_wave;
	wave->allocator = allocator;
	comments_init(&wave->comments, allocator);
	error = wave_view_init(&view, reader);
	if (error == 0)
		error = read_header(wave, &view);
	if (error == 0)
		error = reader_seek(reader, wave->data);
	if (error == 0)
		error = window_init(&wave->window, allocator, reader,
				    WINDOW_BYTES);
	if (error < 0) {
		wave_destroy(&wave->base);
		return error;
	}
	*ret_decoder = &wave->base;
	return 0;
}

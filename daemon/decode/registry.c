/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.c - which decoder is for a file.
 *
 * Content decides: the file's head is shown to each format, behind an ID3v2
 * tag if one is in front (taggers put them before FLAC too). Only where no
 * format knows it does the suffix decide; the decoder then has to find
 * something to play or say no. */
#include "daemon/decode/decoder.h"

#include "daemon/decode/flac.h"
#include "daemon/decode/id3.h"
#include "daemon/decode/ogg_flac.h"
#include "daemon/decode/reader.h"
#include "daemon/decode/vorbis.h"
#include "daemon/decode/wave.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum {
	HEAD_BYTES = 2048,
	PROBE_BY_SUFFIX = 50,
};

const struct decoder_ops *const decoder_registry[] = {
	&decoder_flac, &decoder_vorbis, &decoder_ogg_flac, &decoder_wave, NULL,
};

static bool
has_suffix(const struct decoder_ops *ops, const char *file_name)
{
	const char *dot = strrchr(file_name, '.');

	if (dot == NULL || strchr(dot, '/') != NULL)
		return false;
	for (size_t i = 0; ops->suffixes[i] != NULL; i++)
		if (strcasecmp(dot + 1, ops->suffixes[i]) == 0)
			return true;
	return false;
}

bool
decoder_knows_suffix(const char *file_name)
{
	for (size_t i = 0; decoder_registry[i] != NULL; i++)
		if (has_suffix(decoder_registry[i], file_name))
			return true;
	return false;
}

/* Looks at up to HEAD_BYTES from where the reader stands, which stays there. */
static int
read_head(struct reader *reader, uint8_t *ret_head, size_t *ret_length)
{
	enum reader_status status = READER_OK;
	size_t length = 0;

	reader_mark(reader);
	while (status == READER_OK && length < HEAD_BYTES) {
		size_t count = 0;

		status = reader_read(reader, ret_head + length,
				     HEAD_BYTES - length, &count);
		length += count;
	}
	reader_rewind(reader);
	if (status == READER_ERROR)
		return reader_error(reader);
	*ret_length = length;
	return 0;
}

static const struct decoder_ops *
choose(const uint8_t *head, size_t length, const char *file_name)
{
	const struct decoder_ops *best = NULL;
	int best_sure = 0;

	for (size_t i = 0; decoder_registry[i] != NULL; i++) {
		const struct decoder_ops *ops = decoder_registry[i];
		int sure = ops->probe(head, length);

		if (sure < PROBE_BY_SUFFIX && has_suffix(ops, file_name))
			sure = PROBE_BY_SUFFIX;
		if (sure > best_sure) {
			best = ops;
			best_sure = sure;
		}
	}
	return best;
}

static const char *
reason_of(int error)
{
	switch (error) {
	case -ENODATA:
	case -EINVAL:
		return "it is damaged: no sound could be found in it";
	case -ECHRNG:
		return "it has more than 8 channels";
	case -EOVERFLOW:
		return "its codebooks are larger than any encoder makes them";
	case -EPROTONOSUPPORT:
		return "the sound in it is compressed in a way that is not "
		       "played";
	case -ELIBACC:
		return "libsndfile, which reads such files, is not installed";
	case -ENOTSUP:
		return "it is of a kind that is not played";
	case -ENOMEM:
		return "there is not enough memory for it";
	default:
		return "it could not be read";
	}
}

/* What the decoders say among themselves, in the words of decoder.h. */
static int
public_error(int error)
{
	switch (error) {
	case -ENODATA:
		return -EINVAL;
	case -ECHRNG:
	case -EOVERFLOW:
	case -EPROTONOSUPPORT:
	case -ELIBACC:
		return -ENOTSUP;
	default:
		return error;
	}
}

/* Shows the file's head to the formats. The reader ends where it began. */
static int
find(struct reader *reader, const char *file_name,
     const struct decoder_ops **ret_ops)
{
	const uint64_t begin = reader_offset(reader);
	uint8_t head[HEAD_BYTES];
	uint64_t skip = 0;
	size_t length = 0;
	int error = read_head(reader, head, &length);

	while (error == 0 && id3_tag_bytes(head, length) > 0) {
		skip += id3_tag_bytes(head, length);
		error = reader_seek(reader, begin + skip);
		if (error == 0)
			error = read_head(reader, head, &length);
	}
	if (error == 0 && skip > 0)
		error = reader_seek(reader, begin);
	if (error < 0)
		return error;
	*ret_ops = choose(head, length, file_name);
	return 0;
}

int
decoder_open(struct allocator *allocator, struct reader *reader,
	     const char *file_name, struct decoder **ret_decoder,
	     const char **ret_reason)
{
	const struct decoder_ops *ops = NULL;
	int error = find(reader, file_name, &ops);

	if (error == 0 && ops == NULL) {
		*ret_reason = "it is no music of a known format";
		return -EINVAL;
	}
	if (error == 0)
		error = decoder_open_as(ops, allocator, reader, ret_decoder,
					ret_reason);
	if (error < 0 && error != -E2BIG)
		*ret_reason = reason_of(error);
	return public_error(error);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wav_file.c - the header is made anew from the number of bytes of sound, and
 * written after them, so that the file is right up to the last write whenever
 * the player or the machine stops.
 *
 *   RIFF size WAVE | JUNK 28 (or ds64) | fmt | fact (floats) | data size ... */
#include "daemon/output/wav_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	TAG_PCM = 1,
	TAG_FLOAT = 3,
	TAG_EXTENSIBLE = 0xFFFE,
	DS64_BYTES = 28,
	FILE_MODE = 0644,
};

/* What follows a tag in the GUID of an extensible format. */
static const uint8_t guid_tail[14] = {0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80,
				      0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71};

/* Bits of WAVEFORMATEXTENSIBLE for the layouts of daemon/audio/channels.h. */
static const uint32_t channel_masks[AUDIO_CHANNELS_MAX + 1] = {
	0, 0x4, 0x3, 0x7, 0x33, 0x37, 0x3F, 0x70F, 0x63F};

struct header {
	uint8_t *bytes;
	size_t length;
};

static void
add(struct header *header, uint64_t value, unsigned bytes)
{
	for (; bytes > 0; bytes--, value >>= 8)
		header->bytes[header->length++] = (uint8_t)value;
}

static void
add_id(struct header *header, const char *id)
{
	memcpy(header->bytes + header->length, id, 4);
	header->length += 4;
}

static uint64_t
format_bytes(bool extensible, bool floats)
{
	if (extensible)
		return 40;
	return floats ? 18 : 16;
}

static void
add_format(struct header *header, const struct card_spec *spec)
{
	const uint32_t bytes = (uint32_t)card_format_bytes(spec->format);
	const bool floats = spec->format == CARD_F32;
	const uint16_t tag = floats ? TAG_FLOAT : TAG_PCM;
	const bool extensible =
		spec->channels > 2 || (!floats && spec->bits > 16);

	add_id(header, "fmt ");
	add(header, format_bytes(extensible, floats), 4);
	add(header, extensible ? TAG_EXTENSIBLE : tag, 2);
	add(header, spec->channels, 2);
	add(header, spec->rate_hz, 4);
	add(header, (uint64_t)spec->rate_hz * spec->channels * bytes, 4);
	add(header, (uint64_t)spec->channels * bytes, 2);
	add(header, (uint64_t)bytes * 8, 2);
	if (extensible) {
		add(header, 22, 2);
		add(header, spec->bits, 2);
		add(header, channel_masks[spec->channels], 4);
		add(header, tag, 2);
		memcpy(header->bytes + header->length, guid_tail,
		       sizeof(guid_tail));
		header->length += sizeof(guid_tail);
	} else if (floats) {
		add(header, 0, 2);
	}
}

/* The sizes that the header needs are only known once it is made: the data's
 * and, from its own length, the whole file's. */
size_t
wav_header(const struct card_spec *spec, uint64_t data_bytes,
	   uint8_t ret_header[WAV_HEADER_BYTES_MAX])
{
	const uint64_t frames =
		data_bytes / (card_format_bytes(spec->format) * spec->channels);
	struct header header = {ret_header, 0};
	struct header sizes = {ret_header, 4};
	uint64_t riff_bytes = 0;
	bool big = false;

	add_id(&header, "RIFF");
	add(&header, 0, 4);
	add_id(&header, "WAVE");
	add_id(&header, "JUNK");
	add(&header, DS64_BYTES, 4);
	add(&header, 0, 8);
	add(&header, 0, 8);
	add(&header, 0, 8);
	add(&header, 0, 4);
	add_format(&header, spec);
	if (spec->format == CARD_F32) {
		add_id(&header, "fact");
		add(&header, 4, 4);
		add(&header, frames < UINT32_MAX ? frames : UINT32_MAX, 4);
	}
	add_id(&header, "data");
	riff_bytes = header.length + 4 - 8 + data_bytes + data_bytes % 2;
	big = riff_bytes > UINT32_MAX;
	add(&header, big ? UINT32_MAX : data_bytes, 4);
	add(&sizes, big ? UINT32_MAX : riff_bytes, 4);
	if (big) {
		memcpy(ret_header, "RF64", 4);
		memcpy(ret_header + 12, "ds64", 4);
		sizes.length = 20;
		add(&sizes, riff_bytes, 8);
		add(&sizes, data_bytes, 8);
		add(&sizes, frames, 8);
	}
	return header.length;
}

static int
write_at(int fd, const void *bytes, size_t length, uint64_t offset)
{
	const uint8_t *from = bytes;

	while (length > 0) {
		const ssize_t done = pwrite(fd, from, length, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (done == 0)
			return -EIO;
		from += done;
		length -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

static int
write_header(struct wav_file *file)
{
	uint8_t header[WAV_HEADER_BYTES_MAX];
	const size_t length = wav_header(&file->spec, file->data_bytes, header);

	return write_at(file->fd, header, length, 0);
}

static uint64_t
data_offset(const struct wav_file *file)
{
	uint8_t header[WAV_HEADER_BYTES_MAX];

	return wav_header(&file->spec, 0, header) + file->data_bytes;
}

int
wav_file_open(struct wav_file *file, const char *path,
	      const struct card_spec *spec, uint64_t kept_bytes)
{
	struct wav_file opened = {.spec = *spec, .data_bytes = kept_bytes};
	int error = 0;

	opened.fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, FILE_MODE);
	if (opened.fd < 0)
		return -errno;
	error = ftruncate(opened.fd, (off_t)data_offset(&opened)) < 0 ? -errno
								      : 0;
	/* A pipe or a device cannot be cut, and need not be. */
	if (error == -EINVAL)
		error = 0;
	if (error == 0)
		error = write_header(&opened);
	if (error < 0) {
		close(opened.fd);
		return error;
	}
	*file = opened;
	return 0;
}

int
wav_file_append(struct wav_file *file, const void *frames, size_t bytes)
{
	const int error = write_at(file->fd, frames, bytes, data_offset(file));

	if (error < 0)
		return error;
	file->data_bytes += bytes;
	return write_header(file);
}

int
wav_file_close(struct wav_file *file)
{
	int error = 0;

	if (file->data_bytes % 2 != 0)
		error = write_at(file->fd, "", 1, data_offset(file));
	if (close(file->fd) < 0 && error == 0)
		error = -errno;
	return error;
}

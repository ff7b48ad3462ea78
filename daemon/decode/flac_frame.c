/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_frame.c - FLAC's headers, bit by bit.
 *
 * A frame header is 5 to 16 bytes and ends with a CRC-8 over all of it. In
 * noise a header is found about once in 2^25 bytes, so it is a good hint and
 * no proof: the proof is the frame's CRC-16, which libFLAC checks. */
#include "daemon/decode/flac_frame.h"

#include <string.h>

enum {
	SYNC_FIRST = 0xff,
	SYNC_SECOND = 0xf8, /* and 0xf9: number counts samples */
	FIXED_PART_BYTES = 4,
	CRC_POLYNOMIAL = 0x07,
};

static RT_SAFE uint64_t
big_endian(const uint8_t *bytes, size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

RT_SAFE bool
flac_stream_info_parse(const uint8_t *bytes, struct flac_stream_info *ret_info)
{
	const uint64_t packed = big_endian(bytes + 10, 8);
	const struct flac_stream_info info = {
		.block_min = (uint32_t)big_endian(bytes, 2),
		.block_max = (uint32_t)big_endian(bytes + 2, 2),
		.frame_bytes_max = (uint32_t)big_endian(bytes + 7, 3),
		.rate_hz = (uint32_t)(packed >> 44),
		.channels = (uint32_t)(packed >> 41 & 7) + 1,
		.bits = (uint32_t)(packed >> 36 & 31) + 1,
		.frames = packed & 0xfffffffffU,
	};

	if (info.rate_hz == 0 || info.bits < 4)
		return false;
	*ret_info = info;
	return true;
}

/* The frame or sample number, coded as UTF-8 codes characters, up to 36 bits.
 * Returns its length; 0 when it is none. */
static RT_SAFE size_t
parse_number(const uint8_t *bytes, size_t length, uint64_t *ret_number)
{
	const uint8_t first = bytes[0];
	uint64_t number = 0;
	size_t count = 0;

	while (count < 8 && (first & 0x80 >> count) != 0)
		count++;
	if (count == 0) {
		*ret_number = first;
		return 1;
	}
	if (count == 1 || count == 8)
		return 0;
	number = first & (0x7f >> count);
	for (size_t i = 1; i < count; i++) {
		/* What is not here yet cannot be wrong. */
		const uint8_t next = i < length ? bytes[i] : 0x80;

		if ((next & 0xc0) != 0x80)
			return 0;
		number = number << 6 | (next & 0x3f);
	}
	*ret_number = number;
	return count;
}

/* Blocks and rates that do not stand in the header itself, but behind the
 * number: their lengths in bytes. */
static RT_SAFE size_t
tail_bytes_of_block(uint32_t code)
{
	return code == 6 ? 1 : code == 7 ? 2 : 0;
}

static RT_SAFE size_t
tail_bytes_of_rate(uint32_t code)
{
	return code == 12 ? 1 : code == 13 || code == 14 ? 2 : 0;
}

static RT_SAFE uint32_t
block_of(uint32_t code, const uint8_t *tail)
{
	if (code == 1)
		return 192;
	if (code <= 5)
		return 576U << (code - 2);
	if (code >= 8)
		return 256U << (code - 8);
	return (uint32_t)big_endian(tail, tail_bytes_of_block(code)) + 1;
}

static RT_SAFE uint32_t
rate_of(uint32_t code, const uint8_t *tail)
{
	static const uint32_t rates[] = {0,     88200, 176400, 192000,
					 8000,  16000, 22050,  24000,
					 32000, 44100, 48000,  96000};
	const uint32_t value =
		(uint32_t)big_endian(tail, tail_bytes_of_rate(code));

	if (code < 12)
		return rates[code];
	return code == 12 ? value * 1000 : code == 14 ? value * 10 : value;
}

static RT_SAFE uint8_t
crc8(const uint8_t *bytes, size_t length)
{
	unsigned int crc = 0;

	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 0x80) != 0 ? crc << 1 ^ CRC_POLYNOMIAL
						: crc << 1;
		crc &= 0xff;
	}
	return (uint8_t)crc;
}

/* The four bytes that each header has; false: reserved values. */
static RT_SAFE bool
fixed_part_is_good(const uint8_t *bytes)
{
	const uint32_t assignment = bytes[3] >> 4;

	return bytes[0] == SYNC_FIRST && (bytes[1] & 0xfe) == SYNC_SECOND &&
	       bytes[2] >> 4 != 0 && (bytes[2] & 0x0f) != 0x0f &&
	       assignment <= 10 && (bytes[3] >> 1 & 7) != 3 &&
	       (bytes[3] & 1) == 0;
}

RT_SAFE enum flac_parse
flac_frame_parse(const uint8_t *bytes, size_t length,
		 struct flac_frame *ret_frame)
{
	static const uint32_t bits[] = {0, 8, 12, 0, 16, 20, 24, 32};
	uint32_t block_code = 0;
	uint32_t rate_code = 0;
	uint32_t assignment = 0;
	size_t number_bytes = 0;
	size_t before_rate = 0;
	size_t before_crc = 0;
	uint64_t number = 0;

	if (length <= FIXED_PART_BYTES)
		return length < 2 || (bytes[0] == SYNC_FIRST &&
				      (bytes[1] & 0xfe) == SYNC_SECOND)
			       ? FLAC_PARSE_SHORT
			       : FLAC_PARSE_NO;
	if (!fixed_part_is_good(bytes))
		return FLAC_PARSE_NO;
	number_bytes = parse_number(bytes + FIXED_PART_BYTES,
				    length - FIXED_PART_BYTES, &number);
	if (number_bytes == 0)
		return FLAC_PARSE_NO;
	block_code = bytes[2] >> 4;
	rate_code = bytes[2] & 0x0f;
	before_rate = FIXED_PART_BYTES + number_bytes +
		      tail_bytes_of_block(block_code);
	before_crc = before_rate + tail_bytes_of_rate(rate_code);
	if (before_crc >= length)
		return FLAC_PARSE_SHORT;
	if (crc8(bytes, before_crc) != bytes[before_crc])
		return FLAC_PARSE_NO;
	assignment = bytes[3] >> 4;
	*ret_frame = (struct flac_frame){
		.header_bytes = (uint32_t)before_crc + 1,
		.block_frames = block_of(block_code, bytes + FIXED_PART_BYTES +
							     number_bytes),
		.rate_hz = rate_of(rate_code, bytes + before_rate),
		.channels = assignment < 8 ? assignment + 1 : 2,
		.bits = bits[bytes[3] >> 1 & 7],
		.number = number,
		.variable = (bytes[1] & 1) != 0,
	};
	return FLAC_PARSE_OK;
}

RT_SAFE size_t
flac_frame_find(const uint8_t *bytes, size_t length, size_t from,
		struct flac_frame *ret_frame, bool *ret_found)
{
	*ret_found = false;
	while (from < length) {
		const uint8_t *sync =
			memchr(bytes + from, SYNC_FIRST, length - from);
		enum flac_parse parse;

		if (sync == NULL)
			return length;
		from = (size_t)(sync - bytes);
		parse = flac_frame_parse(sync, length - from, ret_frame);
		if (parse == FLAC_PARSE_SHORT)
			return from;
		if (parse == FLAC_PARSE_OK) {
			*ret_found = true;
			return from;
		}
		from++;
	}
	return length;
}

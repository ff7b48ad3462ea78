/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flac_frame.c - FLAC's headers, bit by bit.
 *
 * A frame header is 5 to 16 bytes and ends with a CRC-8 over all of it. In
 * noise a header is found about once in 2^25 bytes, so it is a good hint and
 * no proof: the proof is the CRC-16 in the frame's last two bytes. */
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

/* With its last two bytes, the CRC-16 of a whole frame comes to 0. */
RT_SAFE bool
flac_frame_is_whole(const uint8_t *bytes, size_t length)
{
	/* of x^16 + x^15 + x^2 + 1, by its first byte */
	static const uint16_t remainders[256] = {
		0x0000, 0x8005, 0x800f, 0x000a, 0x801b, 0x001e, 0x0014, 0x8011,
		0x8033, 0x0036, 0x003c, 0x8039, 0x0028, 0x802d, 0x8027, 0x0022,
		0x8063, 0x0066, 0x006c, 0x8069, 0x0078, 0x807d, 0x8077, 0x0072,
		0x0050, 0x8055, 0x805f, 0x005a, 0x804b, 0x004e, 0x0044, 0x8041,
		0x80c3, 0x00c6, 0x00cc, 0x80c9, 0x00d8, 0x80dd, 0x80d7, 0x00d2,
		0x00f0, 0x80f5, 0x80ff, 0x00fa, 0x80eb, 0x00ee, 0x00e4, 0x80e1,
		0x00a0, 0x80a5, 0x80af, 0x00aa, 0x80bb, 0x00be, 0x00b4, 0x80b1,
		0x8093, 0x0096, 0x009c, 0x8099, 0x0088, 0x808d, 0x8087, 0x0082,
		0x8183, 0x0186, 0x018c, 0x8189, 0x0198, 0x819d, 0x8197, 0x0192,
		0x01b0, 0x81b5, 0x81bf, 0x01ba, 0x81ab, 0x01ae, 0x01a4, 0x81a1,
		0x01e0, 0x81e5, 0x81ef, 0x01ea, 0x81fb, 0x01fe, 0x01f4, 0x81f1,
		0x81d3, 0x01d6, 0x01dc, 0x81d9, 0x01c8, 0x81cd, 0x81c7, 0x01c2,
		0x0140, 0x8145, 0x814f, 0x014a, 0x815b, 0x015e, 0x0154, 0x8151,
		0x8173, 0x0176, 0x017c, 0x8179, 0x0168, 0x816d, 0x8167, 0x0162,
		0x8123, 0x0126, 0x012c, 0x8129, 0x0138, 0x813d, 0x8137, 0x0132,
		0x0110, 0x8115, 0x811f, 0x011a, 0x810b, 0x010e, 0x0104, 0x8101,
		0x8303, 0x0306, 0x030c, 0x8309, 0x0318, 0x831d, 0x8317, 0x0312,
		0x0330, 0x8335, 0x833f, 0x033a, 0x832b, 0x032e, 0x0324, 0x8321,
		0x0360, 0x8365, 0x836f, 0x036a, 0x837b, 0x037e, 0x0374, 0x8371,
		0x8353, 0x0356, 0x035c, 0x8359, 0x0348, 0x834d, 0x8347, 0x0342,
		0x03c0, 0x83c5, 0x83cf, 0x03ca, 0x83db, 0x03de, 0x03d4, 0x83d1,
		0x83f3, 0x03f6, 0x03fc, 0x83f9, 0x03e8, 0x83ed, 0x83e7, 0x03e2,
		0x83a3, 0x03a6, 0x03ac, 0x83a9, 0x03b8, 0x83bd, 0x83b7, 0x03b2,
		0x0390, 0x8395, 0x839f, 0x039a, 0x838b, 0x038e, 0x0384, 0x8381,
		0x0280, 0x8285, 0x828f, 0x028a, 0x829b, 0x029e, 0x0294, 0x8291,
		0x82b3, 0x02b6, 0x02bc, 0x82b9, 0x02a8, 0x82ad, 0x82a7, 0x02a2,
		0x82e3, 0x02e6, 0x02ec, 0x82e9, 0x02f8, 0x82fd, 0x82f7, 0x02f2,
		0x02d0, 0x82d5, 0x82df, 0x02da, 0x82cb, 0x02ce, 0x02c4, 0x82c1,
		0x8243, 0x0246, 0x024c, 0x8249, 0x0258, 0x825d, 0x8257, 0x0252,
		0x0270, 0x8275, 0x827f, 0x027a, 0x826b, 0x026e, 0x0264, 0x8261,
		0x0220, 0x8225, 0x822f, 0x022a, 0x823b, 0x023e, 0x0234, 0x8231,
		0x8213, 0x0216, 0x021c, 0x8219, 0x0208, 0x820d, 0x8207, 0x0202,
	};
	uint16_t crc = 0;

	for (size_t i = 0; i < length; i++)
		crc = (uint16_t)(crc << 8 ^ remainders[crc >> 8 ^ bytes[i]]);
	return crc == 0;
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wav_file.h - a WAV file that is valid after every write.
 *
 * Plain PCM up to 16 bits and 2 channels, else WAVE_FORMAT_EXTENSIBLE; past
 * 4 GiB it becomes RF64 (EBU Tech 3306), for which room is kept in the header.
 * Threads: one at a time. RT: MAY_BLOCK. Errors: -errno of the system. */
#ifndef ROTARY_OUTPUT_WAV_FILE_H
#define ROTARY_OUTPUT_WAV_FILE_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"

struct wav_file {
	int fd;
	struct card_spec spec;
	uint64_t data_bytes;
};

enum { WAV_HEADER_BYTES_MAX = 128 };

/* The header of a file with so many bytes of sound; returns its length. */
size_t wav_header(const struct card_spec *spec, uint64_t data_bytes,
		  uint8_t ret_header[WAV_HEADER_BYTES_MAX]);

/* kept_bytes of sound that are there are kept, what is behind them goes. */
NODISCARD int wav_file_open(struct wav_file *file, const char *path,
			    const struct card_spec *spec, uint64_t kept_bytes);
NODISCARD int wav_file_append(struct wav_file *file, const void *frames,
			      size_t bytes);
/* Gives an odd chunk its pad byte, and closes. */
int wav_file_close(struct wav_file *file);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ov_raw.c - what libvorbisfile itself makes of a file: ov_read_float() of the
 * whole of it, as interleaved native floats on stdout. The reference that our
 * decoder and all behind it are compared with. */
#include <stdio.h>
#include <stdlib.h>

#include <vorbis/vorbisfile.h>

enum { FRAMES = 4096 };

int
main(int argc, char **argv)
{
	OggVorbis_File file;
	float **planes = NULL;
	int section = 0;
	long n = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE.ogg > FILE.raw\n", argv[0]);
		return 2;
	}
	if (ov_fopen(argv[1], &file)) {
		fprintf(stderr, "%s: not Vorbis\n", argv[1]);
		return 1;
	}
	int channels = ov_info(&file, -1)->channels;
	while ((n = ov_read_float(&file, &planes, FRAMES, &section)) > 0) {
		for (long i = 0; i < n; i++) {
			for (int c = 0; c < channels; c++)
				fwrite(&planes[c][i], sizeof(float), 1, stdout);
		}
	}
	ov_clear(&file);
	if (n < 0 || fflush(stdout)) {
		fprintf(stderr, "%s: broken, or no place to write\n", argv[1]);
		return 1;
	}
	return 0;
}

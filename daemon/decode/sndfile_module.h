/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sndfile_module.h - libsndfile, loaded when it is first needed: whoever has no
 * WAVE files does without it and the encoders that it brings along. Never
 * unloaded.
 * Threads: load on a worker; the functions as sndfile.h says.
 * RT: all of it MAY_BLOCK. */
#ifndef ROTARY_DECODE_SNDFILE_MODULE_H
#define ROTARY_DECODE_SNDFILE_MODULE_H

#include "lib/base/attr.h"

#include <sndfile.h>

struct sndfile_module {
	SNDFILE *(*open)(SF_VIRTUAL_IO *io, int mode, SF_INFO *info,
			 void *context);
	int (*close)(SNDFILE *file);
	int (*command)(SNDFILE *file, int command, void *data, int bytes);
	sf_count_t (*seek)(SNDFILE *file, sf_count_t frames, int whence);
	const char *(*string)(SNDFILE *file, int type);
	SF_CHUNK_ITERATOR *(*chunk)(SNDFILE *file, const SF_CHUNK_INFO *info);
	int (*chunk_size)(const SF_CHUNK_ITERATOR *chunk, SF_CHUNK_INFO *info);
	int (*chunk_data)(const SF_CHUNK_ITERATOR *chunk, SF_CHUNK_INFO *info);
};

/* The module, or NULL when the library cannot be loaded. */
MAY_BLOCK const struct sndfile_module *sndfile_module_load(void);

#endif

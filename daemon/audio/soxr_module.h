/* SPDX-License-Identifier: GPL-3.0-or-later */
/* soxr_module.h - libsoxr, loaded when it is first needed: most players never
 * resample, and it brings an OpenMP runtime along. Never unloaded.
 * Threads: load on control or a worker; the functions as soxr.h says.
 * RT: loading MAY_BLOCK. */
#ifndef ROTARY_AUDIO_SOXR_MODULE_H
#define ROTARY_AUDIO_SOXR_MODULE_H

#include "lib/base/attr.h"

#include <soxr.h>

struct soxr_module {
	soxr_t (*create)(double in_hz, double out_hz, unsigned channels,
			 soxr_error_t *ret_error, const soxr_io_spec_t *io,
			 const soxr_quality_spec_t *quality,
			 const soxr_runtime_spec_t *runtime);
	soxr_error_t (*process)(soxr_t soxr, soxr_in_t in, size_t in_frames,
				size_t *ret_taken, soxr_out_t out,
				size_t out_frames, size_t *ret_given);
	void (*destroy)(soxr_t soxr);
	soxr_io_spec_t (*io_spec)(soxr_datatype_t in, soxr_datatype_t out);
	soxr_quality_spec_t (*quality_spec)(unsigned long recipe,
					    unsigned long flags);
	soxr_runtime_spec_t (*runtime_spec)(unsigned threads);
};

/* The module, or NULL when the library cannot be loaded. Every symbol is bound
 * at once, so that no real-time thread meets the dynamic linker. */
MAY_BLOCK const struct soxr_module *soxr_module_load(void);

#endif

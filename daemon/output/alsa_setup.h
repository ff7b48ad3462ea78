/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alsa_setup.h - the parts of the ALSA card that run on a worker: choosing
 * what the card takes, and finding out who holds it.
 *
 * Threads: worker. RT: MAY_BLOCK. Errors: alsa-lib's own negative numbers. */
#ifndef ROTARY_OUTPUT_ALSA_SETUP_H
#define ROTARY_OUTPUT_ALSA_SETUP_H

#include "daemon/output/card.h"
#include "lib/base/attr.h"

#include <alsa/asoundlib.h>
#include <stdbool.h>

struct text;

/* Sets the nearest that the card takes to the request, ready to be filled and
 * started. On failure ret_reason names what it does not take. */
MAY_BLOCK int alsa_params_set(snd_pcm_t *pcm,
			      const struct card_request *request,
			      struct card_info *ret_info, bool *ret_mmap,
			      struct text *ret_reason);

/* Its library says nothing on standard error. */
void alsa_silence(void);

/* Adds the names of the programs that play on some card, by what the kernel
 * says beneath proc ("/proc"); false when it names none. */
MAY_BLOCK bool alsa_holder_add(const char *proc, struct text *text);
/* True when a card with a playback device is listed beneath proc. */
MAY_BLOCK bool alsa_listed(const char *proc);

#endif

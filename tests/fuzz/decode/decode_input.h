/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decode_input.h - runs whatever decoder takes an input over all of it: tags,
 * frames, seeks, and again in scraps with a small ring. Where to seek and how
 * to cut comes from the input itself, so that a run can be repeated. */
#ifndef ROTARY_FUZZ_DECODE_INPUT_H
#define ROTARY_FUZZ_DECODE_INPUT_H

#include <stddef.h>
#include <stdint.h>

void decode_input(const uint8_t *data, size_t size);

#endif

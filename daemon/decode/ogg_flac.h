/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ogg_flac.h - the decoder of FLAC in Ogg. */
#ifndef ROTARY_DECODE_OGG_FLAC_H
#define ROTARY_DECODE_OGG_FLAC_H

#include "daemon/decode/decoder.h"

extern const struct decoder_ops decoder_ogg_flac;

#endif

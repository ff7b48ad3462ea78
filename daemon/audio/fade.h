/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fade.h - the gains of two songs that overlap.
 *
 * Songs have nothing to do with each other, so their powers add up: the gains
 * are the cosine and the sine of a quarter turn, whose squares sum to 1, and
 * the loudness stays what it is all the way. Both are pure functions of how far
 * the overlap has come. No call of the mathematics library: a polynomial whose
 * error is below 1e-9.
 * Pure; RT_SAFE; any thread. */
#ifndef ROTARY_AUDIO_FADE_H
#define ROTARY_AUDIO_FADE_H

#include "lib/base/attr.h"

/* Of the song that comes, at x from 0 to 1: sin(pi/2 x). Of the one that goes:
 * fade_gain(1 - x). */
RT_SAFE float fade_gain(double x);

#endif

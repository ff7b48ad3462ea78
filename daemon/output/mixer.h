/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixer.h - the volume control of a sound card.
 *
 * A worker opens, writes and reads the control, one job at a time, so that a
 * mixer that hangs holds up nobody; control only looks whether its descriptors
 * have something to read.
 *
 *   OPENING -> THERE <-> AWAY   (no such control, unplugged, no answer)
 *
 * While AWAY each mixer_set() and mixer_apply() tries to open it again. What is
 * wanted is written before THERE is told, so who lowers the sound by software
 * until then is never louder than was wished.
 *
 * Gains are linear. 1.0 is 0 dB, or the top of a control that ends below it; 0
 * is the bottom and, where there is one, the mute switch.
 * Threads: control. */
#ifndef ROTARY_OUTPUT_MIXER_H
#define ROTARY_OUTPUT_MIXER_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct mixer;
struct work;

struct mixer_config {
	const char *device;  /* as ALSA names it; NULL: that of pcm's card */
	const char *pcm;     /* what plays; NULL: no sound card does */
	const char *control; /* "NAME" or "NAME,INDEX"; NULL: the usual ones */
};

/* None is called from within a call of the owner's but mixer_dispatch(). */
struct mixer_events {
	/* There or away, or done with what was wanted: look again. */
	void (*settled)(void *context);
	/* Somebody else has set it to this; it is what is wanted now. */
	void (*changed)(void *context, float gain);
};

/* 0, -ENOMEM, -errno (descriptors). config is copied. */
NODISCARD int mixer_create(const struct mixer_config *config, struct work *work,
			   const struct mixer_events *events, void *context,
			   struct mixer **ret_mixer);
/* Waits at most 200 ms for the worker to close it. */
void mixer_destroy(struct mixer *mixer);

/* Readable when mixer_dispatch() has something to do. */
int mixer_event_fd(const struct mixer *mixer);
void mixer_dispatch(struct mixer *mixer);

void mixer_set(struct mixer *mixer, float gain);
/* Writes what is wanted again, if anything ever was: the card is a new one. */
void mixer_apply(struct mixer *mixer);
/* The control does what is wanted as far as it was written. */
bool mixer_is_there(const struct mixer *mixer);
/* Something is still to be opened, written or read. */
bool mixer_is_busy(const struct mixer *mixer);
/* The control's name, while it is there, else "". */
const char *mixer_name(const struct mixer *mixer);
/* Why it is away, in a user's words, or "". */
const char *mixer_error(const struct mixer *mixer);

#endif

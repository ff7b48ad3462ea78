/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixer_control.h - the one control of ALSA's mixer that is the volume.
 *
 * Threads: worker. RT: MAY_BLOCK. Gains: see mixer.h. Errors: alsa-lib's own
 * negative numbers; after one of them the control can only be closed. */
#ifndef ROTARY_OUTPUT_MIXER_CONTROL_H
#define ROTARY_OUTPUT_MIXER_CONTROL_H

#include "daemon/output/mixer.h"
#include "lib/base/attr.h"

struct mixer_control;
struct text;

/* Adds its descriptors to the epoll instance. On failure ret_error is one
 * sentence without a full stop. */
MAY_BLOCK NODISCARD int mixer_control_open(const struct mixer_config *config,
					   int epoll_fd,
					   struct mixer_control **ret_control,
					   struct text *ret_error);
MAY_BLOCK void mixer_control_close(struct mixer_control *control);
/* "hw:0 Master". */
const char *mixer_control_name(const struct mixer_control *control);

MAY_BLOCK NODISCARD int mixer_control_write(struct mixer_control *control,
					    float gain);
/* Takes what has happened, and says how it stands. */
MAY_BLOCK NODISCARD int mixer_control_read(struct mixer_control *control,
					   float *ret_gain);
/* Its descriptors, which tell once, tell again. */
MAY_BLOCK void mixer_control_listen(struct mixer_control *control);

/* The mixer's name for a PCM's: of hw:0,3 and plughw:CARD=Set,DEV=1 the card's
 * own, of all else what ALSA calls default. size is at least 8. */
MAY_BLOCK void mixer_device_of(const char *pcm, char *ret_device, size_t size);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* control.h - control's loop for programs that have an engine and a worker pool
 * and no daemon around them. One thread, which is control. */
#ifndef ROTARY_KIT_CONTROL_H
#define ROTARY_KIT_CONTROL_H

#include <stdint.h>

struct engine;
struct work;

/* One turn: waits until something happened, something is due, or until_ns, and
 * dispatches both. Returns 1 when stop_fd (-1: there is none) can be read, else
 * 0, or -errno. */
int control_turn(struct engine *engine, struct work *work, int64_t until_ns,
		 int stop_fd);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.h - the allocator's part in real time: its reserve, its janitor, the
 * mark of a thread.
 *
 * Where the program's malloc is not lib/zone (a sanitizer's build, no address
 * space, tests) all of it does nothing.
 * Threads: control, unless said. */
#ifndef ROTARY_ENGINE_MEMORY_H
#define ROTARY_ENGINE_MEMORY_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

struct memory_config {
	size_t reserve_bytes; /* reserve_mb */
	unsigned decoders;    /* active ones */
	bool strict; /* kernel calls of malloc on marked threads kill */
};

/* Fills the reserve and starts the janitor. What cannot be had is logged. */
MAY_BLOCK void memory_up(const struct memory_config *config);
MAY_BLOCK void memory_down(void);
/* What the reserve holds at once; reserve_bytes of less count as this. */
size_t memory_first_bytes(const struct memory_config *config);
/* Marks the calling thread; false: it is not. Before its fence is closed. */
MAY_BLOCK bool memory_mark_thread(void);
/* A song was closed: what the calling worker holds free goes back. */
MAY_BLOCK void memory_trim(void);
/* The lines of rtstats. */
void memory_add_figures(struct text *text);

#endif

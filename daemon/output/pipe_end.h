/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipe_end.h - our end of a FIFO, or standard output: written to without ever
 * waiting, in whole frames.
 *
 * A FIFO is held open for writing as long as the program runs, by whoever has
 * written to it once: a reader that finds no writer takes it for the end, and
 * some come back only now and then. What a reader left unread is thrown away
 * before the next one comes.
 * Threads: one at a time. RT: MAY_BLOCK. Errors: -errno of the system. */
#ifndef ROTARY_OUTPUT_PIPE_END_H
#define ROTARY_OUTPUT_PIPE_END_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

struct pipe_end {
	char *path; /* NULL: standard output */
	int fd;     /* -1: not open */
	bool is_file;
	bool has_reader; /* when last asked */
	size_t frame_bytes;
};

/* device: a FIFO, which is made when nothing is there, or "-". On failure
 * ret_reason says why. */
NODISCARD int pipe_end_init(struct pipe_end *end, const char *device,
			    size_t frame_bytes, struct text *ret_reason);
void pipe_end_finish(struct pipe_end *end);

/* True when somebody reads. */
bool pipe_end_has_reader(struct pipe_end *end);
/* Writes at most frames frames; how many, 0 when there is no room, -errno
 * (-EPIPE: the reader has gone). */
int pipe_end_write(struct pipe_end *end, const void *from, size_t frames);
/* One write would be taken now. */
bool pipe_end_has_room(const struct pipe_end *end);
/* Frames that one write may hold. */
size_t pipe_end_chunk(const struct pipe_end *end);
/* Frames that were written and not read yet. */
size_t pipe_end_unread(const struct pipe_end *end);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipe_end.h - our end of a FIFO, or standard output: written to without ever
 * waiting, in whole frames.
 *
 * A FIFO has an end of ours only while somebody reads it: else what was written
 * would be kept for whoever comes next. Standard output stays as it is.
 * Threads: one at a time. RT: MAY_BLOCK. Errors: -errno of the system. */
#ifndef ROTARY_OUTPUT_PIPE_END_H
#define ROTARY_OUTPUT_PIPE_END_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

struct pipe_end {
	char *path; /* NULL: standard output */
	int fd;     /* -1: nobody reads */
	bool is_file;
	size_t frame_bytes;
};

/* device: a FIFO, which is made when nothing is there, or "-". On failure
 * ret_reason says why. */
NODISCARD int pipe_end_init(struct pipe_end *end, const char *device,
			    size_t frame_bytes, struct text *ret_reason);
void pipe_end_finish(struct pipe_end *end);

/* True when somebody reads; looks for it when nobody did. */
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

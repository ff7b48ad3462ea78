/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commons.h - what a worker's job may touch of the engine: the way to call
 * control, the decoders' event count, the music folder, and the ring memory.
 *
 * A worker that hangs in a dead file system may come back when the engine is
 * long gone, so each stream holds a reference, and the last one frees.
 * Threads: create on control, ref and unref any. */
#ifndef ROTARY_ENGINE_COMMONS_H
#define ROTARY_ENGINE_COMMONS_H

#include "daemon/engine/bell.h"
#include "daemon/source/path.h"
#include "lib/base/attr.h"
#include "lib/sync/wake.h"

struct pool;

struct commons {
	struct wake wake;
	/* immutable */
	struct bell bell;
	struct path_root music; /* its folder is owned */
	struct pool *pool;
	ATOMIC(unsigned) references;
};

/* With one reference, a queue of events events, and a pool of pool_bytes. 0,
 * -ENOMEM, -errno from eventfd(). */
NODISCARD int commons_create(const struct path_root *music, size_t events,
			     size_t pool_bytes, struct commons **ret_commons);
struct commons *commons_ref(struct commons *commons);
void commons_unref(struct commons *commons);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commons.c - made whole or not at all, and counted. */
#include "daemon/engine/commons.h"

#include "daemon/engine/pool.h"
#include "lib/base/alloc.h"
#include "lib/sync/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
commons_create(const struct path_root *music, size_t events, size_t pool_bytes,
	       struct commons **ret_commons)
{
	struct commons *commons = allocator_new_aligned(
		NULL, sizeof(*commons), _Alignof(struct commons));
	int result = -ENOMEM;

	if (commons == NULL)
		return -ENOMEM;
	wake_init(&commons->wake);
	atomic_init(&commons->references, 1);
	commons->music = *music;
	commons->music.folder =
		strdup(music->folder != NULL ? music->folder : "");
	commons->bell.queue =
		queue_create(NULL, events, sizeof(struct rt_event));
	commons->bell.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	commons->bell.deck_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (commons->bell.event_fd < 0 || commons->bell.deck_fd < 0)
		result = -errno;
	else if (commons->music.folder != NULL && commons->bell.queue != NULL)
		result = pool_create(pool_bytes, &commons->pool);
	if (result < 0) {
		commons_unref(commons);
		return result;
	}
	*ret_commons = commons;
	return 0;
}

struct commons *
commons_ref(struct commons *commons)
{
	atomic_fetch_add_explicit(&commons->references, 1,
				  memory_order_relaxed);
	return commons;
}

void
commons_unref(struct commons *commons)
{
	if (commons == NULL ||
	    atomic_fetch_sub_explicit(&commons->references, 1,
				      memory_order_acq_rel) != 1)
		return;
	pool_destroy(commons->pool);
	queue_destroy(commons->bell.queue);
	if (commons->bell.event_fd >= 0)
		close(commons->bell.event_fd);
	if (commons->bell.deck_fd >= 0)
		close(commons->bell.deck_fd);
	free((char *)(uintptr_t)commons->music.folder);
	allocator_delete(NULL, commons);
}

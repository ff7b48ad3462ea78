/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bell.c - one event, one write. The eventfds are non-blocking and their
 * counters cannot come near their end, so a write neither waits nor fails. */
#include "daemon/engine/bell.h"

#include "lib/sync/queue.h"

#include <unistd.h>

RT_DEVICE void
bell_ring(const struct bell *bell, uint32_t kind, uint32_t lane, uint64_t id,
	  uint64_t value)
{
	const struct rt_event event = {
		.kind = kind,
		.lane = lane,
		.id = id,
		.value = value,
	};
	const uint64_t one = 1;

	(void)queue_push(bell->queue, &event);
	if (write(bell->event_fd, &one, sizeof(one)) < 0)
		return;
}

RT_DEVICE void
bell_tell_output(const struct bell *bell)
{
	const uint64_t one = 1;

	if (write(bell->deck_fd, &one, sizeof(one)) < 0)
		return;
}

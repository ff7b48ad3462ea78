/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turn.c - gathers what axes report. The first turn is told at once, what
 * follows within 20 ms together; then the axis is forgotten. */
#include "remote/monitor/turn.h"

#include "lib/base/clock.h"

#include <linux/input-event-codes.h>
#include <stddef.h>

enum { GATHERED_MAX = 10000 };

static const int64_t gather_ns = 20 * NS_PER_MS;

static struct turn_axis *
find(struct turns *turns, unsigned device, struct key key)
{
	struct turn_axis *room = NULL;
	int i = 0;

	for (i = 0; i < TURN_AXES_MAX; i++) {
		struct turn_axis *axis = &turns->axes[i];

		if (!axis->used)
			room = axis;
		else if (axis->device == device && axis->key.type == key.type &&
			 axis->key.code == key.code)
			return axis;
	}
	if (room != NULL)
		*room = (struct turn_axis){.device = device, .key = key};
	return room;
}

static void
gather(struct turn_axis *axis, int value)
{
	int64_t sum = axis->key.type == EV_ABS ? 0 : axis->gathered;

	sum += value;
	if (sum > GATHERED_MAX)
		sum = GATHERED_MAX;
	if (sum < -GATHERED_MAX)
		sum = -GATHERED_MAX;
	axis->gathered = sum;
	axis->pending = true;
}

static void
tell(struct turns *turns, struct turn_axis *axis, int64_t now_ns)
{
	const int64_t value = axis->gathered;

	axis->used = true;
	axis->gathered = 0;
	axis->pending = false;
	axis->next_ns = now_ns + gather_ns;
	/* Turned there and back. */
	if (value != 0 || axis->key.type == EV_ABS)
		turns->tell(turns->context, axis->device, axis->key, value);
}

void
turns_event(struct turns *turns, int64_t now_ns, unsigned device,
	    struct key key, int value)
{
	struct turn_axis *axis = find(turns, device, key);

	if (axis == NULL)
		return;
	gather(axis, value);
	if (!axis->used || axis->next_ns <= now_ns)
		tell(turns, axis, now_ns);
}

void
turns_cancel(struct turns *turns, unsigned device)
{
	int i = 0;

	for (i = 0; i < TURN_AXES_MAX; i++)
		if (turns->axes[i].device == device)
			turns->axes[i].used = false;
}

void
turns_tick(struct turns *turns, int64_t now_ns)
{
	int i = 0;

	for (i = 0; i < TURN_AXES_MAX; i++) {
		struct turn_axis *axis = &turns->axes[i];

		if (!axis->used || axis->next_ns > now_ns)
			continue;
		if (axis->pending)
			tell(turns, axis, now_ns);
		else
			axis->used = false;
	}
}

int64_t
turns_deadline(const struct turns *turns)
{
	int64_t due_ns = INT64_MAX;
	int i = 0;

	for (i = 0; i < TURN_AXES_MAX; i++)
		if (turns->axes[i].used && turns->axes[i].next_ns < due_ns)
			due_ns = turns->axes[i].next_ns;
	return due_ns;
}

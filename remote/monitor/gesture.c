/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gesture.c - the machines of the keys that are down.
 *
 * A short press whose key can also be held or pressed twice is only known when
 * the key is up again; any other is done when it goes down. Infrared tells of
 * a release late (0.24 s after a tap) and, when frames are lost, too early: so
 * on such a device an up waits rejoin_ns for a down. A down within 3 ms of the
 * up is no lost frame, which takes at least a frame's time, but the toggle bit
 * of RC-5 and RC-6: a press of its own.
 *
 * Invariants: a slot in DOWN has had no up; what it fires, it fires once, but
 * repeats; .release comes once for each press that had one bound. */
#include "remote/monitor/gesture.h"

#include "lib/base/clock.h"

#include <stddef.h>

static const int64_t toggle_gap_ns = 3 * NS_PER_MS;

static bool
has(const struct gesture_slot *slot, enum keymap_gesture gesture)
{
	return slot->press.bound->actions[gesture] != NULL;
}

static void
fire(struct gestures *gestures, const struct gesture_slot *slot,
     enum keymap_gesture gesture, int64_t factor)
{
	/* The slot may be of use again before the press has been told. */
	const struct gesture_press press = slot->press;

	if (has(slot, gesture))
		gestures->fire(gestures->context, &press, gesture, factor);
}

static struct gesture_slot *
find(struct gestures *gestures, unsigned device, struct key key)
{
	int i = 0;

	for (i = 0; i < GESTURE_KEYS_MAX; i++) {
		struct gesture_slot *slot = &gestures->slots[i];

		if (slot->state != GESTURE_FREE &&
		    slot->press.device == device &&
		    slot->press.key.type == key.type &&
		    slot->press.key.code == key.code)
			return slot;
	}
	return NULL;
}

/* A free one; else one that has nothing more to do. */
static struct gesture_slot *
find_room(struct gestures *gestures)
{
	struct gesture_slot *spent = NULL;
	int i = 0;

	for (i = 0; i < GESTURE_KEYS_MAX; i++) {
		struct gesture_slot *slot = &gestures->slots[i];

		if (slot->state == GESTURE_FREE)
			return slot;
		if (slot->spent && !has(slot, KEYMAP_RELEASE) &&
		    (spent == NULL || slot->down_ns < spent->down_ns))
			spent = slot;
	}
	return spent;
}

/* A short press has to wait until it is known to be none of these. */
static bool
is_deferred(const struct gesture_slot *slot)
{
	return has(slot, KEYMAP_HOLD) || has(slot, KEYMAP_LONG) ||
	       has(slot, KEYMAP_REPEAT) || has(slot, KEYMAP_DOUBLE);
}

static bool
was_held(const struct gesture_slot *slot)
{
	return slot->hold_done || slot->long_done || slot->repeats > 0;
}

/* The key is up for good. */
static void
finish(struct gestures *gestures, struct gesture_slot *slot)
{
	const bool tapped = !slot->spent && !was_held(slot);

	fire(gestures, slot, KEYMAP_RELEASE, 1);
	if (tapped && has(slot, KEYMAP_DOUBLE)) {
		slot->state = GESTURE_WAIT;
		return;
	}
	slot->state = GESTURE_FREE;
	if (tapped && !slot->short_done)
		fire(gestures, slot, KEYMAP_SHORT, 1);
}

/* No second press came. */
static void
give_up_waiting(struct gestures *gestures, struct gesture_slot *slot)
{
	slot->state = GESTURE_FREE;
	fire(gestures, slot, KEYMAP_SHORT, 1);
}

bool
gestures_rejoin(struct gestures *gestures, int64_t now_ns, unsigned device,
		struct key key)
{
	struct gesture_slot *slot = find(gestures, device, key);

	if (slot == NULL)
		return false;
	if (slot->state == GESTURE_GHOST &&
	    now_ns - slot->up_ns >= toggle_gap_ns) {
		slot->state = GESTURE_DOWN;
		return true;
	}
	if (slot->state == GESTURE_WAIT) {
		slot->state = GESTURE_DOWN;
		slot->down_ns = now_ns;
		slot->spent = true;
		fire(gestures, slot, KEYMAP_DOUBLE, 1);
		return true;
	}
	/* Down a second time: the up between has been lost. */
	finish(gestures, slot);
	if (slot->state == GESTURE_WAIT)
		return gestures_rejoin(gestures, now_ns, device, key);
	return false;
}

void
gestures_end_others(struct gestures *gestures, unsigned device, struct key key)
{
	int i = 0;

	for (i = 0; i < GESTURE_KEYS_MAX; i++) {
		struct gesture_slot *slot = &gestures->slots[i];

		if (slot->state == GESTURE_FREE ||
		    slot->press.device != device ||
		    (slot->press.key.code == key.code &&
		     slot->press.key.type == key.type))
			continue;
		if (slot->state == GESTURE_DOWN)
			slot->spent = true;
		else if (slot->state == GESTURE_GHOST)
			finish(gestures, slot);
		if (slot->state == GESTURE_WAIT)
			give_up_waiting(gestures, slot);
	}
}

void
gestures_down(struct gestures *gestures, int64_t now_ns,
	      const struct gesture_press *press)
{
	struct gesture_slot *slot = NULL;

	gestures_end_others(gestures, press->device, press->key);
	slot = find_room(gestures);
	if (slot == NULL)
		return;
	*slot = (struct gesture_slot){
		.state = GESTURE_DOWN, .press = *press, .down_ns = now_ns};
	slot->repeat_ns = now_ns + gestures->timing.hold_ns;
	if (has(slot, KEYMAP_HOLD))
		slot->repeat_ns += gestures->timing.repeat_ns;
	fire(gestures, slot, KEYMAP_PRESS, 1);
	if (!is_deferred(slot)) {
		slot->short_done = true;
		fire(gestures, slot, KEYMAP_SHORT, 1);
	}
	if (!press->has_releases) {
		slot->up_ns = now_ns;
		finish(gestures, slot);
	}
}

void
gestures_up(struct gestures *gestures, int64_t now_ns, unsigned device,
	    struct key key)
{
	struct gesture_slot *slot = find(gestures, device, key);

	if (slot == NULL || slot->state != GESTURE_DOWN)
		return;
	slot->up_ns = now_ns;
	/* Two taps in a row look like a hold that was split: where two taps
	 * mean something, they are two. */
	if (slot->press.rejoin_ns > 0 &&
	    (slot->spent || was_held(slot) || !has(slot, KEYMAP_DOUBLE)))
		slot->state = GESTURE_GHOST;
	else
		finish(gestures, slot);
}

void
gestures_cancel(struct gestures *gestures, unsigned device,
		const struct key *key)
{
	int i = 0;

	for (i = 0; i < GESTURE_KEYS_MAX; i++) {
		struct gesture_slot *slot = &gestures->slots[i];

		if (slot->state == GESTURE_FREE || slot->press.device != device)
			continue;
		if (key != NULL && (slot->press.key.code != key->code ||
				    slot->press.key.type != key->type))
			continue;
		if (slot->state != GESTURE_WAIT)
			fire(gestures, slot, KEYMAP_RELEASE, 1);
		slot->state = GESTURE_FREE;
	}
}

/* --- time */

static int64_t
earlier(int64_t one_ns, int64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

static int64_t
slot_deadline(const struct gestures *gestures, const struct gesture_slot *slot)
{
	const struct gesture_timing *timing = &gestures->timing;
	int64_t due_ns = INT64_MAX;

	switch (slot->state) {
	case GESTURE_FREE:
		return INT64_MAX;
	case GESTURE_GHOST:
		return slot->up_ns + slot->press.rejoin_ns;
	case GESTURE_WAIT:
		return slot->up_ns + timing->double_ns;
	case GESTURE_DOWN:
		break;
	}
	if (slot->spent)
		return INT64_MAX;
	if (has(slot, KEYMAP_HOLD) && !slot->hold_done)
		due_ns = slot->down_ns + timing->hold_ns;
	if (has(slot, KEYMAP_LONG) && !slot->long_done)
		due_ns = earlier(due_ns, slot->down_ns + timing->long_ns);
	if (has(slot, KEYMAP_REPEAT))
		due_ns = earlier(due_ns, slot->repeat_ns);
	return earlier(due_ns, slot->down_ns + timing->max_ns);
}

/* 1 1 1 2 2 6 6 ... */
static int64_t
growth(int repeats)
{
	return repeats < 3 ? 1 : repeats < 5 ? 2 : 6;
}

/* Volume is followed by ear, so it may go a little faster. */
static int64_t
repeat_period_ns(const struct gestures *gestures,
		 const struct gesture_slot *slot)
{
	const struct action *action = slot->press.bound->actions[KEYMAP_REPEAT];

	return action_is_command(action, "volume")
		       ? gestures->timing.repeat_ns * 4 / 5
		       : gestures->timing.repeat_ns;
}

/* A timer of a key that is down. Repeats that were missed, because the machine
 * stood still, are not made up for. */
static void
act_on_hold(struct gestures *gestures, struct gesture_slot *slot,
	    int64_t due_ns, int64_t now_ns)
{
	const struct gesture_timing *timing = &gestures->timing;

	if (due_ns >= slot->down_ns + timing->max_ns) {
		slot->spent = true;
	} else if (has(slot, KEYMAP_HOLD) && !slot->hold_done &&
		   due_ns >= slot->down_ns + timing->hold_ns) {
		slot->hold_done = true;
		fire(gestures, slot, KEYMAP_HOLD, 1);
	} else if (has(slot, KEYMAP_LONG) && !slot->long_done &&
		   due_ns >= slot->down_ns + timing->long_ns) {
		slot->long_done = true;
		fire(gestures, slot, KEYMAP_LONG, 1);
	} else {
		const int64_t period_ns = repeat_period_ns(gestures, slot);

		slot->repeat_ns += period_ns;
		if (slot->repeat_ns <= now_ns)
			slot->repeat_ns = now_ns + period_ns;
		slot->repeats++;
		fire(gestures, slot, KEYMAP_REPEAT, growth(slot->repeats - 1));
	}
}

static struct gesture_slot *
find_due(struct gestures *gestures, int64_t *ret_due_ns)
{
	struct gesture_slot *first = NULL;
	int i = 0;

	*ret_due_ns = INT64_MAX;
	for (i = 0; i < GESTURE_KEYS_MAX; i++) {
		const int64_t due_ns =
			slot_deadline(gestures, &gestures->slots[i]);

		if (due_ns < *ret_due_ns) {
			*ret_due_ns = due_ns;
			first = &gestures->slots[i];
		}
	}
	return first;
}

void
gestures_tick(struct gestures *gestures, int64_t now_ns)
{
	struct gesture_slot *slot = NULL;
	int64_t due_ns = 0;

	for (;;) {
		slot = find_due(gestures, &due_ns);
		if (slot == NULL || due_ns > now_ns)
			return;
		if (slot->state == GESTURE_GHOST)
			finish(gestures, slot);
		else if (slot->state == GESTURE_WAIT)
			give_up_waiting(gestures, slot);
		else
			act_on_hold(gestures, slot, due_ns, now_ns);
	}
}

int64_t
gestures_deadline(const struct gestures *gestures)
{
	int64_t due_ns = INT64_MAX;
	int i = 0;

	for (i = 0; i < GESTURE_KEYS_MAX; i++)
		due_ns = earlier(due_ns,
				 slot_deadline(gestures, &gestures->slots[i]));
	return due_ns;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_sleep.c - the output thread's sleep, until it is time or somebody
 * calls: control, the lanes (who have filled a deck that it waits for), or the
 * card.
 *
 * In its sleep the thread can be given up at once (lib/sync/takeback.h). */
#include "daemon/output/output_rt.h"

#include "lib/base/clock.h"

#include <poll.h>
#include <unistd.h>

enum {
	RETELL_MS = 10,
	FD_ERRORS_MAX = 8,
	OWN_FDS = 2, /* control's and the lanes' */
};

static RT_SAFE int64_t
wait_ns(const struct output_rt *rt)
{
	int64_t wait = 0;

	if (rt->card == NULL || !rt->has_plan)
		return -1;
	wait = output_feed_wait(rt);
	if (rt->mix.note_count > 0 &&
	    (wait < 0 || wait > RETELL_MS * NS_PER_MS))
		wait = RETELL_MS * NS_PER_MS;
	return wait;
}

/* The lanes' call, where the decks are ours to mix from. */
static RT_SAFE int
deck_fd(const struct output_rt *rt)
{
	return rt->card != NULL && rt->part.follower == NULL ? rt->links.deck_fd
							     : -1;
}

/* The card's descriptors speak only of faults, and only while it runs; one
 * that cries for nothing again and again is not listened to any more. 0: the
 * thread was given up. */
static RT_DEVICE unsigned
gather_fds(struct output_rt *rt, struct pollfd *fds)
{
	unsigned found = 0;

	fds[0] = (struct pollfd){.fd = rt->wake_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = deck_fd(rt), .events = POLLIN};
	if (rt->card == NULL || !rt->feed.running ||
	    rt->feed.suspended_ns != 0 || rt->fd_errors >= FD_ERRORS_MAX)
		return OWN_FDS;
	output_rt_enter(rt);
	found = rt->card->ops->poll_fds(rt->card, fds + OWN_FDS, CARD_POLL_MAX);
	return output_rt_leave(rt) ? OWN_FDS + found : 0;
}

static RT_DEVICE void
look_at_fds(struct output_rt *rt, struct pollfd *fds, unsigned count)
{
	uint64_t ignored = 0;
	bool cries = false;
	unsigned i = 0;
	int error = 0;

	for (i = 0; i < OWN_FDS; i++)
		if (fds[i].revents != 0 &&
		    read(fds[i].fd, &ignored, sizeof(ignored)) < 0)
			fds[i].revents = 0;
	for (i = OWN_FDS; i < count; i++)
		cries |= fds[i].revents != 0;
	if (!cries)
		return;
	/* The step that follows finds the fault by itself. */
	output_rt_enter(rt);
	error = rt->card->ops->poll_events(rt->card, fds + OWN_FDS,
					   count - OWN_FDS);
	if (output_rt_leave(rt) && error == 0)
		rt->fd_errors++;
}

static RT_SAFE void
note_late(struct output_rt *rt, int64_t late_ns)
{
	rt_note_wakeup(&rt->figures, late_ns);
	if (rt->card != NULL)
		output_guard_late(rt, late_ns);
}

RT_DEVICE bool
output_sleep(struct output_rt *rt)
{
	struct pollfd fds[OWN_FDS + CARD_POLL_MAX];
	const unsigned count = gather_fds(rt, fds);
	struct timespec timeout;
	int64_t wait = 0, deadline_ns = 0, woken_ns = 0;
	int found = 0;

	if (count == 0)
		return false;
	wait = wait_ns(rt);
	timeout = (struct timespec){wait / NS_PER_S, wait % NS_PER_S};
	deadline_ns = clock_now_ns() + wait;
	takeback_sleep(&rt->takeback);
	found = ppoll(fds, count, wait < 0 ? NULL : &timeout, NULL);
	woken_ns = clock_now_ns();
	if (!output_rt_leave(rt))
		return false;
	if (found > 0)
		look_at_fds(rt, fds, count);
	else if (found == 0)
		note_late(rt, woken_ns - deadline_ns);
	return !output_rt_abandoned(rt);
}

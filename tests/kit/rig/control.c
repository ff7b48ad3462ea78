/* SPDX-License-Identifier: GPL-3.0-or-later */
/* control.c - what the daemon's loop does with these two: their eventfds, the
 * nearest deadline, both dispatches. */
#include "tests/kit/rig/control.h"

#include "daemon/engine/engine.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static int64_t
earlier(int64_t one_ns, int64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

int
control_turn(struct engine *engine, struct work *work, int64_t until_ns,
	     int stop_fd)
{
	struct pollfd fds[3] = {
		{.fd = engine_event_fd(engine), .events = POLLIN},
		{.fd = work_event_fd(work), .events = POLLIN},
		{.fd = stop_fd, .events = POLLIN},
	};
	const int64_t due_ns = earlier(
		earlier(engine_next_deadline(engine), work_next_deadline(work)),
		until_ns);
	const int64_t wait_ns = due_ns - clock_now_ns();
	struct timespec wait = {0};

	if (wait_ns > 0) {
		wait.tv_sec = wait_ns / NS_PER_S;
		wait.tv_nsec = wait_ns % NS_PER_S;
	}
	if (ppoll(fds, 3, &wait, NULL) < 0)
		return -errno;
	work_dispatch(work);
	engine_dispatch(engine);
	return fds[2].revents != 0;
}

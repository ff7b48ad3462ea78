/* SPDX-License-Identifier: GPL-3.0-or-later */
/* latency.c - from an event of a key to the command on the daemon's socket,
 * with the real rotary-remote on a device of umockdev; run by umockdev-wrapper.
 *
 *	latency COUNT
 *
 * What is measured is more than the goal asks for: it ends when this program
 * has read the command, so our own waking up is in it. Prints one line:
 * "COUNT P50 P99 MAX" in microseconds. */
#include "lib/base/clock.h"
#include "lib/rt/rt.h"
#include "tests/kit/paper/stage.h"

#include <linux/input-event-codes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT_MAX = 100000 };

static int
compare(const void *one, const void *other)
{
	const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

	return (a > b) - (a < b);
}

static int64_t
measure(struct stage *stage, const struct paper_device *device)
{
	const struct timespec pause = {.tv_nsec = 5 * NS_PER_MS};
	int64_t start_ns = 0, taken_ns = 0;

	/* A key comes to a remote that is at rest. */
	nanosleep(&pause, NULL);
	start_ns = clock_now_ns();
	stage_key(stage, device, KEY_MUTE, 1);
	(void)stage_next(stage);
	taken_ns = clock_now_ns() - start_ns;
	stage_key(stage, device, KEY_MUTE, 0);
	return taken_ns;
}

int
main(int argc, char *argv[])
{
	static const struct paper_device device = {
		.number = 3, .name = "Bench", .keys = {KEY_MUTE, KEY_OK}};
	static struct rt_figures figures;
	static struct stage stage;
	static int64_t taken_ns[COUNT_MAX];
	const int count = argc > 1 ? atoi(argv[1]) : 2000;
	int i = 0;

	if (count < 100 || count > COUNT_MAX)
		return 4;
	/* Our own waking up is not what is measured. */
	rt_figures_begin(&figures, "latency");
	stage_begin(&stage, NULL);
	stage_plug(&stage, &device);
	(void)rt_promote(&figures, 50);
	for (i = 0; i < count; i++)
		taken_ns[i] = measure(&stage, &device);
	stage_end(&stage);
	qsort(taken_ns, (size_t)count, sizeof(taken_ns[0]), compare);
	printf("%d %lld %lld %lld\n", count,
	       (long long)(taken_ns[count / 2] / NS_PER_US),
	       (long long)(taken_ns[count * 99 / 100] / NS_PER_US),
	       (long long)(taken_ns[count - 1] / NS_PER_US));
	return 0;
}

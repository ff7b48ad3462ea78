/* SPDX-License-Identifier: GPL-3.0-or-later */
/* latency.c - from an event of a key to the command on the daemon's socket,
 * with the real rotary-remote on a device of umockdev; run by umockdev-wrapper.
 *
 *	latency COUNT
 *
 * What is measured is more than the goal asks for: it ends when this program
 * has read the command, so our own waking up is in it, and what umockdev adds.
 *Prints two lines, "NAME COUNT P50 P99 MAX" in microseconds: remote, and bare,
 *which is the way through umockdev's device without the remote. */
#include "lib/base/clock.h"
#include "tests/kit/paper/stage.h"

#include <dirent.h>
#include <linux/input-event-codes.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { COUNT_MAX = 100000 };

static int
compare(const void *one, const void *other)
{
	const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

	return (a > b) - (a < b);
}

/* umockdev answers each read() of the device from a thread of this program:
 * the kernel would do it itself, at once. So they all get our priority. */
static void
promote_all(void)
{
	const struct sched_param priority = {.sched_priority = 50};
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task = NULL;

	while (tasks != NULL && (task = readdir(tasks)) != NULL)
		if (task->d_name[0] != '.')
			(void)sched_setscheduler(atoi(task->d_name), SCHED_FIFO,
						 &priority);
	if (tasks != NULL)
		closedir(tasks);
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

/* The same way without the remote: a terminal's bytes, which umockdev's device
 * is made of, to a thread that answers on a socket. The kernel hands them on
 * from a worker of ordinary priority, which a real device does not. */
struct bare {
	int terminal;
	int socket;
};

static void *
answer(void *argument)
{
	const struct bare *bare = argument;
	char bytes[64];

	while (read(bare->terminal, bytes, sizeof(bytes)) > 0)
		if (write(bare->socket, "x", 1) != 1)
			break;
	return NULL;
}

static int64_t
measure_bare(int terminal, int socket)
{
	const struct timespec pause = {.tv_nsec = 5 * NS_PER_MS};
	static const char event[48];
	int64_t start_ns = 0;
	char byte = 0;

	nanosleep(&pause, NULL);
	start_ns = clock_now_ns();
	if (write(terminal, event, sizeof(event)) < 0 ||
	    read(socket, &byte, 1) != 1)
		exit(1);
	return clock_now_ns() - start_ns;
}

static void
print_line(const char *name, int64_t *taken_ns, int count)
{
	qsort(taken_ns, (size_t)count, sizeof(taken_ns[0]), compare);
	printf("%s %d %lld %lld %lld\n", name, count,
	       (long long)(taken_ns[count / 2] / NS_PER_US),
	       (long long)(taken_ns[count * 99 / 100] / NS_PER_US),
	       (long long)(taken_ns[count - 1] / NS_PER_US));
}

static void
run_bare(int64_t *taken_ns, int count)
{
	int master = -1, slave = -1, ends[2], i = 0;
	struct bare bare;
	struct termios raw;
	pthread_t thread;

	if (openpty(&master, &slave, NULL, NULL, NULL) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		exit(1);
	tcgetattr(slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	bare = (struct bare){slave, ends[1]};
	/* It inherits no priority: it gets that of the remote. */
	if (pthread_create(&thread, NULL, answer, &bare) != 0)
		exit(1);
	pthread_setschedparam(thread, SCHED_FIFO,
			      &(struct sched_param){.sched_priority = 5});
	for (i = 0; i < count; i++)
		taken_ns[i] = measure_bare(master, ends[0]);
	print_line("bare", taken_ns, count);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

int
main(int argc, char *argv[])
{
	static const struct paper_device device = {
		.number = 3, .name = "Bench", .keys = {KEY_MUTE, KEY_OK}};
	static struct stage stage;
	static int64_t taken_ns[COUNT_MAX];
	const int count = argc > 1 ? atoi(argv[1]) : 2000;
	int i = 0;

	if (count < 100 || count > COUNT_MAX)
		return 4;
	stage_begin(&stage, NULL);
	stage_plug(&stage, &device);
	promote_all();
	for (i = 0; i < count; i++)
		taken_ns[i] = measure(&stage, &device);
	stage_end(&stage);
	print_line("remote", taken_ns, count);
	run_bare(taken_ns, count);
	return 0;
}

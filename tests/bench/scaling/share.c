/* SPDX-License-Identifier: GPL-3.0-or-later */
/* share.c - what is left of a CPU for an ordinary process, while many streams
 * play at their own pace and the decoder of one of them spins.
 *
 * On each CPU that the decoder threads may use, a process of normal priority
 * wants all there is. It counts its own CPU time, and the kernel's books tell
 * how long the CPU was idle or with somebody else who has no part in it. Nobody
 * takes the spinning stream away, as control does after 2 s, so it stays as bad
 * as it is in its first moments. */
#include "tests/bench/scaling/stage.h"

#include "lib/base/clock.h"
#include "tests/kit/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIX_NS (10 * NS_PER_MS)

enum { CPUS_MAX = 4, SECONDS = 4 };

struct spinner {
	struct decoder base;
	struct decoder *inner;
};

struct hogs {
	unsigned count;
	pid_t pids[CPUS_MAX];
	ATOMIC(int64_t) * used_ns; /* shared with them */
};

struct show {
	struct stage stage;
	float sum[SCALING_MIX_SAMPLES];
	uint64_t due[SCALING_STREAMS_MAX]; /* frames since the beginning */
	uint64_t taken[SCALING_STREAMS_MAX];
	uint64_t late; /* times that a good stream had too little */
	size_t least;  /* that a good one ever had left, in frames */
	unsigned spinning;
	ATOMIC(uint32_t) ended;
};

static enum decode_status
spin(struct decoder *decoder, void *ret_samples, size_t capacity,
     size_t *ret_frames)
{
	volatile bool for_ever = true;

	(void)decoder;
	(void)ret_samples;
	(void)capacity;
	while (for_ever)
		continue;
	*ret_frames = 0;
	return DECODE_ERROR;
}

static const struct decoder_ops spinning_ops = {
	.name = "spinner",
	.rt = true,
	.decode = spin,
};

/* Wants all of its CPU. */
static _Noreturn void
hog(unsigned cpu, ATOMIC(int64_t) * used_ns)
{
	cpu_set_t own;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&own);
	CPU_SET(cpu, &own);
	crew_check(sched_setaffinity(0, sizeof(own), &own) == 0);
	for (;;)
		atomic_store_explicit(used_ns, clock_thread_cpu_ns(),
				      memory_order_relaxed);
}

static void
hogs_start(struct hogs *hogs, unsigned count)
{
	unsigned i;

	hogs->count = count;
	hogs->used_ns = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	crew_check(hogs->used_ns != MAP_FAILED);
	for (i = 0; i < count; i++) {
		hogs->pids[i] = fork();
		crew_check(hogs->pids[i] >= 0);
		if (hogs->pids[i] == 0)
			hog(i, &hogs->used_ns[i]);
	}
}

static void
hogs_stop(const struct hogs *hogs)
{
	unsigned i;

	for (i = 0; i < hogs->count; i++) {
		kill(hogs->pids[i], SIGKILL);
		waitpid(hogs->pids[i], NULL, 0);
	}
}

static void
watch(struct show *show, struct stream *stream, bool late)
{
	const size_t left = pcm_ring_readable(&stream->pcm);

	show->late += late;
	if (left < show->least)
		show->least = left;
}

/* What has come due since the last time is taken from each. */
static void
mix_once(struct show *show, int64_t played_ns)
{
	const struct crowd *crowd = show->stage.crowd;
	unsigned i;

	for (i = 0; i < crowd->count; i++) {
		struct stream *stream = crowd->streams[i];
		const uint64_t due =
			clock_ns_to_frames(played_ns, stream->spec.rate_hz);

		while (show->taken[i] < due) {
			size_t frames;
			const void *span =
				pcm_ring_read_span(&stream->pcm, &frames);

			if (frames > due - show->taken[i])
				frames = (size_t)(due - show->taken[i]);
			if (frames == 0)
				break;
			scaling_mix(show->sum, span, frames, &stream->spec);
			pcm_ring_consume(&stream->pcm, frames);
			show->taken[i] += frames;
		}
		if (i != show->spinning)
			watch(show, stream, show->taken[i] < due);
		show->taken[i] = due;
	}
	wake_post(&crowd->commons->wake);
}

static void *
mix(void *argument)
{
	struct show *show = argument;
	const int64_t begin_ns = clock_now_ns();
	int64_t due_ns = begin_ns;

	while (atomic_load(&show->ended) == 0) {
		const struct timespec until = {due_ns / NS_PER_S,
					       due_ns % NS_PER_S};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		mix_once(show, due_ns - begin_ns);
		due_ns += MIX_NS;
	}
	return NULL;
}

static int64_t
own_used_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* How long the CPUs up to count have been idle, by /proc/stat. */
static int64_t
idle_ns(unsigned count)
{
	FILE *file = fopen("/proc/stat", "re");
	unsigned long long idle, waiting, sum = 0;
	unsigned cpu;
	char line[512];

	crew_check(file != NULL);
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle,
			   &waiting) == 3 &&
		    cpu < count)
			sum += idle + waiting;
	fclose(file);
	return (int64_t)sum * NS_PER_S / sysconf(_SC_CLK_TCK);
}

struct books {
	int64_t now_ns, hogs_ns, own_ns, idle_ns;
};

static struct books
look(const struct hogs *hogs)
{
	struct books books = {.now_ns = clock_now_ns(),
			      .own_ns = own_used_ns(),
			      .idle_ns = idle_ns(hogs->count)};
	unsigned i;

	for (i = 0; i < hogs->count; i++)
		books.hogs_ns += atomic_load(&hogs->used_ns[i]);
	return books;
}

static double
ms_left(const struct show *show)
{
	const struct stream *stream = show->stage.crowd->streams[0];
	const int64_t ns =
		clock_frames_to_ns(show->least, stream->spec.rate_hz);

	return (double)ns / NS_PER_MS;
}

static void
tell(const struct hogs *hogs, struct books from, const struct show *show)
{
	const struct books to = look(hogs);
	const double all = (double)(to.now_ns - from.now_ns) * hogs->count;
	const double hogged = (double)(to.hogs_ns - from.hogs_ns) / all;
	const double own = (double)(to.own_ns - from.own_ns) / all;
	const double idle = (double)(to.idle_ns - from.idle_ns) / all;
	const double rest = 1.0 - hogged - own - idle;

	printf("hogs %.4f\nown %.4f\nidle %.4f\nstrangers %.4f\nlate %llu\n"
	       "least_ms %.1f\n",
	       hogged, own, idle, rest > 0 ? rest : 0.0,
	       (unsigned long long)show->late, ms_left(show));
}

static int
play(struct show *show, const struct hogs *hogs)
{
	const struct sched_param priority = {SCALING_MIXER_PRIORITY};
	const struct timespec pause = {SECONDS, 0};
	struct books from;
	pthread_t mixer;

	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	if (pthread_create(&mixer, NULL, mix, show) != 0)
		return -EAGAIN;
	from = look(hogs);
	stage_enter(&show->stage);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	tell(hogs, from, show);
	atomic_store(&show->ended, 1);
	pthread_join(mixer, NULL);
	return 0;
}

void
scaling_share(const char *path, unsigned threads, unsigned streams, bool spins)
{
	static struct show show;
	static struct crowd crowd;
	static struct spinner spinner;
	struct hogs hogs;
	int result;

	hogs_start(&hogs, threads);
	result = crowd_open(&crowd, path, streams);
	show.least = SIZE_MAX;
	show.spinning = spins ? streams / 2 : UINT32_MAX;
	if (result == 0 && spins) {
		spinner.base.ops = &spinning_ops;
		spinner.inner = crowd.streams[show.spinning]->decoder;
		crowd.streams[show.spinning]->decoder = &spinner.base;
	}
	if (result == 0)
		result = stage_make(&show.stage, &crowd, threads);
	if (result == 0)
		result = play(&show, &hogs);
	hogs_stop(&hogs);
	/* A thread that spins for ever holds all of it. */
	fflush(stdout);
	_exit(result < 0);
}

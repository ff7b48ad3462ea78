/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_processes.c - what the machine can do at best: bare processes, each with
 * its part of the streams. No threads, no set, nobody to read ahead: all bytes
 * of the songs are in memory; the same decoders and the same sum.
 *
 * One small buffer takes all that is decoded, or, for streams that sound at
 * once, each has memory of its own for it, as large as a stream's ring: some
 * steps of each by turns, then the sum. Or the libraries do it alone, with
 * nothing of ours (by_library.c).
 *
 * Each is ready when it has opened its streams, and starts on a word. */
#include "tests/bench/scaling/bench_scaling.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES_MAX = 16, STEPS_AT_ONCE = 8 };

struct task {
	const char *path;
	unsigned streams;
	enum scaling_order order;
	unsigned cpu;
};

struct worker {
	pid_t pid;
	int go;     /* written by us: begin */
	int report; /* read by us: ready, then how many frames */
};

/* What a process decodes into. */
struct sink {
	float sum[SCALING_MIX_SAMPLES];
	int32_t samples[STREAM_STEP_FRAMES * 8];
	uint64_t frames;
};

/* False at the end, or when it is broken. */
static bool
decode_step(struct sink *sink, struct stream *stream)
{
	size_t got = 0;
	const enum decode_status status = stream->decoder->ops->decode(
		stream->decoder, sink->samples, STREAM_STEP_FRAMES, &got);

	scaling_mix(sink->sum, sink->samples, got, &stream->spec);
	sink->frames += got;
	return status == DECODE_OK;
}

static void
decode_in_sequence(struct sink *sink, struct crowd *crowd)
{
	unsigned i;

	for (i = 0; i < crowd->count; i++)
		while (decode_step(sink, crowd->streams[i]))
			continue;
}

/* False at the end. */
static bool
decode_some(struct stream *stream)
{
	unsigned i;

	for (i = 0; i < STEPS_AT_ONCE && stream_step(stream); i++)
		continue;
	return i == STEPS_AT_ONCE;
}

static void
add_up(struct sink *sink, struct stream *stream)
{
	size_t frames;
	const void *span = pcm_ring_read_span(&stream->pcm, &frames);

	while (frames > 0) {
		scaling_mix(sink->sum, span, frames, &stream->spec);
		pcm_ring_consume(&stream->pcm, frames);
		sink->frames += frames;
		span = pcm_ring_read_span(&stream->pcm, &frames);
	}
}

static void
decode_at_once(struct sink *sink, struct crowd *crowd)
{
	bool ended[SCALING_STREAMS_MAX] = {false};
	unsigned left = crowd->count, i;

	for (i = 0; i < crowd->count; i++)
		add_up(sink, crowd->streams[i]);
	sink->frames = 0;
	while (left > 0) {
		for (i = 0; i < crowd->count; i++)
			if (!ended[i] && !decode_some(crowd->streams[i])) {
				ended[i] = true;
				left--;
			}
		for (i = 0; i < crowd->count; i++)
			add_up(sink, crowd->streams[i]);
	}
}

static int
work(const struct task *task, int go, int report)
{
	const struct sched_param priority = {SCALING_DECODER_PRIORITY};
	static struct sink sink;
	static struct crowd crowd;
	struct library *library = NULL;
	char word = 'r';

	if (task->order == SCALING_BY_LIBRARY
		    ? library_open(task->path, task->streams, &library) < 0
		    : crowd_open(&crowd, task->path, task->streams) < 0)
		return 1;
	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	if (write(report, &word, 1) != 1 || read(go, &word, 1) != 1)
		return 1;
	if (task->order == SCALING_AT_ONCE)
		decode_at_once(&sink, &crowd);
	else if (task->order == SCALING_BY_LIBRARY)
		sink.frames = library_decode(library);
	else
		decode_in_sequence(&sink, &crowd);
	return write(report, &sink.frames, sizeof(sink.frames)) ==
			       sizeof(sink.frames)
		       ? 0
		       : 1;
}

/* Each has a CPU of its own: at best. */
static void
pin(unsigned cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
}

static int
start(struct worker *worker, const struct task *task)
{
	int go[2], report[2];

	if (pipe(go) < 0 || pipe(report) < 0)
		return -errno;
	worker->pid = fork();
	if (worker->pid < 0)
		return -errno;
	if (worker->pid == 0) {
		pin(task->cpu);
		_exit(work(task, go[0], report[1]));
	}
	close(go[0]);
	close(report[1]);
	worker->go = go[1];
	worker->report = report[0];
	return 0;
}

static int
hear(const struct worker *worker, void *ret_word, size_t length)
{
	return read(worker->report, ret_word, length) == (ssize_t)length
		       ? 0
		       : -EPIPE;
}

static int
race(const struct worker *workers, unsigned count,
     struct scaling_result *ret_result)
{
	const struct sched_param priority = {SCALING_MIXER_PRIORITY};
	uint64_t frames = 0;
	int64_t begin_ns;
	char word = 0;
	unsigned i;
	int result = 0;

	for (i = 0; result == 0 && i < count; i++)
		result = hear(&workers[i], &word, 1);
	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	begin_ns = clock_now_ns();
	for (i = 0; result == 0 && i < count; i++)
		if (write(workers[i].go, &word, 1) != 1)
			result = -EPIPE;
	for (i = 0; result == 0 && i < count; i++) {
		result = hear(&workers[i], &frames, sizeof(frames));
		ret_result->frames += frames;
	}
	ret_result->wall_ns = clock_now_ns() - begin_ns;
	return result;
}

int
scaling_by_processes(const char *path, unsigned processes, unsigned streams,
		     enum scaling_order order,
		     struct scaling_result *ret_result)
{
	struct worker workers[PROCESSES_MAX];
	unsigned count, left = streams;
	int result = 0;
	unsigned i;

	*ret_result = (struct scaling_result){0};
	if (processes > streams)
		processes = streams;
	for (count = 0; result == 0 && count < processes; count++) {
		const struct task task = {
			.path = path,
			.streams = left / (processes - count),
			.order = order,
			.cpu = count,
		};

		result = start(&workers[count], &task);
		left -= task.streams;
	}
	if (result == 0)
		result = race(workers, count, ret_result);
	for (i = 0; i < count; i++) {
		close(workers[i].go);
		close(workers[i].report);
		waitpid(workers[i].pid, NULL, 0);
	}
	return result;
}

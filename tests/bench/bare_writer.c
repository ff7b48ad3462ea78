/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bare_writer: the least that can feed a sound card: one SCHED_FIFO thread
 * that fills the whole buffer with silence each time it wakes, which is each
 * STEP_US (0: each half of the buffer). Beside a player
 * on the same model of card in the same stress, it shows what the machine alone
 * does: whoever underruns within 50 ms of one of its own underruns or late
 * wake-ups was not at fault.
 *
 *   bare_writer DEVICE BUFFER_MS PRIORITY SECONDS LATE_US STEP_US
 *
 * Prints "SECONDS late US" and "SECONDS xrun" lines (monotonic time), then
 * "wakes N worst US p9999 US xruns N". Set-up first, then a loop that makes no
 * call but alsa-lib's and clock_nanosleep(). */
#include <alsa/asoundlib.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { EVENTS_MAX = 65536, RATE_HZ = 48000, WAKES_MAX = 4 * 1000 * 1000 };

struct writer {
	snd_pcm_t *pcm;
	snd_pcm_uframes_t buffer_frames;
	int64_t late_ns;
	int64_t step_ns;
	uint64_t wakes;
	uint64_t xruns;
	int64_t *delays_ns; /* of each wake-up */
	/* late wake-ups (ns > 0) and xruns (-1), printed at the end */
	struct event {
		int64_t time_ns;
		int64_t late_ns;
	} events[EVENTS_MAX];
	unsigned event_count;
};

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
note(struct writer *writer, int64_t time_ns, int64_t late_ns)
{
	if (writer->event_count < EVENTS_MAX)
		writer->events[writer->event_count++] =
			(struct event){time_ns, late_ns};
}

/* Fills what is free. False after a failure that is no xrun. */
static bool
fill(struct writer *writer)
{
	static const int16_t silence[RATE_HZ / 10 * 2];
	snd_pcm_sframes_t avail = snd_pcm_avail(writer->pcm);

	if (avail == -EPIPE) {
		writer->xruns++;
		note(writer, now_ns(), -1);
		if (snd_pcm_prepare(writer->pcm) < 0)
			return false;
		avail = (snd_pcm_sframes_t)writer->buffer_frames;
	}
	while (avail > 0) {
		const snd_pcm_sframes_t most = RATE_HZ / 10;
		const snd_pcm_sframes_t done = snd_pcm_writei(
			writer->pcm, silence,
			(snd_pcm_uframes_t)(avail < most ? avail : most));

		if (done == -EPIPE)
			return true; /* the next round counts it */
		if (done <= 0)
			break;
		avail -= done;
	}
	if (snd_pcm_state(writer->pcm) == SND_PCM_STATE_PREPARED)
		snd_pcm_start(writer->pcm);
	return true;
}

static void
run(struct writer *writer, int64_t seconds)
{
	const int64_t end_ns = now_ns() + seconds * 1000000000;
	const int64_t step_ns = writer->step_ns > 0
					? writer->step_ns
					: (int64_t)writer->buffer_frames *
						  1000000000 / RATE_HZ / 2;
	int64_t due_ns = now_ns();

	while (due_ns < end_ns && fill(writer)) {
		int64_t late_ns;

		due_ns += step_ns;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
				&(struct timespec){due_ns / 1000000000,
						   due_ns % 1000000000},
				NULL);
		late_ns = now_ns() - due_ns;
		if (writer->wakes < WAKES_MAX)
			writer->delays_ns[writer->wakes] = late_ns;
		writer->wakes++;
		if (late_ns > writer->late_ns)
			note(writer, due_ns, late_ns);
		if (late_ns > step_ns)
			due_ns += late_ns;
	}
}

static int
compare_ns(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a;
	const int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static void
report(struct writer *writer)
{
	const uint64_t wakes =
		writer->wakes < WAKES_MAX ? writer->wakes : WAKES_MAX;
	unsigned i;

	for (i = 0; i < writer->event_count; i++) {
		const struct event *event = &writer->events[i];

		if (event->late_ns < 0)
			printf("%.6f xrun\n", (double)event->time_ns / 1e9);
		else
			printf("%.6f late %lld\n", (double)event->time_ns / 1e9,
			       (long long)event->late_ns / 1000);
	}
	qsort(writer->delays_ns, wakes, sizeof(int64_t), compare_ns);
	printf("wakes %llu worst %lld p9999 %lld xruns %llu\n",
	       (unsigned long long)writer->wakes,
	       wakes == 0 ? 0LL
			  : (long long)writer->delays_ns[wakes - 1] / 1000,
	       wakes == 0 ? 0LL
			  : (long long)writer->delays_ns[wakes * 9999 / 10000] /
				    1000,
	       (unsigned long long)writer->xruns);
}

static int
open_card(struct writer *writer, const char *device, unsigned buffer_ms)
{
	snd_pcm_uframes_t period_frames;
	int result = snd_pcm_open(&writer->pcm, device, SND_PCM_STREAM_PLAYBACK,
				  SND_PCM_NONBLOCK);

	if (result < 0)
		return result;
	result = snd_pcm_set_params(writer->pcm, SND_PCM_FORMAT_S16_LE,
				    SND_PCM_ACCESS_RW_INTERLEAVED, 2, RATE_HZ,
				    0, buffer_ms * 1000);
	if (result < 0)
		return result;
	return snd_pcm_get_params(writer->pcm, &writer->buffer_frames,
				  &period_frames);
}

int
main(int argc, char *argv[])
{
	static struct writer writer;
	int result;

	if (argc != 7) {
		fprintf(stderr, "usage: bare_writer DEVICE BUFFER_MS PRIORITY "
				"SECONDS LATE_US STEP_US\n");
		return 2;
	}
	writer.late_ns = strtoll(argv[5], NULL, 10) * 1000;
	writer.step_ns = strtoll(argv[6], NULL, 10) * 1000;
	writer.delays_ns = calloc(WAKES_MAX, sizeof(int64_t));
	result = open_card(&writer, argv[1],
			   (unsigned)strtoul(argv[2], NULL, 10));
	if (result < 0 || writer.delays_ns == NULL) {
		fprintf(stderr, "bare_writer: %s: %s\n", argv[1],
			snd_strerror(result));
		return 1;
	}
	mlockall(MCL_CURRENT);
	if (sched_setscheduler(0, SCHED_FIFO,
			       &(struct sched_param){
				       (int)strtol(argv[3], NULL, 10)}) < 0) {
		perror("bare_writer: SCHED_FIFO");
		return 1;
	}
	run(&writer, strtoll(argv[4], NULL, 10));
	report(&writer);
	snd_pcm_close(writer.pcm);
	free(writer.delays_ns);
	return 0;
}

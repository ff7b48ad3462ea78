/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card_probe.c - what a listener at a real kernel's card hears, and when.
 *
 *   rotary_card_probe ear DEVICE RAW TIMES
 *   rotary_card_probe bare DEVICE BUFFER_MS ROUNDS GUARD_FRAMES
 *
 * ear captures 32 bits stereo at 44.1 kHz until it is killed: the samples to
 * RAW; to TIMES pairs of 64 bits, how many frames there were, and the monotonic
 * nanoseconds at which that was seen. It looks each half millisecond, so that
 * no frame is told earlier than it came, and hardly later.
 *
 * bare is the smallest program that takes samples back: it keeps the buffer
 * full of one level, and each round takes back all but GUARD_FRAMES and writes
 * another. A line is the nanoseconds at which it wanted to, the card's position
 * then, and the first frame that is another. What the kernel, the card and the
 * emulation cost any program is seen here. It is killed when done, so that its
 * last frames mark its end.
 *
 * Exit: 1 when anything failed. */
#include <alsa/asoundlib.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	RATE = 44100,
	LOOK_NS = 500000,
	PRIORITY = 60,
	STEP_MS = 5,
	FILL = 4096
};

static int64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
sleep_ns(long ns)
{
	const struct timespec wait = {.tv_nsec = ns};

	(void)nanosleep(&wait, NULL);
}

static int
fail(const char *what, long error)
{
	fprintf(stderr, "%s: %s\n", what, snd_strerror((int)error));
	return 1;
}

static int
set_up(snd_pcm_t *pcm, snd_pcm_format_t format, unsigned buffer_us)
{
	snd_pcm_hw_params_t *params = NULL;
	unsigned rate = RATE;
	int error = 0;

	snd_pcm_hw_params_alloca(&params);
	error = snd_pcm_hw_params_any(pcm, params);
	if (error >= 0)
		error = snd_pcm_hw_params_set_access(
			pcm, params, SND_PCM_ACCESS_RW_INTERLEAVED);
	if (error >= 0)
		error = snd_pcm_hw_params_set_format(pcm, params, format);
	if (error >= 0)
		error = snd_pcm_hw_params_set_channels(pcm, params, 2);
	if (error >= 0)
		error = snd_pcm_hw_params_set_rate_near(pcm, params, &rate,
							NULL);
	if (error >= 0)
		error = snd_pcm_hw_params_set_buffer_time_near(
			pcm, params, &buffer_us, NULL);
	if (error >= 0)
		error = snd_pcm_hw_params(pcm, params);
	return error >= 0 && rate != RATE ? -EINVAL : error;
}

static int
ear(const char *device, const char *raw_path, const char *times_path)
{
	static int32_t samples[2 * RATE];
	FILE *const raw = fopen(raw_path, "wb");
	FILE *const times = fopen(times_path, "wb");
	snd_pcm_t *pcm = NULL;
	int64_t entry[2] = {0};
	long got = snd_pcm_open(&pcm, device, SND_PCM_STREAM_CAPTURE,
				SND_PCM_NONBLOCK);

	if (raw == NULL || times == NULL || got < 0)
		return fail(device, got);
	got = set_up(pcm, SND_PCM_FORMAT_S32_LE, 500000);
	if (got >= 0)
		got = snd_pcm_start(pcm);
	while (got >= 0 || got == -EAGAIN) {
		sleep_ns(LOOK_NS);
		got = snd_pcm_avail(pcm);
		entry[1] = now_ns();
		if (got <= 0)
			continue;
		got = snd_pcm_readi(pcm, samples,
				    got < RATE ? (unsigned long)got : RATE);
		if (got <= 0)
			continue;
		entry[0] += got;
		fwrite(samples, 8, (size_t)got, raw);
		fwrite(entry, sizeof(entry), 1, times);
		fflush(raw);
		fflush(times);
	}
	return fail("capture", got);
}

static int16_t
level_of(unsigned round)
{
	return (int16_t)(1000 * (1 + round % 8));
}

/* Writes what there is room for; -errno, or how many. */
static long
top_up(snd_pcm_t *pcm, unsigned round, int64_t *written)
{
	/* One level in both sizes of sample. */
	static int16_t samples[4 * FILL];
	long done = 0;

	for (unsigned i = 0; i < 4 * FILL; i++)
		samples[i] = level_of(round);
	do {
		done = snd_pcm_writei(pcm, samples, FILL);
		if (done > 0)
			*written += done;
	} while (done == FILL);
	return done == -EAGAIN ? 0 : done;
}

static int
change(snd_pcm_t *pcm, long guard, int64_t *written)
{
	const int64_t asked_ns = now_ns();
	snd_pcm_sframes_t delay = 0;
	long back = snd_pcm_delay(pcm, &delay);
	const int64_t position = *written - delay;

	if (back < 0)
		return fail("delay", back);
	back = snd_pcm_rewindable(pcm) - guard;
	if (back > 0)
		back = snd_pcm_rewind(pcm, (snd_pcm_uframes_t)back);
	if (back > 0)
		*written -= back;
	printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", asked_ns, position,
	       *written);
	fflush(stdout);
	return 0;
}

static int
bare(const char *device, unsigned buffer_ms, unsigned rounds, long guard)
{
	snd_pcm_t *pcm = NULL;
	int64_t written = 0;
	long done = snd_pcm_open(&pcm, device, SND_PCM_STREAM_PLAYBACK,
				 SND_PCM_NONBLOCK);

	if (done < 0)
		return fail(device, done);
	done = set_up(pcm, SND_PCM_FORMAT_S32_LE, buffer_ms * 1000);
	if (done < 0)
		done = set_up(pcm, SND_PCM_FORMAT_S16_LE, buffer_ms * 1000);
	if (done < 0)
		return fail("set up", done);
	for (unsigned round = 0; round <= rounds; round++) {
		const long steps = 60 + rand() % 30;

		if (round > 0 && change(pcm, guard, &written) != 0)
			return 1;
		for (long i = 0; i < 2 * steps; i++) {
			done = top_up(pcm, round, &written);
			if (done < 0)
				return fail("write", done);
			sleep_ns(STEP_MS * 1000000L / 2);
		}
	}
	(void)raise(SIGKILL);
	return 1;
}

int
main(int argc, char **argv)
{
	const struct sched_param param = {.sched_priority = PRIORITY};

	(void)sched_setscheduler(0, SCHED_FIFO, &param);
	if (argc == 5 && strcmp(argv[1], "ear") == 0)
		return ear(argv[2], argv[3], argv[4]);
	if (argc == 6 && strcmp(argv[1], "bare") == 0)
		return bare(argv[2], (unsigned)strtoul(argv[3], NULL, 10),
			    (unsigned)strtoul(argv[4], NULL, 10),
			    strtol(argv[5], NULL, 10));
	fprintf(stderr, "ear DEVICE RAW TIMES | "
			"bare DEVICE BUFFER_MS ROUNDS GUARD_FRAMES\n");
	return 1;
}

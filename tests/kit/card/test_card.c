/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_card.c - the test card through the real alsa-lib: what is heard is what
 * was written, to the bit and the frame, and each fault looks as it should.
 *
 * No test asserts how fast something is. Where a test must know the position,
 * it stalls the card first. The card runs faster than nominal (ppm), so that
 * little time is spent in waiting. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <alsa/asoundlib.h>
#include <cmocka.h>

enum { RATE = 48000, CHANNELS = 2, BUFFER = 2400, PERIOD = 240 };
enum { SOUND = 6000, LOG_MAX = 65536, DEADLINE_S = 20 };

struct fixture {
	char dir[64];
	snd_pcm_t *pcm;
	snd_pcm_format_t format;
	bool mmap;
	size_t frame_bytes;
	unsigned char *sound; /* SOUND frames of noise */
	char log[LOG_MAX];
};

static const snd_pcm_format_t all_formats[] = {
	SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S24_LE,   SND_PCM_FORMAT_S24_3LE,
	SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_FLOAT_LE,
};

static void
write_file(const struct fixture *fixture, const char *name, const char *text)
{
	char path[96], temporary[96];

	snprintf(path, sizeof path, "%s/%s", fixture->dir, name);
	snprintf(temporary, sizeof temporary, "%s/new", fixture->dir);
	FILE *file = fopen(temporary, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(temporary, path), 0);
}

static const char *
read_log(struct fixture *fixture)
{
	char path[96];

	snprintf(path, sizeof path, "%s/events.log", fixture->dir);
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(fixture->log, 1, LOG_MAX - 1, file) : 0;
	fixture->log[n] = '\0';
	if (file)
		fclose(file);
	return fixture->log;
}

static unsigned
count_log(struct fixture *fixture, const char *text)
{
	unsigned count = 0;

	for (const char *at = read_log(fixture); (at = strstr(at, text)); at++)
		count++;
	return count;
}

/* Waits until the log has `count` times the text. */
static void
await_log(struct fixture *fixture, const char *text, unsigned count)
{
	struct timespec tick = {.tv_nsec = 500000};
	time_t end = time(NULL) + DEADLINE_S;

	while (count_log(fixture, text) < count) {
		if (time(NULL) > end)
			fail_msg("no \"%s\" in:\n%s", text, fixture->log);
		nanosleep(&tick, NULL);
	}
}

/* Sets the faults and waits until the card has seen it. */
static void
set_fault(struct fixture *fixture, const char *text)
{
	unsigned before = count_log(fixture, " fault");

	write_file(fixture, "fault", text);
	await_log(fixture, " fault", before + 1);
}

static int
open_card(struct fixture *fixture)
{
	return snd_pcm_open(&fixture->pcm, "rotarytest",
			    SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK);
}

static void
set_up(struct fixture *fixture)
{
	snd_pcm_hw_params_t *params = NULL;
	snd_pcm_t *pcm = fixture->pcm;
	snd_pcm_sw_params_t *sw = NULL;

	snd_pcm_hw_params_alloca(&params);
	assert_true(snd_pcm_hw_params_any(pcm, params) >= 0);
	assert_int_equal(snd_pcm_hw_params_set_access(
				 pcm, params,
				 fixture->mmap ? SND_PCM_ACCESS_MMAP_INTERLEAVED
					       : SND_PCM_ACCESS_RW_INTERLEAVED),
			 0);
	assert_int_equal(
		snd_pcm_hw_params_set_format(pcm, params, fixture->format), 0);
	assert_int_equal(snd_pcm_hw_params_set_rate(pcm, params, RATE, 0), 0);
	assert_int_equal(snd_pcm_hw_params_set_channels(pcm, params, CHANNELS),
			 0);
	assert_int_equal(
		snd_pcm_hw_params_set_period_size(pcm, params, PERIOD, 0), 0);
	assert_int_equal(snd_pcm_hw_params_set_buffer_size(pcm, params, BUFFER),
			 0);
	assert_int_equal(snd_pcm_hw_params(pcm, params), 0);

	snd_pcm_sw_params_alloca(&sw);
	assert_int_equal(snd_pcm_sw_params_current(pcm, sw), 0);
	assert_int_equal(
		snd_pcm_sw_params_set_start_threshold(pcm, sw, 1U << 30), 0);
	assert_int_equal(snd_pcm_sw_params_set_avail_min(pcm, sw, PERIOD), 0);
	assert_int_equal(snd_pcm_sw_params(pcm, sw), 0);
}

/* Opens a card of this format and makes noise for it. */
static void
begin(struct fixture *fixture, snd_pcm_format_t format, bool mmap)
{
	fixture->format = format;
	fixture->mmap = mmap;
	assert_int_equal(open_card(fixture), 0);
	set_up(fixture);
	fixture->frame_bytes = (size_t)snd_pcm_frames_to_bytes(fixture->pcm, 1);
	size_t bytes = SOUND * fixture->frame_bytes;
	fixture->sound = realloc(fixture->sound, bytes);
	assert_non_null(fixture->sound);
	srand(7);
	for (size_t i = 0; i < bytes; i++)
		fixture->sound[i] = (unsigned char)(rand() >> 8);
}

static void
end(struct fixture *fixture)
{
	if (fixture->pcm)
		assert_int_equal(snd_pcm_close(fixture->pcm), 0);
	fixture->pcm = NULL;
}

static snd_pcm_sframes_t
write_mmap(struct fixture *fixture, size_t from, size_t frames)
{
	const snd_pcm_channel_area_t *areas = NULL;
	snd_pcm_uframes_t offset = 0, now = frames;
	size_t size = fixture->frame_bytes;
	snd_pcm_sframes_t r = snd_pcm_avail_update(fixture->pcm);

	if (r >= 0)
		r = snd_pcm_mmap_begin(fixture->pcm, &areas, &offset, &now);
	if (r < 0)
		return r;
	if (!now)
		return -EAGAIN;
	memcpy((unsigned char *)areas->addr + offset * size,
	       fixture->sound + from * size, now * size);
	return snd_pcm_mmap_commit(fixture->pcm, offset, now);
}

static snd_pcm_sframes_t
write_some(struct fixture *fixture, size_t from, size_t frames)
{
	if (fixture->mmap)
		return write_mmap(fixture, from, frames);
	return snd_pcm_writei(fixture->pcm,
			      fixture->sound + from * fixture->frame_bytes,
			      frames);
}

/* Writes frames [from, to) of the sound, waiting where the card is full. */
static void
write_all(struct fixture *fixture, size_t from, size_t to)
{
	while (from < to) {
		snd_pcm_sframes_t n = write_some(fixture, from, to - from);
		if (n == -EAGAIN || n == 0) {
			if (snd_pcm_state(fixture->pcm) ==
			    SND_PCM_STATE_PREPARED)
				snd_pcm_start(fixture->pcm);
			n = snd_pcm_wait(fixture->pcm, DEADLINE_S * 1000);
			assert_int_equal(n, 1);
			continue;
		}
		if (n < 0)
			fail_msg("write: %s\n%s", snd_strerror((int)n),
				 read_log(fixture));
		from += (size_t)n;
	}
}

static void
drain(struct fixture *fixture)
{
	snd_pcm_nonblock(fixture->pcm, 0);
	assert_int_equal(snd_pcm_drain(fixture->pcm), 0);
	snd_pcm_nonblock(fixture->pcm, 1);
}

/* What was heard in the newest set-up; the card must be closed. */
static unsigned char *
read_heard(struct fixture *fixture, size_t *ret_frames)
{
	char path[96];
	unsigned char *memory = malloc(1U << 20);

	assert_non_null(memory);
	snprintf(path, sizeof path, "%s/heard.raw", fixture->dir);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	size_t bytes = fread(memory, 1, 1U << 20, file);
	fclose(file);
	assert_int_equal(bytes % fixture->frame_bytes, 0);
	*ret_frames = bytes / fixture->frame_bytes;
	return memory;
}

static void
assert_heard(struct fixture *fixture, const void *sound, size_t frames)
{
	size_t heard_frames = 0;
	unsigned char *heard = read_heard(fixture, &heard_frames);

	assert_int_equal(heard_frames, frames);
	assert_memory_equal(heard, sound, frames * fixture->frame_bytes);
	free(heard);
}

static void
test_all_formats_are_heard_bit_for_bit(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 5; i++) {
		for (int mmap = 0; mmap < 2; mmap++) {
			begin(fixture, all_formats[i], mmap);
			write_all(fixture, 0, SOUND);
			drain(fixture);
			end(fixture);
			assert_heard(fixture, fixture->sound, SOUND);
		}
	}
	assert_int_equal(count_log(fixture, "xrun"), 0);
	assert_int_equal(count_log(fixture, "late"), 0);
	assert_int_equal(count_log(fixture, "drained"), 10);
}

/* The card stalls, so that all of what is said about the position is exact. */
static snd_pcm_sframes_t
play_and_stall(struct fixture *fixture, size_t frames)
{
	write_all(fixture, 0, frames);
	if (snd_pcm_state(fixture->pcm) == SND_PCM_STATE_PREPARED)
		assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	set_fault(fixture, "stall");
	snd_pcm_sframes_t delay = 0;
	assert_true(snd_pcm_avail_update(fixture->pcm) >= 0);
	assert_int_equal(snd_pcm_delay(fixture->pcm, &delay), 0);
	assert_true(delay > 0);
	return delay;
}

/* Takes back `back` frames and writes their inverse. */
static void
replace(struct fixture *fixture, size_t at, size_t back)
{
	for (size_t i = (at - back) * fixture->frame_bytes;
	     i < at * fixture->frame_bytes; i++)
		fixture->sound[i] = (unsigned char)~fixture->sound[i];
	assert_int_equal(snd_pcm_rewind(fixture->pcm, back), back);
	write_all(fixture, at - back, at);
}

static void
test_a_rewind_replaces_what_was_not_heard(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	for (int mmap = 0; mmap < 2; mmap++) {
		begin(fixture, SND_PCM_FORMAT_S32_LE, mmap);
		snd_pcm_sframes_t delay = play_and_stall(fixture, BUFFER);
		replace(fixture, BUFFER, (size_t)delay - 1);
		set_fault(fixture, "");
		drain(fixture);
		end(fixture);
		assert_heard(fixture, fixture->sound, BUFFER);
	}
	assert_int_equal(count_log(fixture, "rewind frames="), 2);
	assert_int_equal(count_log(fixture, "late"), 0);
}

static void
test_what_was_fetched_is_not_replaced(void **state)
{
	struct fixture *fixture = *state;
	const size_t late = 7;

	write_file(fixture, "params", "fifo_frames 8\nppm 0\n");
	begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	write_all(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	/* Until some were played. */
	assert_int_equal(snd_pcm_wait(fixture->pcm, DEADLINE_S * 1000), 1);
	set_fault(fixture, "stall");
	snd_pcm_sframes_t delay = 0;
	assert_int_equal(snd_pcm_delay(fixture->pcm, &delay), 0);
	size_t back = (size_t)delay - 1;
	unsigned char *old = malloc(BUFFER * fixture->frame_bytes);
	assert_non_null(old);
	memcpy(old, fixture->sound, BUFFER * fixture->frame_bytes);
	replace(fixture, BUFFER, back);
	set_fault(fixture, "");
	drain(fixture);
	end(fixture);
	/* The card had fetched the first of them as they were. */
	size_t at = (BUFFER - back) * fixture->frame_bytes;
	memcpy(fixture->sound + at, old + at, late * fixture->frame_bytes);
	free(old);
	assert_heard(fixture, fixture->sound, BUFFER);
	assert_int_equal(count_log(fixture, "late frames=7\n"), 1);
}

static void
test_a_card_without_rewind_plays_the_old(void **state)
{
	struct fixture *fixture = *state;

	write_file(fixture, "params", "rewind no\nppm 0\n");
	begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	unsigned char *old = malloc(BUFFER * fixture->frame_bytes);
	assert_non_null(old);
	memcpy(old, fixture->sound, BUFFER * fixture->frame_bytes);
	snd_pcm_sframes_t delay = play_and_stall(fixture, BUFFER);
	replace(fixture, BUFFER, (size_t)delay - 1);
	set_fault(fixture, "");
	drain(fixture);
	end(fixture);
	assert_heard(fixture, old, BUFFER);
	free(old);
}

static void
test_a_drop_ends_at_once(void **state)
{
	struct fixture *fixture = *state;
	size_t frames = 0;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	begin(fixture, SND_PCM_FORMAT_S24_LE, true);
	snd_pcm_sframes_t delay = play_and_stall(fixture, BUFFER);
	size_t first = BUFFER - (size_t)delay;
	assert_int_equal(snd_pcm_drop(fixture->pcm), 0);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), 0);
	set_fault(fixture, "");
	write_all(fixture, BUFFER, BUFFER + 1000);
	drain(fixture);
	end(fixture);
	unsigned char *heard = read_heard(fixture, &frames);
	size_t size = fixture->frame_bytes;
	assert_int_equal(frames, first + 1000);
	assert_memory_equal(heard, fixture->sound, first * size);
	assert_memory_equal(heard + first * size,
			    fixture->sound + BUFFER * size, 1000 * size);
	free(heard);
}

static void
await_state(struct fixture *fixture, snd_pcm_state_t wanted)
{
	time_t end_time = time(NULL) + DEADLINE_S;

	while (snd_pcm_state(fixture->pcm) != wanted) {
		assert_true(time(NULL) < end_time);
		snd_pcm_wait(fixture->pcm, 100);
		snd_pcm_avail_update(fixture->pcm);
	}
}

static void
test_a_late_writer_has_an_xrun(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, SND_PCM_FORMAT_FLOAT_LE, false);
	write_all(fixture, 0, 777);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	await_state(fixture, SND_PCM_STATE_XRUN);
	assert_int_equal(snd_pcm_avail_update(fixture->pcm), -EPIPE);
	assert_int_equal(write_some(fixture, 0, 10), -EPIPE);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), 0);
	write_all(fixture, 777, 1500);
	drain(fixture);
	end(fixture);
	assert_heard(fixture, fixture->sound, 1500);
	assert_int_equal(count_log(fixture, "xrun heard=777"), 1);
}

static void
test_an_xrun_on_demand(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	for (int mmap = 0; mmap < 2; mmap++) {
		begin(fixture, SND_PCM_FORMAT_S16_LE, mmap);
		play_and_stall(fixture, BUFFER);
		set_fault(fixture, "stall xrun");
		assert_int_equal(write_some(fixture, 0, 10), -EPIPE);
		assert_int_equal(snd_pcm_state(fixture->pcm),
				 SND_PCM_STATE_XRUN);
		set_fault(fixture, "");
		end(fixture);
	}
	assert_int_equal(count_log(fixture, " xrun heard="), 2);
}

static void
assert_polled(struct fixture *fixture, unsigned short wanted)
{
	struct pollfd fd;
	unsigned short revents = 0;

	assert_int_equal(snd_pcm_poll_descriptors(fixture->pcm, &fd, 1), 1);
	assert_int_equal(poll(&fd, 1, DEADLINE_S * 1000), 1);
	assert_int_equal(snd_pcm_poll_descriptors_revents(fixture->pcm, &fd, 1,
							  &revents),
			 0);
	assert_int_equal(revents & wanted, wanted);
}

static void
test_a_card_that_has_gone(void **state)
{
	struct fixture *fixture = *state;
	snd_pcm_t *other = NULL;

	begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	write_all(fixture, 0, SOUND);
	set_fault(fixture, "gone");
	assert_polled(fixture, POLLERR);
	assert_int_equal(snd_pcm_state(fixture->pcm),
			 SND_PCM_STATE_DISCONNECTED);
	assert_int_equal(write_some(fixture, 0, 10), -ENODEV);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), -ENODEV);
	assert_int_equal(snd_pcm_rewind(fixture->pcm, 1), -ENODEV);
	assert_int_equal(
		snd_pcm_open(&other, "rotarytest", SND_PCM_STREAM_PLAYBACK, 0),
		-ENODEV);
	/* Plugged in again: for the next open. */
	set_fault(fixture, "");
	assert_int_equal(snd_pcm_prepare(fixture->pcm), -ENODEV);
	end(fixture);
	begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	write_all(fixture, 0, SOUND);
	drain(fixture);
	end(fixture);
	assert_heard(fixture, fixture->sound, SOUND);
}

static void
test_a_busy_card(void **state)
{
	struct fixture *fixture = *state;

	write_file(fixture, "fault", "busy");
	assert_int_equal(open_card(fixture), -EBUSY);
	write_file(fixture, "fault", "");
	begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	end(fixture);
	assert_int_equal(count_log(fixture, "refused busy"), 1);
}

static void
test_a_suspended_card(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	write_all(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	set_fault(fixture, "suspend");
	assert_polled(fixture, POLLERR);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_SUSPENDED);
	assert_int_equal(write_some(fixture, 0, 10), -ESTRPIPE);
	snd_pcm_resume(fixture->pcm);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_SUSPENDED);
	set_fault(fixture, "");
	snd_pcm_resume(fixture->pcm);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_RUNNING);
	write_all(fixture, BUFFER, SOUND);
	drain(fixture);
	end(fixture);
	/* Nothing was lost, nothing was heard twice. */
	assert_heard(fixture, fixture->sound, SOUND);
}

static void
test_a_suspended_card_that_cannot_resume(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_RESUME", "no", 1);
	begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	write_all(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	set_fault(fixture, "suspend");
	assert_int_equal(write_some(fixture, 0, 10), -ESTRPIPE);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), -ESTRPIPE);
	set_fault(fixture, "");
	snd_pcm_resume(fixture->pcm);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_SUSPENDED);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), 0);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_PREPARED);
	end(fixture);
	unsetenv("ROTARY_TEST_CARD_RESUME");
}

static void
test_a_stalled_card_goes_on(void **state)
{
	struct fixture *fixture = *state;
	struct timespec tick = {.tv_nsec = 20000000};

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	begin(fixture, SND_PCM_FORMAT_S32_LE, false);
	snd_pcm_sframes_t delay = play_and_stall(fixture, BUFFER), later = 0;
	/* However long one waits: a longer wait can only fail more surely. */
	nanosleep(&tick, NULL);
	assert_true(snd_pcm_avail_update(fixture->pcm) >= 0);
	assert_int_equal(snd_pcm_delay(fixture->pcm, &later), 0);
	assert_int_equal(later, delay);
	set_fault(fixture, "");
	write_all(fixture, BUFFER, SOUND);
	drain(fixture);
	end(fixture);
	assert_heard(fixture, fixture->sound, SOUND);
	assert_int_equal(count_log(fixture, "xrun"), 0);
}

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
test_a_write_that_blocks(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	set_fault(fixture, "block 50");
	int64_t start = now_ns();
	write_all(fixture, 0, 10);
	/* A lower bound: no load of the machine breaks it. */
	assert_true(now_ns() - start >= 50000000);
	end(fixture);
	assert_int_equal(count_log(fixture, "block ms=50"), 1);
}

static void
test_a_batch_card_moves_in_periods(void **state)
{
	struct fixture *fixture = *state;
	snd_pcm_sframes_t delay = 0;

	write_file(fixture, "params", "batch yes\nppm 0\n");
	begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	write_all(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(snd_pcm_wait(fixture->pcm, DEADLINE_S * 1000),
				 1);
		snd_pcm_sframes_t avail = snd_pcm_avail_update(fixture->pcm);
		assert_true(avail >= PERIOD);
		assert_int_equal(avail % PERIOD, 0);
		assert_int_equal(snd_pcm_delay(fixture->pcm, &delay), 0);
		assert_int_equal(delay % PERIOD, 0);
		write_all(fixture, BUFFER + (size_t)i * PERIOD,
			  BUFFER + (size_t)(i + 1) * PERIOD);
	}
	end(fixture);
}

static void
test_the_card_takes_what_it_is_told(void **state)
{
	struct fixture *fixture = *state;
	snd_pcm_hw_params_t *params = NULL;
	unsigned rate = 96000, channels = 1;

	write_file(fixture, "params",
		   "rates 44100 48000\nformats S16 S32\nchannels 2-4\n"
		   "buffer_bytes 1024-65536\n");
	assert_int_equal(open_card(fixture), 0);
	snd_pcm_hw_params_alloca(&params);
	assert_true(snd_pcm_hw_params_any(fixture->pcm, params) >= 0);
	assert_int_equal(snd_pcm_hw_params_set_rate_near(fixture->pcm, params,
							 &rate, NULL),
			 0);
	assert_int_equal(rate, 48000);
	assert_int_equal(snd_pcm_hw_params_set_channels_near(fixture->pcm,
							     params, &channels),
			 0);
	assert_int_equal(channels, 2);
	assert_int_equal(snd_pcm_hw_params_test_format(fixture->pcm, params,
						       SND_PCM_FORMAT_S32_LE),
			 0);
	assert_true(snd_pcm_hw_params_test_format(fixture->pcm, params,
						  SND_PCM_FORMAT_FLOAT_LE) < 0);
	assert_true(snd_pcm_hw_params_test_access(
			    fixture->pcm, params,
			    SND_PCM_ACCESS_MMAP_NONINTERLEAVED) < 0);
	end(fixture);
	write_file(fixture, "params", "rates 48000-44100\n");
	assert_int_equal(open_card(fixture), -EINVAL);
}

static void
test_the_clock_drifts_as_told(void **state)
{
	struct fixture *fixture = *state;
	double start = 0, stop = 0;

	write_file(fixture, "params", "ppm -500000\n");
	begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	write_all(fixture, 0, BUFFER);
	drain(fixture);
	end(fixture);
	read_log(fixture);
	for (char *line = strtok(fixture->log, "\n"); line;
	     line = strtok(NULL, "\n")) {
		if (strstr(line, " start "))
			start = strtod(line, NULL);
		if (strstr(line, " drained "))
			stop = strtod(line, NULL);
	}
	/* At half the rate, never sooner. */
	assert_true(stop - start >= (double)BUFFER / RATE * 2);
}

static void
test_poll_sleeps_until_avail_min(void **state)
{
	struct fixture *fixture = *state;
	struct pollfd fd;
	unsigned short revents = 0;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	write_all(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	assert_int_equal(snd_pcm_poll_descriptors(fixture->pcm, &fd, 1), 1);
	for (int told = 0; told < 3;) {
		assert_int_equal(poll(&fd, 1, DEADLINE_S * 1000), 1);
		assert_int_equal(snd_pcm_poll_descriptors_revents(
					 fixture->pcm, &fd, 1, &revents),
				 0);
		assert_int_equal(revents & POLLERR, 0);
		if (!(revents & POLLOUT))
			continue;
		assert_true(snd_pcm_avail_update(fixture->pcm) >= PERIOD);
		write_all(fixture, 0, PERIOD);
		told++;
	}
	end(fixture);
}

static int
set_up_test(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	if (!fixture)
		return -1;
	strcpy(fixture->dir, "/tmp/rotary-card-XXXXXX");
	if (!mkdtemp(fixture->dir))
		return -1;
	setenv("ROTARY_TEST_CARD_DIR", fixture->dir, 1);
	setenv("ROTARY_TEST_CARD_PPM", "3000000", 1);
	*state = fixture;
	return 0;
}

static int
tear_down_test(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	if (fixture->pcm)
		snd_pcm_close(fixture->pcm);
	snprintf(command, sizeof command, "rm -r %s", fixture->dir);
	int r = system(command);
	free(fixture->sound);
	free(fixture);
	/* alsa-lib keeps the configuration. */
	snd_config_update_free_global();
	return r;
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up_test, tear_down_test)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_formats_are_heard_bit_for_bit),
		TEST(test_a_rewind_replaces_what_was_not_heard),
		TEST(test_what_was_fetched_is_not_replaced),
		TEST(test_a_card_without_rewind_plays_the_old),
		TEST(test_a_drop_ends_at_once),
		TEST(test_a_late_writer_has_an_xrun),
		TEST(test_an_xrun_on_demand),
		TEST(test_a_card_that_has_gone),
		TEST(test_a_busy_card),
		TEST(test_a_suspended_card),
		TEST(test_a_suspended_card_that_cannot_resume),
		TEST(test_a_stalled_card_goes_on),
		TEST(test_a_write_that_blocks),
		TEST(test_a_batch_card_moves_in_periods),
		TEST(test_the_card_takes_what_it_is_told),
		TEST(test_the_clock_drifts_as_told),
		TEST(test_poll_sleeps_until_avail_min),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#undef TEST

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fixture.c - a test card for one test, and an application that plays on it.
 *
 * The card's folder is new in each test. The sound is noise, SOUND frames of
 * it in the card's format; writers say which of its frames they write. What a
 * test waits for it waits for by the card's log or by poll, DEADLINE_S at
 * most. */
#include "fixture.h"

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

void
fixture_write_file(const struct fixture *fixture, const char *name,
		   const char *text)
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

const char *
fixture_log(struct fixture *fixture)
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

unsigned
fixture_count(struct fixture *fixture, const char *text)
{
	unsigned count = 0;

	for (const char *at = fixture_log(fixture); (at = strstr(at, text));
	     at++)
		count++;
	return count;
}

/* Waits until the log has `count` times the text. */
static void
await_log(struct fixture *fixture, const char *text, unsigned count)
{
	struct timespec tick = {.tv_nsec = 500000};
	time_t end = time(NULL) + DEADLINE_S;

	while (fixture_count(fixture, text) < count) {
		if (time(NULL) > end)
			fail_msg("no \"%s\" in:\n%s", text, fixture->log);
		nanosleep(&tick, NULL);
	}
}

void
fixture_fault(struct fixture *fixture, const char *text)
{
	unsigned before = fixture_count(fixture, " fault");

	fixture_write_file(fixture, "fault", text);
	await_log(fixture, " fault", before + 1);
}

int
fixture_open(struct fixture *fixture)
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

void
fixture_begin(struct fixture *fixture, snd_pcm_format_t format, bool mmap)
{
	fixture->format = format;
	fixture->mmap = mmap;
	assert_int_equal(fixture_open(fixture), 0);
	set_up(fixture);
	fixture->frame_bytes = (size_t)snd_pcm_frames_to_bytes(fixture->pcm, 1);
	size_t bytes = SOUND * fixture->frame_bytes;
	fixture->sound = realloc(fixture->sound, bytes);
	assert_non_null(fixture->sound);
	srand(7);
	for (size_t i = 0; i < bytes; i++)
		fixture->sound[i] = (unsigned char)(rand() >> 8);
}

void
fixture_end(struct fixture *fixture)
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

snd_pcm_sframes_t
fixture_write_some(struct fixture *fixture, size_t from, size_t frames)
{
	if (fixture->mmap)
		return write_mmap(fixture, from, frames);
	/* alsa-lib sees a new state of a plug-in only when it has asked it. */
	snd_pcm_avail_update(fixture->pcm);
	return snd_pcm_writei(fixture->pcm,
			      fixture->sound + from * fixture->frame_bytes,
			      frames);
}

void
fixture_write(struct fixture *fixture, size_t from, size_t to)
{
	while (from < to) {
		snd_pcm_sframes_t n =
			fixture_write_some(fixture, from, to - from);
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
				 fixture_log(fixture));
		from += (size_t)n;
	}
}

void
fixture_drain(struct fixture *fixture)
{
	snd_pcm_nonblock(fixture->pcm, 0);
	assert_int_equal(snd_pcm_drain(fixture->pcm), 0);
	snd_pcm_nonblock(fixture->pcm, 1);
}

unsigned char *
fixture_read_heard(struct fixture *fixture, size_t *ret_frames)
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

void
fixture_assert_heard(struct fixture *fixture, const void *sound, size_t frames)
{
	size_t heard_frames = 0;
	unsigned char *heard = fixture_read_heard(fixture, &heard_frames);

	assert_int_equal(heard_frames, frames);
	assert_memory_equal(heard, sound, frames * fixture->frame_bytes);
	free(heard);
}

snd_pcm_sframes_t
fixture_play_and_stall(struct fixture *fixture, size_t frames)
{
	fixture_write(fixture, 0, frames);
	if (snd_pcm_state(fixture->pcm) == SND_PCM_STATE_PREPARED)
		assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	fixture_fault(fixture, "stall");
	snd_pcm_sframes_t delay = 0;
	assert_true(snd_pcm_avail_update(fixture->pcm) >= 0);
	assert_int_equal(snd_pcm_delay(fixture->pcm, &delay), 0);
	assert_true(delay > 0);
	return delay;
}

void
fixture_await_state(struct fixture *fixture, snd_pcm_state_t wanted)
{
	time_t end_time = time(NULL) + DEADLINE_S;

	while (snd_pcm_state(fixture->pcm) != wanted) {
		assert_true(time(NULL) < end_time);
		snd_pcm_wait(fixture->pcm, 100);
		snd_pcm_avail_update(fixture->pcm);
	}
}

int
fixture_set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	if (!fixture)
		return -1;
	strcpy(fixture->dir, "/tmp/rotary-card-XXXXXX");
	if (!mkdtemp(fixture->dir)) {
		free(fixture);
		return -1;
	}
	setenv("ROTARY_TEST_CARD_DIR", fixture->dir, 1);
	setenv("ROTARY_TEST_CARD_PPM", "3000000", 1);
	*state = fixture;
	return 0;
}

int
fixture_tear_down(void **state)
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_card_sound.c - what the test card plays through the real alsa-lib: to
 * the bit and the frame what was written, less what was taken back in time.
 *
 * No test asserts how fast something is. Where one must know the position, it
 * stalls the card first. */
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

static const snd_pcm_format_t all_formats[] = {
	SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S24_LE,   SND_PCM_FORMAT_S24_3LE,
	SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_FLOAT_LE,
};

static void
test_all_formats_are_heard_bit_for_bit(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 5; i++) {
		for (int mmap = 0; mmap < 2; mmap++) {
			fixture_begin(fixture, all_formats[i], mmap);
			fixture_write(fixture, 0, SOUND);
			fixture_drain(fixture);
			fixture_end(fixture);
			fixture_assert_heard(fixture, fixture->sound, SOUND);
		}
	}
	assert_int_equal(fixture_count(fixture, "xrun"), 0);
	assert_int_equal(fixture_count(fixture, "late"), 0);
	assert_int_equal(fixture_count(fixture, "drained"), 10);
}

/* Takes back `back` frames and writes their inverse. */
static void
replace(struct fixture *fixture, size_t at, size_t back)
{
	for (size_t i = (at - back) * fixture->frame_bytes;
	     i < at * fixture->frame_bytes; i++)
		fixture->sound[i] = (unsigned char)~fixture->sound[i];
	assert_int_equal(snd_pcm_rewind(fixture->pcm, back), back);
	fixture_write(fixture, at - back, at);
}

static void
test_a_rewind_replaces_what_was_not_heard(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	for (int mmap = 0; mmap < 2; mmap++) {
		fixture_begin(fixture, SND_PCM_FORMAT_S32_LE, mmap);
		snd_pcm_sframes_t delay =
			fixture_play_and_stall(fixture, BUFFER);
		replace(fixture, BUFFER, (size_t)delay - 1);
		fixture_fault(fixture, "");
		fixture_drain(fixture);
		fixture_end(fixture);
		fixture_assert_heard(fixture, fixture->sound, BUFFER);
	}
	assert_int_equal(fixture_count(fixture, "rewind frames="), 2);
	assert_int_equal(fixture_count(fixture, "late"), 0);
}

static void
test_what_was_fetched_is_not_replaced(void **state)
{
	struct fixture *fixture = *state;
	const size_t late = 7;

	fixture_write_file(fixture, "params", "fifo_frames 8\nppm 0\n");
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	fixture_write(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	/* Until some were played. */
	assert_int_equal(snd_pcm_wait(fixture->pcm, DEADLINE_S * 1000), 1);
	fixture_fault(fixture, "stall");
	snd_pcm_sframes_t delay = 0;
	assert_int_equal(snd_pcm_delay(fixture->pcm, &delay), 0);
	size_t back = (size_t)delay - 1;
	unsigned char *old = malloc(BUFFER * fixture->frame_bytes);
	assert_non_null(old);
	memcpy(old, fixture->sound, BUFFER * fixture->frame_bytes);
	replace(fixture, BUFFER, back);
	fixture_fault(fixture, "");
	fixture_drain(fixture);
	fixture_end(fixture);
	/* The card had fetched the first of them as they were. */
	size_t at = (BUFFER - back) * fixture->frame_bytes;
	memcpy(fixture->sound + at, old + at, late * fixture->frame_bytes);
	free(old);
	fixture_assert_heard(fixture, fixture->sound, BUFFER);
	assert_int_equal(fixture_count(fixture, "late frames=7\n"), 1);
}

static void
test_a_card_without_rewind_plays_the_old(void **state)
{
	struct fixture *fixture = *state;

	fixture_write_file(fixture, "params", "rewind no\nppm 0\n");
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	unsigned char *old = malloc(BUFFER * fixture->frame_bytes);
	assert_non_null(old);
	memcpy(old, fixture->sound, BUFFER * fixture->frame_bytes);
	snd_pcm_sframes_t delay = fixture_play_and_stall(fixture, BUFFER);
	replace(fixture, BUFFER, (size_t)delay - 1);
	fixture_fault(fixture, "");
	fixture_drain(fixture);
	fixture_end(fixture);
	fixture_assert_heard(fixture, old, BUFFER);
	free(old);
}

static void
test_a_drop_ends_at_once(void **state)
{
	struct fixture *fixture = *state;
	size_t frames = 0;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	fixture_begin(fixture, SND_PCM_FORMAT_S24_LE, true);
	snd_pcm_sframes_t delay = fixture_play_and_stall(fixture, BUFFER);
	size_t first = BUFFER - (size_t)delay;
	assert_int_equal(snd_pcm_drop(fixture->pcm), 0);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), 0);
	fixture_fault(fixture, "");
	fixture_write(fixture, BUFFER, BUFFER + 1000);
	fixture_drain(fixture);
	fixture_end(fixture);
	unsigned char *heard = fixture_read_heard(fixture, &frames);
	size_t size = fixture->frame_bytes;
	assert_int_equal(frames, first + 1000);
	assert_memory_equal(heard, fixture->sound, first * size);
	assert_memory_equal(heard + first * size,
			    fixture->sound + BUFFER * size, 1000 * size);
	free(heard);
}

static void
test_a_batch_card_moves_in_periods(void **state)
{
	struct fixture *fixture = *state;
	snd_pcm_sframes_t delay = 0;

	fixture_write_file(fixture, "params", "batch yes\nppm 0\n");
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	fixture_write(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(snd_pcm_wait(fixture->pcm, DEADLINE_S * 1000),
				 1);
		snd_pcm_sframes_t avail = snd_pcm_avail_update(fixture->pcm);
		assert_true(avail >= PERIOD);
		assert_int_equal(avail % PERIOD, 0);
		assert_int_equal(snd_pcm_delay(fixture->pcm, &delay), 0);
		assert_int_equal(delay % PERIOD, 0);
		fixture_write(fixture, BUFFER + (size_t)i * PERIOD,
			      BUFFER + (size_t)(i + 1) * PERIOD);
	}
	fixture_end(fixture);
}

static void
test_the_card_takes_what_it_is_told(void **state)
{
	struct fixture *fixture = *state;
	snd_pcm_hw_params_t *params = NULL;
	unsigned rate = 96000, channels = 1;

	fixture_write_file(fixture, "params",
			   "rates 44100 48000\nformats S16 S32\nchannels 2-4\n"
			   "buffer_bytes 1024-65536\n");
	assert_int_equal(fixture_open(fixture), 0);
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
	fixture_end(fixture);
	fixture_write_file(fixture, "params", "rates 48000-44100\n");
	assert_int_equal(fixture_open(fixture), -EINVAL);
}

static void
test_the_clock_drifts_as_told(void **state)
{
	struct fixture *fixture = *state;
	double start = 0, stop = 0;

	fixture_write_file(fixture, "params", "ppm -500000\n");
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	fixture_write(fixture, 0, BUFFER);
	fixture_drain(fixture);
	fixture_end(fixture);
	fixture_log(fixture);
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
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	fixture_write(fixture, 0, BUFFER);
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
		fixture_write(fixture, 0, PERIOD);
		told++;
	}
	fixture_end(fixture);
}

static void
test_a_drain_can_be_polled_for(void **state)
{
	struct fixture *fixture = *state;
	struct pollfd fd;
	unsigned short revents = 0;
	int r = 0;

	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	fixture_write(fixture, 0, SOUND);
	assert_int_equal(snd_pcm_poll_descriptors(fixture->pcm, &fd, 1), 1);
	while ((r = snd_pcm_drain(fixture->pcm)) == -EAGAIN) {
		do {
			assert_int_equal(poll(&fd, 1, DEADLINE_S * 1000), 1);
			snd_pcm_poll_descriptors_revents(fixture->pcm, &fd, 1,
							 &revents);
		} while (!(revents & POLLOUT));
	}
	assert_int_equal(r, 0);
	fixture_end(fixture);
	fixture_assert_heard(fixture, fixture->sound, SOUND);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_formats_are_heard_bit_for_bit),
		TEST(test_a_rewind_replaces_what_was_not_heard),
		TEST(test_what_was_fetched_is_not_replaced),
		TEST(test_a_card_without_rewind_plays_the_old),
		TEST(test_a_drop_ends_at_once),
		TEST(test_a_batch_card_moves_in_periods),
		TEST(test_the_card_takes_what_it_is_told),
		TEST(test_the_clock_drifts_as_told),
		TEST(test_poll_sleeps_until_avail_min),
		TEST(test_a_drain_can_be_polled_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#undef TEST

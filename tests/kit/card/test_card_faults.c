/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_card_faults.c - each fault of the test card looks as it does on
 * hardware, and passes without a frame lost or heard twice.
 *
 * No test asserts how fast something is; lower bounds only, which no load of
 * the machine breaks. */
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

static void
test_a_late_writer_has_an_xrun(void **state)
{
	struct fixture *fixture = *state;

	fixture_begin(fixture, SND_PCM_FORMAT_FLOAT_LE, false);
	fixture_write(fixture, 0, 777);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	fixture_await_state(fixture, SND_PCM_STATE_XRUN);
	assert_int_equal(snd_pcm_avail_update(fixture->pcm), -EPIPE);
	assert_int_equal(fixture_write_some(fixture, 0, 10), -EPIPE);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), 0);
	fixture_write(fixture, 777, 1500);
	fixture_drain(fixture);
	fixture_end(fixture);
	fixture_assert_heard(fixture, fixture->sound, 1500);
	assert_int_equal(fixture_count(fixture, "xrun heard=777"), 1);
}

static void
test_an_xrun_on_demand(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	for (int mmap = 0; mmap < 2; mmap++) {
		fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, mmap);
		fixture_play_and_stall(fixture, BUFFER);
		fixture_fault(fixture, "stall xrun");
		assert_int_equal(fixture_write_some(fixture, 0, 10), -EPIPE);
		assert_int_equal(snd_pcm_state(fixture->pcm),
				 SND_PCM_STATE_XRUN);
		fixture_fault(fixture, "");
		fixture_end(fixture);
	}
	assert_int_equal(fixture_count(fixture, " xrun heard="), 2);
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

/* To who asks for nothing but to hear of faults, as at once as hardware does.
 */
static void
assert_cries(struct fixture *fixture)
{
	struct pollfd fds[2];
	unsigned short revents = 0;

	assert_int_equal(snd_pcm_poll_descriptors_count(fixture->pcm), 2);
	assert_int_equal(snd_pcm_poll_descriptors(fixture->pcm, fds, 2), 2);
	fds[0].events = fds[1].events = 0;
	assert_int_equal(poll(fds, 2, DEADLINE_S * 1000), 1);
	assert_int_equal(snd_pcm_poll_descriptors_revents(fixture->pcm, fds, 2,
							  &revents),
			 0);
	assert_true(revents & POLLERR);
}

static void
test_a_card_that_has_gone(void **state)
{
	struct fixture *fixture = *state;
	snd_pcm_t *other = NULL;

	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	fixture_write(fixture, 0, SOUND);
	fixture_fault(fixture, "gone");
	assert_cries(fixture);
	assert_polled(fixture, POLLERR);
	assert_int_equal(snd_pcm_state(fixture->pcm),
			 SND_PCM_STATE_DISCONNECTED);
	assert_int_equal(fixture_write_some(fixture, 0, 10), -ENODEV);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), -ENODEV);
	assert_int_equal(snd_pcm_rewind(fixture->pcm, 1), -ENODEV);
	assert_int_equal(
		snd_pcm_open(&other, "rotarytest", SND_PCM_STREAM_PLAYBACK, 0),
		-ENODEV);
	/* Plugged in again: for the next open. */
	fixture_fault(fixture, "");
	assert_int_equal(snd_pcm_prepare(fixture->pcm), -ENODEV);
	fixture_end(fixture);
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	fixture_write(fixture, 0, SOUND);
	fixture_drain(fixture);
	fixture_end(fixture);
	fixture_assert_heard(fixture, fixture->sound, SOUND);
}

static void
test_a_busy_card(void **state)
{
	struct fixture *fixture = *state;

	fixture_write_file(fixture, "fault", "busy");
	assert_int_equal(fixture_open(fixture), -EBUSY);
	fixture_write_file(fixture, "fault", "");
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	fixture_end(fixture);
	assert_int_equal(fixture_count(fixture, "refused busy"), 1);
}

static void
test_a_suspended_card(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, true);
	fixture_write(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	fixture_fault(fixture, "suspend");
	assert_polled(fixture, POLLERR);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_SUSPENDED);
	assert_int_equal(fixture_write_some(fixture, 0, 10), -ESTRPIPE);
	snd_pcm_resume(fixture->pcm);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_SUSPENDED);
	fixture_fault(fixture, "");
	snd_pcm_resume(fixture->pcm);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_RUNNING);
	fixture_write(fixture, BUFFER, SOUND);
	fixture_drain(fixture);
	fixture_end(fixture);
	/* Nothing was lost, nothing was heard twice. */
	fixture_assert_heard(fixture, fixture->sound, SOUND);
}

static void
test_a_suspended_card_that_cannot_resume(void **state)
{
	struct fixture *fixture = *state;

	setenv("ROTARY_TEST_CARD_RESUME", "no", 1);
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	fixture_write(fixture, 0, BUFFER);
	assert_int_equal(snd_pcm_start(fixture->pcm), 0);
	fixture_fault(fixture, "suspend");
	assert_int_equal(fixture_write_some(fixture, 0, 10), -ESTRPIPE);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), -ESTRPIPE);
	fixture_fault(fixture, "");
	snd_pcm_resume(fixture->pcm);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_SUSPENDED);
	assert_int_equal(snd_pcm_prepare(fixture->pcm), 0);
	assert_int_equal(snd_pcm_state(fixture->pcm), SND_PCM_STATE_PREPARED);
	fixture_end(fixture);
	unsetenv("ROTARY_TEST_CARD_RESUME");
}

static void
test_a_stalled_card_goes_on(void **state)
{
	struct fixture *fixture = *state;
	struct timespec tick = {.tv_nsec = 20000000};

	setenv("ROTARY_TEST_CARD_PPM", "0", 1);
	fixture_begin(fixture, SND_PCM_FORMAT_S32_LE, false);
	snd_pcm_sframes_t delay = fixture_play_and_stall(fixture, BUFFER),
			  later = 0;
	/* However long one waits: a longer wait can only fail more surely. */
	nanosleep(&tick, NULL);
	assert_true(snd_pcm_avail_update(fixture->pcm) >= 0);
	assert_int_equal(snd_pcm_delay(fixture->pcm, &later), 0);
	assert_int_equal(later, delay);
	fixture_fault(fixture, "");
	fixture_write(fixture, BUFFER, SOUND);
	fixture_drain(fixture);
	fixture_end(fixture);
	fixture_assert_heard(fixture, fixture->sound, SOUND);
	assert_int_equal(fixture_count(fixture, "xrun"), 0);
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

	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	fixture_fault(fixture, "block 50");
	int64_t start = now_ns();
	fixture_write(fixture, 0, 10);
	/* A lower bound: no load of the machine breaks it. */
	assert_true(now_ns() - start >= 50000000);
	fixture_end(fixture);
	assert_int_equal(fixture_count(fixture, "block ms=50"), 1);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_late_writer_has_an_xrun),
		TEST(test_an_xrun_on_demand),
		TEST(test_a_card_that_has_gone),
		TEST(test_a_busy_card),
		TEST(test_a_suspended_card),
		TEST(test_a_suspended_card_that_cannot_resume),
		TEST(test_a_stalled_card_goes_on),
		TEST(test_a_write_that_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#undef TEST

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_card_calls.c - a thread that plays on the test card needs no system call
 * but the poll and the read of its descriptor.
 *
 * A thread seals itself with a seccomp filter that kills the process on
 * anything else, then does all that a player's output thread does: write,
 * rewind, look, sleep, underrun, drop, prepare, start. */
#include "fixture.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ALLOWED = 9 };

/* What poll, the clock, a contended lock and the end of a thread need. */
static const int allowed[ALLOWED] = {
	SYS_poll, SYS_ppoll,          SYS_read,    SYS_clock_gettime, SYS_futex,
	SYS_exit, SYS_rt_sigprocmask, SYS_madvise, SYS_munmap,
};

static int
seal(void)
{
	struct sock_filter filter[ALLOWED + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.len = ALLOWED + 3, .filter = filter};

	for (int i = 0; i < ALLOWED; i++)
		filter[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
			(unsigned char)(ALLOWED - i), 0);
	filter[ALLOWED + 1] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	filter[ALLOWED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							   SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno
								    : 0;
}

/* True: all went as it should. */
static bool
write_until(struct fixture *fixture, struct pollfd *fd, size_t frames)
{
	unsigned short revents = 0;

	for (size_t at = 0; at < frames;) {
		snd_pcm_sframes_t n =
			fixture_write_some(fixture, at, frames - at);
		if (n < 0 && n != -EAGAIN)
			return false;
		if (n > 0) {
			at += (size_t)n;
			continue;
		}
		if (snd_pcm_state(fixture->pcm) == SND_PCM_STATE_PREPARED &&
		    snd_pcm_start(fixture->pcm))
			return false;
		if (poll(fd, 1, DEADLINE_S * 1000) != 1)
			return false;
		if (snd_pcm_poll_descriptors_revents(fixture->pcm, fd, 1,
						     &revents))
			return false;
	}
	return true;
}

static void *
play_sealed(void *argument)
{
	struct fixture *fixture = argument;
	snd_pcm_t *pcm = fixture->pcm;
	snd_pcm_uframes_t avail = 0;
	snd_htimestamp_t time;
	struct pollfd fd;

	if (snd_pcm_poll_descriptors(pcm, &fd, 1) != 1 || seal())
		return NULL;
	if (!write_until(fixture, &fd, SOUND))
		return NULL;
	if (snd_pcm_htimestamp(pcm, &avail, &time) ||
	    snd_pcm_rewind(pcm, PERIOD) != PERIOD ||
	    !write_until(fixture, &fd, PERIOD))
		return NULL;
	while (snd_pcm_avail_update(pcm) != -EPIPE)
		poll(&fd, 1, 5);
	if (snd_pcm_prepare(pcm) || !write_until(fixture, &fd, PERIOD) ||
	    snd_pcm_start(pcm) || snd_pcm_drop(pcm))
		return NULL;
	return fixture;
}

static void
test_a_sealed_thread_plays(void **state)
{
	struct fixture *fixture = *state;
	pthread_t thread;
	void *result = NULL;

	for (int mmap = 0; mmap < 2; mmap++) {
		fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, mmap);
		assert_int_equal(
			pthread_create(&thread, NULL, play_sealed, fixture), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_ptr_equal(result, fixture);
		fixture_end(fixture);
	}
	assert_int_equal(fixture_count(fixture, "lost"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_sealed_thread_plays,
						fixture_set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_card_calls.c - a thread that plays on the test card needs no system call
 * but the poll and the read of its descriptor, and no page that is not there.
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ALLOWED = 9, LARGE_BYTES = 16 * 1024 };

/* What poll, the clock, a contended lock and the end of a thread need. */
static const int allowed[ALLOWED] = {
	SYS_poll, SYS_ppoll,          SYS_read,    SYS_clock_gettime, SYS_futex,
	SYS_exit, SYS_rt_sigprocmask, SYS_madvise, SYS_munmap,
};

/* The card's memory is large, and must come straight from the kernel, where
 * nobody has touched it: the C library would reuse some. In front of the
 * library's own for the whole program, but for one block only, when wanted. */
static bool wants_large;
static void *large;

void *
calloc(size_t count, size_t size)
{
	extern void *__libc_calloc(size_t, size_t);
	void *block = NULL;

	if (count != 1 || size < LARGE_BYTES || !wants_large)
		return __libc_calloc(count, size);
	block = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	large = block == MAP_FAILED ? NULL : block;
	wants_large = false;
	return large;
}

void
free(void *block)
{
	extern void __libc_free(void *);

	if (block == NULL || block != large)
		__libc_free(block);
	else
		large = NULL; /* the mapping is left to the end */
}

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

static long
minor_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_minflt;
}

/* Each turn is a few events, and all together go round the card's memory for
 * them: a page of it is reached late, whatever was warm before. */
static void
test_it_is_never_first_to_touch_a_page(void **state)
{
	enum { WARM = 4, TURNS = 512 };
	struct fixture *fixture = *state;
	long before = 0;

	wants_large = true;
	fixture_begin(fixture, SND_PCM_FORMAT_S16_LE, false);
	for (int turn = 0; turn < WARM + TURNS; turn++) {
		if (turn == WARM)
			before = minor_faults();
		assert_true(fixture_write_some(fixture, 0, PERIOD) > 0);
		assert_int_equal(snd_pcm_start(fixture->pcm), 0);
		assert_int_equal(snd_pcm_drop(fixture->pcm), 0);
		assert_int_equal(snd_pcm_prepare(fixture->pcm), 0);
	}
	assert_non_null(large);
	assert_int_equal(minor_faults(), before);
	fixture_end(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_sealed_thread_plays,
						fixture_set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_it_is_never_first_to_touch_a_page, fixture_set_up,
			fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

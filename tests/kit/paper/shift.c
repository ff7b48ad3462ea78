/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shift.c - preloaded: a machine whose clocks run ahead, or that has slept, as
 * the test says through the file $ROTARY_SHIFT: two numbers of nanoseconds, one
 * for both CLOCK_MONOTONIC and CLOCK_BOOTTIME, one for the latter alone. All
 * else stays the kernel's; who waits for a time wakes up when it is due by the
 * kernel's clock. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift;

__attribute__((constructor)) static void
open_shift(void)
{
	const char *path = getenv("ROTARY_SHIFT");
	const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *memory = MAP_FAILED;

	if (file < 0)
		return;
	memory =
		mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (memory != MAP_FAILED)
		shift = memory;
}

int
clock_gettime(clockid_t id, struct timespec *now)
{
	const int result = (int)syscall(SYS_clock_gettime, id, now);

	if (result == 0 && shift != NULL &&
	    (id == CLOCK_MONOTONIC || id == CLOCK_BOOTTIME)) {
		const int64_t ns = now->tv_nsec + shift[0] +
				   (id == CLOCK_BOOTTIME ? shift[1] : 0);

		now->tv_sec += ns / 1000000000;
		now->tv_nsec = ns % 1000000000;
	}
	return result;
}

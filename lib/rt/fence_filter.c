/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fence_filter.c - the filter, in the order of its tests:
 *
 *   another architecture's calls           -> the process ends
 *   a number of the profile                -> allowed
 *   write() on the event descriptor        -> allowed
 *   the call returns to the gate           -> allowed
 *   a new thread or process, under COUNT   -> EAGAIN
 *   anything else                          -> SIGSYS
 *
 * The profile holds what design and glibc need: the sleep and wake of the
 * loops, the budget, the way back from a signal handler, and the end of a
 * thread, during which glibc blocks SIGSYS, so that a call which traps would
 * end the process. The same block surrounds its clone(), hence EAGAIN. */
#include "lib/rt/fence_filter.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
enum { ARCHITECTURE_KNOWN = 1 };
static const uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
enum { ARCHITECTURE_KNOWN = 1 };
static const uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
enum { ARCHITECTURE_KNOWN = 0 };
static const uint32_t architecture = 0;
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "the filter loads the low half of a word first");

/* Most frequent first. */
static const uint32_t common_calls[] = {
	SYS_futex,           SYS_timer_settime,
	SYS_clock_nanosleep, SYS_madvise,
	SYS_clock_gettime,   SYS_sched_yield,
	SYS_gettid,          SYS_sched_setscheduler,
	SYS_rt_sigreturn,    SYS_munmap,
	SYS_rt_sigprocmask,  SYS_restart_syscall,
	SYS_timer_delete,    SYS_exit,
};

static const uint32_t output_calls[] = {
	SYS_ioctl,
	SYS_ppoll,
#ifdef SYS_poll
	SYS_poll,
#endif
	SYS_read,
};

static const uint32_t starting_calls[] = {
	SYS_clone,
	SYS_clone3,
#ifdef SYS_fork
	SYS_fork,
	SYS_vfork,
#endif
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct builder {
	struct sock_filter *filter;
	size_t length;
};

static void
add(struct builder *builder, struct sock_filter instruction)
{
	assert(builder->length < FENCE_FILTER_MAX);
	builder->filter[builder->length] = instruction;
	builder->length++;
}

static void
load(struct builder *builder, size_t offset)
{
	add(builder, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  (uint32_t)offset));
}

static void
answer(struct builder *builder, uint32_t action)
{
	add(builder, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Goes on with the next instruction if what was loaded is value, else leaves
 * out as many as skip. */
static void
unless_skip(struct builder *builder, uint32_t value, uint8_t skip)
{
	add(builder, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						  value, 0, skip));
}

static void
answer_numbers(struct builder *builder, const uint32_t *numbers, size_t count,
	       uint32_t action)
{
	size_t i = 0;

	for (i = 0; i < count; i++) {
		unless_skip(builder, numbers[i], 1);
		answer(builder, action);
	}
}

/* Leaves the number loaded again. */
static void
allow_write(struct builder *builder, const int *event_fds)
{
	const size_t descriptor = offsetof(struct seccomp_data, args[0]);
	int i = 0;

	if (event_fds == NULL)
		return;
	unless_skip(builder, SYS_write, 2 + 2 * RT_SEAL_FDS);
	load(builder, descriptor);
	for (i = 0; i < RT_SEAL_FDS; i++) {
		unless_skip(builder, (uint32_t)event_fds[i], 1);
		answer(builder,
		       event_fds[i] < 0 ? SECCOMP_RET_TRAP : SECCOMP_RET_ALLOW);
	}
	load(builder, offsetof(struct seccomp_data, nr));
}

static void
allow_gate(struct builder *builder, uint64_t address)
{
	const size_t pointer =
		offsetof(struct seccomp_data, instruction_pointer);

	load(builder, pointer);
	unless_skip(builder, (uint32_t)address, 3);
	load(builder, pointer + sizeof(uint32_t));
	unless_skip(builder, (uint32_t)(address >> 32), 1);
	answer(builder, SECCOMP_RET_ALLOW);
	load(builder, offsetof(struct seccomp_data, nr));
}

size_t
fence_filter_build(const struct fence_rules *rules,
		   struct sock_filter ret_filter[FENCE_FILTER_MAX])
{
	struct builder builder = {.filter = ret_filter};

	if (!ARCHITECTURE_KNOWN)
		return 0;
	load(&builder, offsetof(struct seccomp_data, arch));
	add(&builder, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						   architecture, 1, 0));
	answer(&builder, SECCOMP_RET_KILL_PROCESS);
	load(&builder, offsetof(struct seccomp_data, nr));
	answer_numbers(&builder, common_calls, COUNT_OF(common_calls),
		       SECCOMP_RET_ALLOW);
	if (rules->profile == RT_PROFILE_OUTPUT)
		answer_numbers(&builder, output_calls, COUNT_OF(output_calls),
			       SECCOMP_RET_ALLOW);
	allow_write(&builder, rules->event_fds);
	allow_gate(&builder, rules->gate_address);
	if (rules->fence == RT_FENCE_COUNT)
		answer_numbers(&builder, starting_calls,
			       COUNT_OF(starting_calls),
			       SECCOMP_RET_ERRNO | EAGAIN);
	answer(&builder, SECCOMP_RET_TRAP);
	return builder.length;
}

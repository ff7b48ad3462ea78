/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rt.h - what makes a thread a real-time one, and what is counted about it.
 *
 * Life of such a thread: control starts it (thread.h); it fills its own struct
 * rt_figures; rt_promote() climbs the ladder of permissions; rt_seal() closes
 * the fence; the loop runs. Set-up MAY_BLOCK; rt_quantum_* are RT_DEVICE.
 *
 *  once, before any such thread  fence_init, crash_init
 *  the thread itself             figures_begin and _end, promote, seal, note_*,
 *                                set_subject, budget_init, _start and _stop
 *  control                       lock_program, crash_note_to
 *  any thread                    probe, repromote, budget_finish (not beside
 *                                start or stop), lock_loaded, memory_locked,
 *                                pool_*, the figures, by loads
 *
 * Orders: figures have one writer, the thread itself (its signal handlers
 * included), and any reader: relaxed atomics, each right by itself, in no order
 * among them. Locking takes a mutex, which no real-time thread touches.
 * Progress: RT_SAFE is wait-free; set-up blocks. Cost: budget start and stop
 * are one timer call each; a call that the fence traps costs a signal.
 * Source: seccomp(2), sched(7), timer_create(2), mlock2(2), and the D-Bus
 * interface of RealtimeKit. */
#ifndef ROTARY_RT_RT_H
#define ROTARY_RT_RT_H

#include "lib/base/attr.h"

#include <stdbool.h>
#include <sys/types.h>

struct text;

/* The ladder, best rung first. */
enum rt_rung {
	RT_RUNG_FIFO,   /* sched_setscheduler() let us */
	RT_RUNG_RTKIT,  /* RealtimeKit did it for us */
	RT_RUNG_NICE,   /* nice -11 */
	RT_RUNG_NORMAL, /* nothing was allowed */
	RT_RUNG_UNTRIED,
};

enum { RT_SYSCALLS = 512, RT_CAUSE_BYTES = 96, RT_WAKEUPS = 1344 };

struct rt_figures {
	/* immutable after set-up */
	char name[16];
	pid_t thread_id;
	char cause[RT_CAUSE_BYTES]; /* why the rung is not the first */
	/* atomic, see above */
	ATOMIC(uint32_t) rung;   /* enum rt_rung */
	ATOMIC(uint32_t) sealed; /* 1: the fence is closed */
	ATOMIC(int64_t) worst_wakeup_ns;
	ATOMIC(uint32_t) wakeups[RT_WAKEUPS]; /* by their delay, figures.c */
	ATOMIC(int64_t) worst_quantum_ns;
	ATOMIC(uint64_t) periods; /* cycles of output, quanta of a decoder */
	ATOMIC(uint64_t) xruns;
	ATOMIC(uint64_t) overruns; /* quanta that used up their budget */
	ATOMIC(uint32_t) forbidden[RT_SYSCALLS]; /* by system call number */
	ATOMIC(uint64_t) allocator_calls;        /* of those, malloc's own */
	/* page faults up to the seal, set once */
	ATOMIC(uint64_t) minor_before;
	ATOMIC(uint64_t) major_before;
};

enum rt_fence { RT_FENCE_OFF, RT_FENCE_COUNT, RT_FENCE_KILL };

/* Registers the calling thread's figures: clears them and fills in name and
 * thread_id. Must be the first call of a real-time thread; nobody reads them
 * before it has returned. */
void rt_figures_begin(struct rt_figures *figures, const char *name);
/* They are not looked at by signal handlers any more. */
void rt_figures_end(void);

/* Climbs the ladder for the calling thread; cause tells why it stopped where
 * it did. Never fails: the last rung is always there. priority: 1..99. */
MAY_BLOCK enum rt_rung rt_promote(struct rt_figures *figures, int priority);
/* What rt_promote() would reach for a new thread, without keeping it. */
MAY_BLOCK enum rt_rung rt_probe(int priority, char cause[RT_CAUSE_BYTES]);

/* Once per process, before any fence is closed: SIGSYS handler, its one
 * allowed instruction pointer, and the backtrace's first use. Returns 0 or
 * -errno from the kernel. Sanitizer builds make every fence RT_FENCE_OFF. */
NODISCARD int rt_fence_init(void);

/* What a thread is at work on. */
struct rt_subject {
	const char *name; /* a song's URI */
	bool is_open;     /* then the next two tell its file */
	uint64_t size_bytes;
	int64_t mtime_ns;
};

/* Once per process: a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) writes
 * signal, thread, subject and a backtrace to stderr, and goes on to end the
 * process. Returns 0 or -errno. Sanitizer builds leave it to the sanitizer. */
MAY_BLOCK NODISCARD int rt_crash_init(void);
/* Where a crash with an open subject leaves a line that names it (crash.c);
 * -1: nowhere. The descriptor appends, and stays its owner's. */
void rt_crash_note_to(int fd);
/* What the calling thread is at work on, or NULL. Kept as a pointer. */
RT_SAFE void rt_set_subject(const struct rt_subject *subject);

/* Which calls a sealed thread may make. */
enum rt_profile { RT_PROFILE_DECODER, RT_PROFILE_OUTPUT };
/* Descriptors that it may write to. */
enum { RT_SEAL_FDS = 2 };

/* Closes the fence around the calling thread. Calls that are not in the
 * profile are counted in its figures and, by fence, repeated (COUNT) or fatal
 * with a backtrace (KILL; malloc's own are only counted, apart). Starting a
 * thread or a process fails with EAGAIN under COUNT: a call that returns twice
 * cannot be repeated. event_fds (-1: none; NULL: none at all) are the only
 * descriptors write() is allowed on. The fence can never be opened again.
 * Returns 0, -ENOTSUP (a processor that we have no filter for), -errno of
 * prctl() or seccomp(), and then the thread is not sealed. Sets
 * figures->sealed. */
NODISCARD int rt_seal(struct rt_figures *figures, enum rt_fence fence,
		      enum rt_profile profile,
		      const int event_fds[RT_SEAL_FDS]);

/* The quantum's budget: a timer on the thread's own CPU clock. When it fires
 * on_overrun(context) runs in the signal handler, still at the old priority:
 * async-signal-safe things and futex wakes only; then the thread is demoted to
 * SCHED_IDLE (SCHED_OTHER at nice 19, where RLIMIT_NICE would not let it come
 * back). */
struct rt_budget {
	void *timer; /* NULL: there is none */
	int demoted_policy;
	int64_t limit_ns;
	struct rt_figures *figures;
	void (*on_overrun)(void *context);
	void *context;
	ATOMIC(uint32_t) overrun; /* 1 since it fired, until it is cleared */
};

enum { RT_QUANTUM_BUDGET_NS = 20 * 1000 * 1000 };

/* For the calling thread. Returns 0, -errno from timer_create(). */
NODISCARD int rt_budget_init(struct rt_budget *budget,
			     struct rt_figures *figures, int64_t limit_ns,
			     void (*on_overrun)(void *context), void *context);
/* Any thread. Harmless on a zeroed budget, and the second time. */
void rt_budget_finish(struct rt_budget *budget);
RT_DEVICE void rt_budget_start(struct rt_budget *budget);
/* Stops the timer; true when it fired in this quantum. */
RT_DEVICE bool rt_budget_stop(struct rt_budget *budget);
/* Once more what the handler did, for a thread that was promoted although it
 * is still in its overrun. Any thread that is not sealed. */
void rt_budget_demote(const struct rt_budget *budget);

/* Back to its rung for a thread that was demoted. */
struct rt_promotion {
	pid_t thread_id;
	enum rt_rung rung;
	int priority;
	bool waits; /* for an answer, 1 s at most: nothing for control */
};

void rt_promotion_init(struct rt_promotion *promotion,
		       const struct rt_figures *figures, int priority);
/* Any thread that is not sealed; the promoted one need not be there any more.
 * 0 or -errno. */
MAY_BLOCK NODISCARD int rt_promotion_run(const struct rt_promotion *promotion);

RT_SAFE void rt_note_wakeup(struct rt_figures *figures, int64_t late_ns);
/* Also counts a period. */
RT_SAFE void rt_note_quantum(struct rt_figures *figures, int64_t used_ns);

/* Memory that never leaves: text and data of the program, libc, libm and the
 * libraries whose file names hold one of names (NULL-terminated), locked
 * segment by segment until all but spare_bytes of the limit are spent: what
 * pools and stacks will need. names must outlive the program's threads: they
 * are looked at again by rt_lock_loaded(). */
struct rt_memory_report {
	size_t locked_bytes;
	size_t missing_bytes; /* wanted, but over RLIMIT_MEMLOCK */
	size_t limit_bytes;   /* SIZE_MAX: none */
};
MAY_BLOCK void rt_lock_program(const char *const names[], size_t spare_bytes,
			       struct rt_memory_report *ret_report);
/* After something was loaded that real-time threads will run, before they do:
 * locks it likewise. Nothing, unless rt_lock_program() was called. */
MAY_BLOCK void rt_lock_loaded(void);
/* What is locked by now: zeroes before rt_lock_program(). */
MAY_BLOCK void rt_memory_locked(struct rt_memory_report *ret_report);

/* A pool of length bytes, populated and mlock2()ed where the limit allows.
 * NULL: no memory. *ret_locked tells whether it is. */
MAY_BLOCK NODISCARD void *rt_pool_map(size_t length, bool *ret_locked);
void rt_pool_unmap(void *pool, size_t length);

/* A pool whose parts come and go: address space first, which costs nothing,
 * then the pages that hold a part of it. NULL: no address space. */
MAY_BLOCK NODISCARD void *rt_pool_reserve(size_t length);
/* Locks a part's pages, each when it comes to be populated; false where the
 * limit forbids it. */
MAY_BLOCK bool rt_pool_lock(void *part, size_t length);
/* What runs in real time finds the part's pages there. */
MAY_BLOCK void rt_pool_populate(void *part, size_t length);
/* Populates a part and locks it; false where the limit forbids the latter. */
MAY_BLOCK bool rt_pool_commit(void *part, size_t length);
/* Gives a part's memory back to the kernel; its address space stays. */
MAY_BLOCK void rt_pool_decommit(void *part, size_t length);
/* The kernel's page: 4 KiB, 16 KiB or 64 KiB. */
size_t rt_page_bytes(void);

/* Adds a thread's figures as "name: value" lines of the rtstats command. */
MAY_BLOCK void rt_figures_add(const struct rt_figures *figures,
			      struct text *text);
const char *rt_rung_name(enum rt_rung rung);

#endif

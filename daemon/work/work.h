/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - the worker pool: everything that may block.
 *
 * A job runs on some worker; when it has returned, its done function runs on
 * control. Jobs with the same order key run one after the other, in the order
 * they were submitted, an abandoned one included: those behind it wait until
 * it returns, or give up. A job that has not returned after stall_ns no longer
 * counts as a worker (another is started, WORK_THREADS_MAX at most) and marks
 * its domain, a file system, as stalled: jobs of that domain wait by
 * themselves, one probing at a time, and fail with -ETIMEDOUT after
 * give_up_ns, while all others go on. A domain never has all workers, so that
 * the first 2 s of a dead one do not hold up the others either. Jobs of no
 * domain may take as long as they like.
 *
 *   QUEUED -> RUNNING -> done(what run() returned)
 *     |          |
 *     |          +-> running past give_up_ns -+
 *     +-> domain stalled for give_up_ns ------+-> done(-ETIMEDOUT), then, when
 *     |                                           run() has returned or the
 *     +-> done(-ECANCELED)                        domain answers, orphan()
 *
 * After done() the job is its owner's again, with one exception: -ETIMEDOUT,
 * which only ever comes from the pool (run()'s own is turned into -EIO), says
 * that the pool keeps the job, run or not, and that orphan() will free it on a
 * worker. So a job of a domain that takes long by itself must be cut into
 * pieces; done() submits the next.
 *
 * Threads: all functions on control but those that say otherwise.
 * Errors: done() gets run()'s result, or -ETIMEDOUT, -ECANCELED. */
#ifndef ROTARY_WORK_WORK_H
#define ROTARY_WORK_WORK_H

#include "lib/base/attr.h"
#include "lib/base/list.h"

#include <stdbool.h>

struct work;
struct work_job;

enum { WORK_THREADS_MIN = 2, WORK_THREADS_MAX = 16 };

struct work_limits {
	int64_t stall_ns;   /* 2 s */
	int64_t give_up_ns; /* 20 s */
	/* The clock, for tests; NULL: clock_now_ns(). Any thread. */
	int64_t (*now)(void);
};

struct work_job_ops {
	/* Worker. Does it; 0 or -errno. */
	int (*run)(struct work_job *job) CALLED_ON(worker);
	/* Control. The job may be freed or submitted again, unless result is
	 * -ETIMEDOUT. */
	void (*done)(struct work_job *job, int result) CALLED_ON(control);
	/* Worker. Frees a job whose done() got -ETIMEDOUT. NULL: there is
	 * nothing to free, and the job outlives the pool. */
	void (*orphan)(struct work_job *job) CALLED_ON(worker);
};

/* Embedded in what the job works on; begins zeroed. */
struct work_job {
	const struct work_job_ops *ops;
	const char *what; /* for logs and stats: "open", "scan" */
	uint64_t order;   /* 0: none, else jobs of one key in order */
	uint64_t domain;  /* 0: cannot stall, else from work_domain() */
	/* the pool's own */
	struct list link;
	uint32_t state;
	int result;
	int64_t since_ns;
	ATOMIC(uint32_t) cancelled;
};

/* limits NULL: the defaults. The pool's eventfd becomes readable when
 * work_dispatch() has something to do; it must also be called at
 * work_next_deadline(). */
NODISCARD int work_create(const struct work_limits *limits,
			  struct work **ret_work);
/* Cancels what is queued, waits at most wait_ns for what runs, and leaves
 * stuck workers behind. done() is called for all: with -ETIMEDOUT where run()
 * has not returned, whose orphan() may come long after. */
void work_destroy(struct work *work, int64_t wait_ns);
int work_event_fd(const struct work *work);
/* Calls done() for what has finished, starts workers for what stalled. */
void work_dispatch(struct work *work);
/* When work_dispatch() is wanted even without the eventfd; INT64_MAX: never. */
int64_t work_next_deadline(const struct work *work);

void work_submit(struct work *work, struct work_job *job);
/* Queued: done(-ECANCELED) at the next dispatch. Running: job->cancelled is
 * set for run() to see, and done() comes when it returns. */
void work_cancel(struct work *work, struct work_job *job);
/* True when no job with this order key is queued or running. */
bool work_order_idle(const struct work *work, uint64_t order);

/* The file system that path lies on, by the longest mount point of
 * /proc/self/mountinfo that leads to it: never touches the path itself, which
 * is absolute, without "." and "..". Never 0. Any thread. */
uint64_t work_domain(const char *path);
/* True while the last job on the domain is stuck. */
bool work_domain_stalled(const struct work *work, uint64_t domain);

struct work_stats {
	unsigned threads, busy, stuck, queued;
	uint64_t jobs_done;
};
void work_get_stats(const struct work *work, struct work_stats *ret_stats);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - the worker pool: everything that may block.
 *
 * A job runs on some worker; when it has returned, its done function runs on
 * control. Jobs with the same order key run one after the other, in the order
 * they were submitted. A job that has not returned after WORK_STALL_NS no
 * longer counts as a worker (another is started, WORK_THREADS_MAX at most) and
 * marks its domain, a file system, as stalled: jobs of that domain wait by
 * themselves, one probing at a time, and fail with -ETIMEDOUT after
 * WORK_GIVE_UP_NS, while all others go on.
 *
 *   QUEUED -> RUNNING -> DONE -> done() on control, then the job is its
 *       |        |               owner's again
 *       |        +-> ABANDONED (running past WORK_GIVE_UP_NS: done() gets
 *       |            -ETIMEDOUT at once; when run() does return, orphan() is
 *       |            called there to free what it holds)
 *       +-> done(-ETIMEDOUT | -ECANCELED)
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
};

struct work_job_ops {
	/* Worker. Does it; 0 or -errno. */
	int (*run)(struct work_job *job) CALLED_ON(worker);
	/* Control. The job may be freed or submitted again. */
	void (*done)(struct work_job *job, int result) CALLED_ON(control);
	/* Worker. Frees a job that was abandoned, after run() returned. */
	void (*orphan)(struct work_job *job) CALLED_ON(worker);
};

/* Embedded in what the job works on. */
struct work_job {
	const struct work_job_ops *ops;
	const char *what;   /* for logs and stats: "open", "scan" */
	uint64_t order;	    /* 0: none, else jobs of one key in order */
	uint64_t domain;    /* 0: cannot stall, else from work_domain() */
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
 * stuck workers behind. done() is called for all. */
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
/* Runs when no job with this order key is queued or running. */
bool work_order_idle(const struct work *work, uint64_t order);

/* The file system that path lies on, by the longest mount point of
 * /proc/self/mountinfo that leads to it: never touches the path itself. */
uint64_t work_domain(const char *path);
/* True while the last job on the domain is stuck. */
bool work_domain_stalled(const struct work *work, uint64_t domain);

struct work_stats {
	unsigned threads, busy, stuck, queued;
	uint64_t jobs_done;
};
void work_get_stats(const struct work *work, struct work_stats *ret_stats);

#endif

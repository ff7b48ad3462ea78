/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - the inside of the worker pool, for the files of daemon/work.
 *
 * Everything here is protected by lock, which is only ever held for a few
 * list operations; never while a job's functions run. */
#ifndef ROTARY_WORK_POOL_H
#define ROTARY_WORK_POOL_H

#include "daemon/work/work.h"
#include "lib/base/thread.h"

#include <pthread.h>
#include <stdio.h>

/* IDLE -> HELD -> READY -> RUNNING -> FINISHED -> IDLE
 *           |       |         +-> ABANDONED -> ORPHANED
 *           +-------+-> FINISHED | EXPIRED -> ORPHANED */
enum job_state {
	JOB_IDLE,
	JOB_HELD,      /* behind another one of its order key */
	JOB_READY,     /* for any worker that its domain allows */
	JOB_RUNNING,   /* on a worker */
	JOB_FINISHED,  /* done() is due */
	JOB_EXPIRED,   /* never ran: done(-ETIMEDOUT) is due or running */
	JOB_ABANDONED, /* run() began: done(-ETIMEDOUT) is due or running */
	JOB_ORPHANED,  /* done(-ETIMEDOUT) has returned; orphan() is due */
};

enum {
	/* Workers that are not stuck; one domain gets all of them but one. */
	POOL_ACTIVE_MAX = 4,
	POOL_DOMAIN_ACTIVE_MAX = POOL_ACTIVE_MAX - 1,
	/* A dead domain keeps at most this many threads: those that were in it
	 * when it died, and probes until then. */
	POOL_DOMAIN_STUCK_MAX = POOL_ACTIVE_MAX,
	/* No probe takes what the living ones need. */
	POOL_PROBE_STUCK_MAX = WORK_THREADS_MAX - WORK_THREADS_MIN,
};

/* A worker thread. What it runs is kept by value too: from the moment that a
 * job is abandoned, its memory is for its worker alone. */
struct slot {
	struct work *work;
	struct thread thread;
	bool used;
	bool exited;          /* to be joined */
	struct work_job *job; /* NULL: none */
	uint64_t order;
	uint64_t domain;
	int64_t since_ns;
	bool orphaning;      /* it is orphan() that runs */
	bool stuck;          /* past stall_ns */
	int64_t stuck_ns;    /* since then */
	bool domain_stalled; /* and nothing in its domain returned since */
	bool abandoned;
};

struct work {
	struct work_limits limits; /* immutable */
	int event_fd;              /* immutable */
	pthread_mutex_t *mutex;    /* immutable, &lock: for const callers */
	pthread_mutex_t lock;
	pthread_cond_t wake;  /* workers: something to do */
	pthread_cond_t ended; /* a worker, a job or a done() ended */
	struct slot slots[WORK_THREADS_MAX];
	struct list held; /* of work_job.link, as submitted */
	struct list ready;
	size_t held_count;
	size_t ready_count;
	struct list finished;
	struct list orphans;
	unsigned references; /* workers, and the owner */
	bool starved;        /* every worker is stuck, */
	int64_t starved_ns;  /* since then */
	bool closing;        /* nothing is taken any more */
	bool leaving;        /* workers end */
	uint64_t jobs_done;
};

struct pool_counts {
	unsigned threads, active, running, stuck;
};

int64_t pool_now(const struct work *work);
void pool_count(const struct work *work, struct pool_counts *ret_counts);

/* Starts workers for what is ready, and for those that are stuck. */
void pool_grow(struct work *work);
/* Makes work_event_fd() readable. */
void pool_signal(struct work *work);
/* Frees everything, once references is 0; without the lock. */
void pool_free(struct work *work);

/* Makes a job ready. */
void pool_make_ready(struct work *work, struct work_job *job);
/* A ready or held job ends without having run: done() is due, with
 * -ECANCELED (state FINISHED) or -ETIMEDOUT (state EXPIRED). */
void pool_end_queued(struct work *work, struct work_job *job,
		     enum job_state state);
/* A running job is given up: done(-ETIMEDOUT) is due. */
void pool_abandon(struct slot *slot);
/* The job of this order key is over: the next one is ready. */
void pool_next_in_order(struct work *work, uint64_t order);
/* Calls done() for each job that is finished now. Without the lock. */
void pool_deliver(struct work *work);

/* Whether the domain is stalled, and since when. */
bool pool_stalled(const struct work *work, uint64_t domain,
		  int64_t *ret_since_ns);
/* How many workers, stuck or not, are in this domain. */
void pool_count_domain(const struct work *work, uint64_t domain,
		       struct pool_counts *ret_counts);

/* The worker thread's main, worker.c; argument: its slot. */
void *pool_worker_main(void *argument);
/* The oldest job that a worker may run now, or NULL. */
struct work_job *pool_find_job(const struct work *work);
/* One more idle worker looks for a job, if there is one. */
void pool_wake(struct work *work);

/* As work_domain(), reading this mountinfo. */
uint64_t pool_domain_in(FILE *mountinfo, const char *path);

#endif

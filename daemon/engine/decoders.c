/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decoders.c - setting the decoder threads up and looking after them.
 *
 * Each thread makes itself real-time before its loop: figures, ladder, budget,
 * fence. With the fence closed nothing of that can be done later, so a spare is
 * started in advance and kept parked.
 *
 * Promoting a thread again is one system call, or a call over D-Bus, for which
 * a worker waits: control does not. What it promotes may have been demoted anew
 * meanwhile, and must not keep the priority. */
#include "daemon/engine/decoders.h"

#include "daemon/engine/lane.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/stream.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/list.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STOP_POLL_NS = 1000 * 1000 };

/* On its way through a worker. It has all that it needs, since the thread and
 * its figures may be gone when it comes back. */
struct promotion {
	struct work_job job;
	struct rt_promotion order;
	struct decoder_thread *thread; /* control's; NULL: it is gone */
};

static void
set_up(struct decoder_thread *self)
{
	struct decoders *decoders = self->decoders;
	const int event_fds[RT_SEAL_FDS] = {decoders->bell->event_fd,
					    decoders->bell->deck_fd};
	char name[16];
	int result;

	snprintf(name, sizeof(name), "decoder-%u", self->index);
	rt_figures_begin(&self->figures, name);
	if (decoders->priority > 0)
		rt_promote(&self->figures, decoders->priority);
	result = rt_budget_init(&self->budget, &self->figures,
				RT_QUANTUM_BUDGET_NS, decoder_on_overrun, self);
	if (result < 0)
		self->budget.timer = NULL;
	self->marked = memory_mark_thread();
	result = rt_seal(&self->figures, decoders->fence, RT_PROFILE_DECODER,
			 event_fds);
	(void)result; /* rtstats tells */
}

static void *
decoder_main(void *argument)
{
	struct decoder_thread *self = argument;

	set_up(self);
	decoder_loop(self);
	rt_figures_end();
	atomic_store_explicit(&self->state, DECODER_GONE, memory_order_release);
	return NULL;
}

static int
start_one(struct decoders *decoders)
{
	struct decoder_thread *thread = &decoders->threads[decoders->count];
	char name[16];
	const struct thread_spec spec = {
		.role = THREAD_ROLE_DECODER,
		.name = name,
		.stack_bytes = THREAD_STACK_RT,
		.lock_stack = decoders->lock_memory,
		.main = decoder_main,
		.argument = thread,
	};
	int result;

	if (decoders->count == DECODER_THREADS_MAX)
		return -EAGAIN;
	if (decoders->lock_memory)
		(void)rt_pool_commit(thread, sizeof(*thread));
	snprintf(name, sizeof(name), "decoder-%u", decoders->count);
	thread->decoders = decoders;
	thread->index = decoders->count;
	thread->reader = decoders->first_reader + decoders->count;
	atomic_init(&thread->state, DECODER_NONE);
	result = thread_start(&thread->thread, &spec);
	if (result == 0)
		decoders->count++;
	return result;
}

unsigned
decoders_wanted(int wanted)
{
	cpu_set_t cpus;
	int count = 1;

	if (wanted <= 0 && sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		count = CPU_COUNT(&cpus);
	if (wanted > 0)
		count = wanted;
	return (unsigned)(count > DECODERS_MAX ? DECODERS_MAX : count);
}

int
decoders_start(struct decoders *decoders, const struct decoders_config *config)
{
	unsigned i;

	decoders->set = config->set;
	decoders->hazards = config->hazards;
	decoders->plans = config->plans;
	decoders->first_reader = config->first_reader;
	decoders->wake = config->wake;
	decoders->bell = config->bell;
	decoders->work = config->work;
	decoders->wanted = decoders_wanted(config->wanted);
	decoders->priority = config->priority;
	decoders->fence = config->fence;
	decoders->lock_memory = config->lock_memory;
	wake_init(&decoders->park);
	atomic_init(&decoders->turns, decoders->wanted);
	for (i = 0; i < decoders->wanted + 1; i++) {
		const int result = start_one(decoders);

		if (result < 0) {
			(void)decoders_stop(decoders, INT64_MAX);
			return result;
		}
	}
	return 0;
}

static bool
all_gone(const struct decoders *decoders)
{
	unsigned i;

	for (i = 0; i < decoders->count; i++)
		if (atomic_load_explicit(&decoders->threads[i].state,
					 memory_order_acquire) != DECODER_GONE)
			return false;
	return true;
}

/* Nobody waits for what comes back. */
static void
forget_promotions(struct decoders *decoders)
{
	unsigned i;

	for (i = 0; i < decoders->count; i++) {
		struct decoder_thread *thread = &decoders->threads[i];

		if (thread->promotion != NULL)
			thread->promotion->thread = NULL;
		thread->promotion = NULL;
	}
}

bool
decoders_stop(struct decoders *decoders, int64_t deadline_ns)
{
	const struct timespec pause = {.tv_nsec = STOP_POLL_NS};
	unsigned i;

	forget_promotions(decoders);
	atomic_store(&decoders->stop, 1);
	wake_post_all(&decoders->park);
	wake_post_all(decoders->wake);
	while (!all_gone(decoders)) {
		if (clock_now_ns() >= deadline_ns)
			return false;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	for (i = 0; i < decoders->count; i++) {
		thread_join(&decoders->threads[i].thread);
		rt_budget_finish(&decoders->threads[i].budget);
	}
	return true;
}

void
decoders_add_lane(struct decoders *decoders, struct lane *lane)
{
	atomic_store_explicit(&decoders->lanes[lane->id], lane,
			      memory_order_release);
	rotary_insert(decoders->set, &lane->item.node);
	atomic_fetch_add_explicit(&decoders->items, 1, memory_order_relaxed);
}

/* The stream that the thread is inside of, or NULL. */
static struct stream *
stream_inside(const struct decoder_thread *thread)
{
	struct item *item =
		atomic_load_explicit(&thread->item, memory_order_acquire);

	if (item == NULL || item->kind != ITEM_STREAM)
		return NULL;
	return list_entry(item, struct stream, item);
}

/* How long the thread may still be away, after its demotion. */
static int64_t
patience_ns(const struct stream *stream)
{
	return stream == NULL
		       ? DECODERS_STUCK_NS
		       : STREAM_OVERRUN_NS -
				 atomic_load_explicit(&stream->overrun_ns,
						      memory_order_relaxed);
}

/* Whatever the decoder does in there, the stream has come to its end. The
 * event makes control look at it. */
static void
give_up(struct decoders *decoders, struct decoder_thread *thread,
	struct stream *stream)
{
	thread->given_up = true;
	log_warn("engine", "%s does not come back from a decoder",
		 thread->figures.name);
	if (stream == NULL)
		return;
	atomic_store_explicit(&stream->overruns, STREAM_OVERRUNS_MAX,
			      memory_order_relaxed);
	bell_ring(decoders->bell, RT_EVENT_REFILL, stream->lane, stream->id, 0);
}

static uint32_t
state_of(const struct decoder_thread *thread)
{
	return atomic_load_explicit(&thread->state, memory_order_acquire);
}

/* As many as are wanted, and one more for the next that runs away. */
static void
keep_a_spare(struct decoders *decoders)
{
	unsigned i, fit = 0;

	if (decoders->spare_missed && decoders->count == DECODER_THREADS_MAX)
		return;
	for (i = 0; i < decoders->count; i++)
		fit += state_of(&decoders->threads[i]) != DECODER_DEMOTED;
	if (fit > decoders->wanted)
		return;
	if (start_one(decoders) == 0)
		return;
	decoders->spare_missed = true;
	log_warn("engine", "no spare decoder thread can be started");
}

static void
end_promotion(struct decoder_thread *thread, int result)
{
	const struct decoders *decoders = thread->decoders;

	if (result < 0 && decoders->priority > 0)
		log_debug("engine", "%s stays demoted: error %d",
			  thread->figures.name, -result);
	if (state_of(thread) == DECODER_DEMOTED)
		rt_budget_demote(&thread->budget);
}

static struct promotion *
promotion_of(struct work_job *job)
{
	return list_entry(job, struct promotion, job);
}

static int
run_promotion(struct work_job *job)
{
	return rt_promotion_run(&promotion_of(job)->order);
}

static void
free_promotion(struct work_job *job)
{
	free(promotion_of(job));
}

static void
on_promoted(struct work_job *job, int result)
{
	struct promotion *promotion = promotion_of(job);

	if (promotion->thread != NULL) {
		promotion->thread->promotion = NULL;
		end_promotion(promotion->thread, result);
	}
	if (result != -ETIMEDOUT) /* else the pool keeps it */
		free(promotion);
}

static const struct work_job_ops promotion_ops = {
	.run = run_promotion,
	.done = on_promoted,
	.orphan = free_promotion,
};

static void
promote(struct decoders *decoders, struct decoder_thread *thread)
{
	struct rt_promotion order;
	struct promotion *promotion = NULL;

	rt_promotion_init(&order, &thread->figures, decoders->priority);
	if (order.waits && decoders->work != NULL)
		promotion = calloc(1, sizeof(*promotion));
	if (promotion == NULL) {
		end_promotion(thread, rt_promotion_run(&order));
		return;
	}
	promotion->job.ops = &promotion_ops;
	promotion->job.what = "promote a decoder thread";
	promotion->order = order;
	promotion->thread = thread;
	thread->promotion = promotion;
	work_submit(decoders->work, &promotion->job);
}

static int64_t
look_after_one(struct decoders *decoders, struct decoder_thread *thread,
	       int64_t now_ns)
{
	struct stream *stream;
	int64_t due_ns;

	if (thread->promotion == NULL &&
	    atomic_exchange_explicit(&thread->returned, 0,
				     memory_order_acq_rel) != 0) {
		thread->given_up = false;
		promote(decoders, thread);
	}
	if (state_of(thread) != DECODER_DEMOTED || thread->given_up)
		return INT64_MAX;
	stream = stream_inside(thread);
	due_ns = atomic_load(&thread->demoted_ns) + patience_ns(stream);
	if (now_ns < due_ns)
		return due_ns;
	give_up(decoders, thread, stream);
	return INT64_MAX;
}

int64_t
decoders_look_after(struct decoders *decoders, int64_t now_ns)
{
	int64_t due_ns = INT64_MAX;
	unsigned i;

	keep_a_spare(decoders);
	for (i = 0; i < decoders->count; i++) {
		const int64_t one_ns =
			look_after_one(decoders, &decoders->threads[i], now_ns);

		if (one_ns < due_ns)
			due_ns = one_ns;
	}
	return due_ns;
}

bool
decoders_are_realtime(const struct decoders *decoders)
{
	unsigned i;

	for (i = 0; i < decoders->count; i++)
		if (atomic_load_explicit(&decoders->threads[i].figures.rung,
					 memory_order_relaxed) > RT_RUNG_RTKIT)
			return false;
	return true;
}

void
decoders_add_figures(const struct decoders *decoders, struct text *text)
{
	unsigned i;

	for (i = 0; i < decoders->count; i++) {
		const struct decoder_thread *thread = &decoders->threads[i];

		if (atomic_load_explicit(&thread->state,
					 memory_order_acquire) == DECODER_NONE)
			continue;
		rt_figures_add(&thread->figures, text);
		text_printf(text, "alloc_marked: %d\n", thread->marked);
		text_printf(text, "reserve_waits: %" PRIu64 "\n",
			    atomic_load(&thread->reserve_waits));
		text_printf(text, "reserve_missed: %" PRIu64 "\n",
			    atomic_load(&thread->reserve_missed));
	}
}

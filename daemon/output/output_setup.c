/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_setup.c - the output thread's beginning and end.
 *
 * create: memory (locked where the limit allows), thread; the thread
 * itself climbs the ladder, and closes its fence when its first card comes.
 * stop: quit, and wait for `finished`; a thread that does not come back from
 * its card is left behind with the card and its own memory, and touches nothing
 * else any more (lib/sync/takeback.h). */
#include "daemon/output/output_rt.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/zone/zone.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const int64_t STARVED_LOOK_NS = 10 * NS_PER_MS;

/* Behind the fence nobody has a use for malloc; were it called all the same,
 * the reserve that all share will do. A plug-in of alsa-lib calls what it
 * likes, so a thread without a fence is not marked. */
void
output_rt_seal(struct output_rt *rt)
{
	const int event_fds[RT_SEAL_FDS] = {rt->links.event_fd, -1};

	if (zone_is_malloc() && zone_thread_realtime(true) == 0)
		zone_thread_rest();
	rt->sealed = rt_seal(&rt->figures, rt->fence, RT_PROFILE_OUTPUT,
			     event_fds) == 0;
}

static void *
thread_main(void *argument)
{
	struct output_rt *rt = argument;

	thread_assert_output();
	rt_figures_begin(&rt->figures, "output");
	atomic_store(&rt->has_figures, true);
	(void)rt_promote(&rt->figures, rt->priority);
	output_rt_run(rt);
	rt_figures_end();
	atomic_store_explicit(&rt->finished, true, memory_order_release);
	wake_post(&rt->finished_wake);
	return NULL;
}

int
output_rt_create(const struct output_config *config,
		 const struct output_links *links, int wake_fd,
		 struct output_rt **ret_rt)
{
	struct thread_spec spec = {
		.role = THREAD_ROLE_OUTPUT,
		.name = "rotary-output",
		.stack_bytes = THREAD_STACK_RT,
		.lock_stack = config->lock_memory,
		.main = thread_main,
	};
	struct output_rt *rt = NULL;
	bool locked = false;
	int error = 0;

	rt = rt_pool_map(sizeof(*rt), &locked);
	if (rt == NULL)
		return -ENOMEM;
	rt->links = *links;
	rt->part = links->part;
	rt->priority = config->priority;
	rt->fence = config->fence;
	rt->settle_ms = config->settle_ms;
	rt->keep_open = config->keep_open;
	rt->number = config->number;
	wake_init(&rt->finished_wake);
	rt->wake_fd = wake_fd;
	spec.argument = rt;
	error = thread_start(&rt->thread, &spec);
	if (error < 0) {
		rt_pool_unmap(rt, sizeof(*rt));
		return error;
	}
	*ret_rt = rt;
	return 0;
}

static bool
wait_until_finished(struct output_rt *rt, int64_t wait_ns)
{
	const int64_t end_ns = clock_now_ns() + wait_ns;
	int64_t left_ns = wait_ns;

	for (;;) {
		const uint32_t seen = wake_prepare(&rt->finished_wake);

		if (atomic_load_explicit(&rt->finished, memory_order_acquire))
			return true;
		if (left_ns <= 0)
			return false;
		(void)wake_wait(&rt->finished_wake, seen, left_ns);
		left_ns = end_ns - clock_now_ns();
	}
}

static void
hurry(struct output_rt *rt, enum output_order order)
{
	const uint64_t one = 1;

	atomic_store_explicit(&rt->order, order, memory_order_release);
	/* Full means that it is about to wake up anyway. */
	if (write(rt->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void
output_rt_quit(struct output_rt *rt)
{
	if (rt->quit_ns != 0)
		return;
	rt->quit_ns = clock_now_ns();
	atomic_store_explicit(&rt->quit, true, memory_order_release);
	hurry(rt, OUTPUT_ORDER_STOP);
}

/* Three quarters of the time are for the fade and what is queued before it. */
enum output_rt_end
output_rt_stop(struct output_rt *rt, int64_t wait_ns, int64_t starved_ns)
{
	int64_t end_ns = 0;
	bool ended = false;

	output_rt_quit(rt);
	end_ns = rt->quit_ns + wait_ns;
	ended = wait_until_finished(rt, end_ns - wait_ns / 4 - clock_now_ns());
	if (!ended)
		hurry(rt, OUTPUT_ORDER_DROP);
	/* One that was hurried only now gets its quarter all the same. */
	ended = ended || wait_until_finished(rt, wait_ns / 4);
	end_ns += starved_ns;
	while (!ended) {
		if (output_rt_abandon(rt, takeback_look(&rt->takeback)))
			return OUTPUT_RT_ABANDONED;
		if (clock_now_ns() >= end_ns)
			return OUTPUT_RT_STARVED;
		ended = wait_until_finished(rt, STARVED_LOOK_NS);
	}
	thread_join(&rt->thread);
	return OUTPUT_RT_ENDED;
}

bool
output_rt_abandon(struct output_rt *rt, uint32_t seen)
{
	if (!takeback_take(&rt->takeback, seen))
		return false;
	pthread_detach(rt->thread.handle);
	log_err("output", "the output thread is stuck in the sound card; "
			  "another takes its place");
	return true;
}

void
output_rt_free(struct output_rt *rt)
{
	rt_pool_unmap(rt, sizeof(*rt));
}

struct card *
output_rt_take_back(struct output_rt *rt)
{
	return atomic_exchange_explicit(&rt->returned, NULL,
					memory_order_acquire);
}

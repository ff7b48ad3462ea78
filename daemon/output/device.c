/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device.c - the sound card as control sees it: one state machine.
 *
 * What is wanted (a spec, or nothing) and what is (state, card, who has it) are
 * kept apart; each change of either ends in settle(), which takes the next
 * step. Cards are opened and closed by jobs (device_job.c).
 *
 *   the card belongs to: the open job -> us (OPEN, not run) -> the thread ->
 *   us (given back) -> the close job
 *
 * A thread that has been in one call for 2 s is abandoned: its card and its
 * memory are lost on purpose. One that was in none is never abandoned, since it
 * may go on with what we would use: without a CPU it is waited for. */
#include "daemon/output/device_parts.h"

#include "daemon/output/output_rt.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const int64_t RETRY_NS = 500 * NS_PER_MS;
static void settle(struct output *output);

static bool
same_spec(const struct audio_spec *a, const struct audio_spec *b)
{
	return a->rate_hz == b->rate_hz && a->channels == b->channels &&
	       a->kind == b->kind && a->bits == b->bits;
}

static void
set_error(struct output *output, const char *reason)
{
	text_clear(&output->error);
	text_add(&output->error, reason);
}

/* Tried again by itself; said once for each reason. */
static void
fail(struct output *output, int error, const char *reason)
{
	output->state = OUTPUT_RETRY;
	output->retry_ns = clock_now_ns() + RETRY_NS;
	if (strcmp(text_string(&output->error), reason) == 0)
		return;
	set_error(output, reason);
	log_err("output", "%s", reason);
	output->events.failed(output->context, error, reason);
}

static void
open_done(struct output *output, struct device_job *job, int result)
{
	const char *reason = text_string(&job->reason);

	if (result == 0) {
		output->card = job->card;
		output->info = job->card->info;
		output->open_spec = job->request.spec;
		output->lost = false;
		output->state = OUTPUT_OPEN;
		text_clear(&output->error);
		log_info("output", "%s: %u Hz, %s, %u channels",
			 output->info.name, output->info.spec.rate_hz,
			 card_format_name(output->info.spec.format),
			 output->info.spec.channels);
		if (output->wanted &&
		    same_spec(&output->wanted_spec, &output->open_spec))
			output->events.opened(output->context, &output->info);
	} else if (!output->wanted) {
		output->state = OUTPUT_CLOSING;
	} else if (result == -ETIMEDOUT) {
		fail(output, result, "the sound card does not answer");
	} else {
		fail(output, result,
		     reason[0] != '\0' ? reason : text_of_error(result));
	}
}

void
device_job_done(struct output *output, struct device_job *job, int result)
{
	output->job = NULL;
	if (!job->closes)
		open_done(output, job, result);
	settle(output);
}

static bool
submit(struct output *output, struct card *card, enum output_state state)
{
	const uint32_t most_ms = output->links.part.buffer_ms;
	struct output_config config = output->config;
	struct device_job *job;

	if (most_ms != 0 && config.buffer_ms > most_ms)
		config.buffer_ms = most_ms;
	job = device_job_submit(output->links.work, output, &config,
				&output->wanted_spec, card);

	if (job == NULL)
		return false;
	output->job = job;
	output->state = state;
	return true;
}

static void
start_opening(struct output *output)
{
	if (!submit(output, NULL, OUTPUT_OPENING))
		fail(output, -ENOMEM, "no memory to open the sound card");
}

/* Without memory for the job the card stays, and the next tick tries again. */
void
device_start_closing(struct output *output)
{
	if (!submit(output, output->card, OUTPUT_CLOSING)) {
		output->retry_ns = clock_now_ns() + RETRY_NS;
		return;
	}
	output->card = NULL;
}

/* ---- the thread ---- */

/* What sounds fades out; then the card is ours again, unless the thread is
 * stuck: then both are lost. One without a CPU stays what it is. */
enum output_rt_end
device_end_thread(struct output *output, int64_t starved_ns)
{
	struct output_rt *rt = output->rt;
	enum output_rt_end end = OUTPUT_RT_ENDED;

	if (rt == NULL)
		return end;
	end = output_rt_stop(rt, DEVICE_QUIT_NS, starved_ns);
	if (end != OUTPUT_RT_STARVED)
		output->rt = NULL;
	if (end == OUTPUT_RT_ENDED)
		output_rt_free(rt);
	return end;
}

/* A sealed thread can never make the calls of a plug-in. */
static bool
is_of_no_use(const struct output *output)
{
	return atomic_load(&output->rt->quit) ||
	       (!output->info.sealable &&
		atomic_load(&output->rt->figures.sealed) != 0);
}

static int
ensure_thread(struct output *output)
{
	if (output->rt != NULL && is_of_no_use(output) &&
	    device_end_thread(output, 0) == OUTPUT_RT_STARVED)
		return -EAGAIN;
	if (output->rt != NULL)
		return 0;
	return output_rt_create(&output->config, &output->links,
				output->wake_fd, &output->rt);
}

static void
give_order(struct output *output, enum output_order order)
{
	if (atomic_load(&output->rt->order) >= (uint32_t)order)
		return;
	atomic_store_explicit(&output->rt->order, order, memory_order_release);
	output_wake(output);
}

/* The card did what no recovery helps against. */
static void
lose(struct output *output, int error)
{
	const char *reason = error == -ENODEV ? "the sound card is gone"
					      : text_of_error(error);

	output->lost = true;
	set_error(output, reason);
	log_err("output", "%s: %s", output->info.name, reason);
	output->events.failed(output->context, error, reason);
}

/* The thread may have let go of the card: of itself, when it was lost. */
static void
collect(struct output *output)
{
	struct card *card = NULL;
	int error = 0;

	if (!output->with_thread || output->rt == NULL)
		return;
	card = output_rt_take_back(output->rt);
	if (card == NULL)
		return;
	output->with_thread = false;
	error = atomic_exchange_explicit(&output->rt->lost_error, 0,
					 memory_order_relaxed);
	device_start_closing(output);
	/* Last: whoever hears of it may ask for something at once. */
	if (error < 0)
		lose(output, error);
}

/* ---- what next ---- */

/* The card is open with what is not wanted. */
static void
leave(struct output *output, bool drain)
{
	if (!output->with_thread) {
		device_start_closing(output);
		return;
	}
	output->state = OUTPUT_DRAINING;
	give_order(output, drain ? OUTPUT_ORDER_DRAIN : OUTPUT_ORDER_STOP);
}

/* From a state where nothing is under way. */
static void
settle(struct output *output)
{
	switch (output->state) {
	case OUTPUT_OPEN:
		if (!output->wanted)
			leave(output, false);
		else if (!same_spec(&output->wanted_spec, &output->open_spec))
			leave(output, true);
		break;
	case OUTPUT_CLOSING:
		if (output->job != NULL || output->card != NULL)
			break;
		output->state = OUTPUT_CLOSED;
		if (!output->wanted) {
			output->events.closed(output->context);
		} else if (output->lost) {
			output->state = OUTPUT_RETRY;
			output->retry_ns = clock_now_ns() + RETRY_NS;
		} else {
			start_opening(output);
		}
		break;
	default:
		break;
	}
}

void
output_open(struct output *output, const struct audio_spec *spec)
{
	output->wanted = true;
	output->wanted_spec = *spec;
	if (output->state == OUTPUT_CLOSED || output->state == OUTPUT_RETRY)
		start_opening(output);
	else
		settle(output);
}

void
output_run(struct output *output)
{
	int error = 0;

	if (output->state != OUTPUT_OPEN || output->with_thread)
		return;
	error = ensure_thread(output);
	if (error < 0) {
		/* The next try may find memory; the card is not kept. */
		output->lost = true;
		device_start_closing(output);
		set_error(output, "the output thread cannot be started");
		log_err("output", "%s", text_string(&output->error));
		return;
	}
	assert(output->rt != NULL);
	output->with_thread = true;
	output->watch = (struct watch){0};
	atomic_store_explicit(&output->rt->order, OUTPUT_ORDER_PLAY,
			      memory_order_relaxed);
	/* The thread looks at its part only while it has a card. */
	output->rt->part = output->links.part;
	atomic_store_explicit(&output->rt->offered, output->card,
			      memory_order_release);
	output_wake(output);
}

void
output_take_part(struct output *output, const struct output_part *part)
{
	assert(!output->with_thread);
	output->links.part = *part;
}

void
output_close(struct output *output, bool drain)
{
	output->wanted = false;
	switch (output->state) {
	case OUTPUT_OPEN:
	case OUTPUT_DRAINING:
		leave(output, drain);
		break;
	case OUTPUT_RETRY:
		output->state = OUTPUT_CLOSING;
		settle(output);
		break;
	default:
		break;
	}
}

RT_DEVICE void
output_wake(struct output *output)
{
	const uint64_t one = 1;

	/* Full means that it is about to wake up anyway. */
	if (write(output->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void
output_handle_event(struct output *output, const struct rt_event *event)
{
	(void)event;
	collect(output);
}

/* ---- time ---- */

/* How long until it should be looked at again. */
static int64_t
watch_thread(struct output *output, int64_t now_ns)
{
	const uint32_t seen = takeback_look(&output->rt->takeback);
	const enum watch_verdict verdict =
		watch_look(&output->watch, seen, now_ns);

	if (verdict == WATCH_STARVED)
		log_warn("output", "the output thread gets no CPU");
	if (verdict != WATCH_STUCK || !output_rt_abandon(output->rt, seen))
		return verdict == WATCH_FINE ? watch_ns : watch_again_ns;
	output->rt = NULL;
	output->with_thread = false;
	output->card = NULL;
	fail(output, -ETIMEDOUT, "the sound card does not answer");
	if (!output->wanted) {
		output->state = OUTPUT_CLOSING;
		settle(output);
	}
	return watch_again_ns;
}

int64_t
output_tick(struct output *output, int64_t now_ns)
{
	collect(output);
	if (output->with_thread)
		return now_ns + watch_thread(output, now_ns);
	if (output->state == OUTPUT_RETRY ||
	    (output->state == OUTPUT_CLOSING && output->card != NULL)) {
		if (now_ns < output->retry_ns)
			return output->retry_ns;
		if (output->state == OUTPUT_RETRY)
			start_opening(output);
		else
			device_start_closing(output);
	}
	return output->state == OUTPUT_RETRY ? output->retry_ns : INT64_MAX;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_events.c - what comes in from the real-time threads, the settling that
 * follows every change, and what goes out to the player.
 *
 * The order within a settling matters: streams first, since lines wait for
 * them; then the card, since lines are cut for its decks; then the lines; then
 * the plan. What one part does may give another something to do: then it is
 * done once more. A settling inside a settling (the output answers a call at
 * once) only asks for that. */
#include "daemon/engine/engine_parts.h"

#include "daemon/output/output.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
engine_due(struct engine *engine, int64_t in_ns)
{
	const int64_t when_ns = clock_now_ns() + in_ns;

	if (when_ns < engine->deadline_ns)
		engine->deadline_ns = when_ns;
}

static void
due_at(struct engine *engine, int64_t when_ns)
{
	if (when_ns < engine->deadline_ns)
		engine->deadline_ns = when_ns;
}

static void
settle_lines(struct engine *engine)
{
	unsigned i;

	for (i = 0; i < LANE_COUNT; i++) {
		struct line *line = &engine->lines[i];

		line_settle(engine, line);
		if (line->cut == 0 || line->in_set)
			continue;
		(void)rt_pool_commit(line, sizeof(*line));
		line->in_set = true;
		decoders_add_lane(engine->decoders, &line->lane);
	}
}

void
engine_settle(struct engine *engine)
{
	int64_t now_ns;
	unsigned rounds;

	engine->settle_again = true;
	if (engine->settling || engine->stopped)
		return;
	engine->settling = true;
	for (rounds = 0; engine->settle_again && rounds < ENGINE_SETTLE_ROUNDS;
	     rounds++) {
		now_ns = clock_now_ns();
		engine->settle_again = false;
		engine->deadline_ns = INT64_MAX;
		streams_settle(engine, now_ns);
		outputs_hold(engine);
		card_settle(engine, now_ns);
		settle_lines(engine);
		engine_publish(engine);
		followers_settle(engine, now_ns);
	}
	if (engine->settle_again)
		engine_due(engine, 0);
	if (snapshot_reclaim(engine->plans) > 0)
		engine_due(engine, ENGINE_RECLAIM_NS);
	engine_reclaim_resamplers(engine);
	if (!list_empty(&engine->retired_resamplers))
		engine_due(engine, ENGINE_RECLAIM_NS);
	due_at(engine, engine->card.due_ns);
	if (streams_are_opened(engine))
		engine_due(engine, 0);
	engine->settling = false;
}

void
engine_add_news(struct engine *engine, enum news_kind kind, enum lane_id lane,
		uint64_t stream, const char *reason)
{
	const uint64_t one = 1;
	struct news *news;

	if (kind != NEWS_OUTPUT) {
		const struct stream *root = streams_find(engine, stream);

		if (root == NULL || root->released)
			return;
	}
	news = calloc(1, sizeof(*news));
	if (news == NULL) {
		log_err("engine", "no memory to tell of stream %llu",
			(unsigned long long)stream);
		return;
	}
	news->kind = kind;
	news->lane = lane;
	news->stream = stream;
	snprintf(news->reason, sizeof(news->reason), "%s", reason);
	list_append(&engine->news, &news->link);
	if (write(engine->commons->bell.event_fd, &one, sizeof(one)) < 0)
		log_debug("engine", "the eventfd is full");
}

void
engine_drop_news(struct engine *engine, uint64_t stream)
{
	struct list *i, *after;

	list_for_each_safe (i, after, &engine->news) {
		struct news *news = list_entry(i, struct news, link);

		if (news->kind == NEWS_OUTPUT || news->stream != stream)
			continue;
		list_remove(i);
		free(news);
	}
}

static void
tell(struct engine *engine, const struct news *news)
{
	const struct engine_events *events = engine->events;
	const struct stream *stream;

	switch (news->kind) {
	case NEWS_READY:
		stream = streams_find(engine, news->stream);
		if (stream != NULL)
			events->ready(engine->context, news->stream,
				      &stream->info);
		break;
	case NEWS_FAILED:
		events->failed(engine->context, news->stream, news->reason);
		break;
	case NEWS_STARTED:
		events->started(engine->context, news->lane, news->stream);
		break;
	case NEWS_ENDED:
		events->ended(engine->context, news->lane, news->stream);
		break;
	case NEWS_OUTPUT:
		events->output_changed(engine->context);
		break;
	}
}

/* What the callbacks cause is told as well, but not for ever. */
static void
tell_news(struct engine *engine)
{
	unsigned left = 256;

	while (!list_empty(&engine->news) && left-- > 0) {
		struct news *news =
			list_entry(engine->news.next, struct news, link);

		list_remove(&news->link);
		tell(engine, news);
		free(news);
	}
}

static void
handle_line_event(struct line *line, const struct rt_event *event)
{
	switch (event->kind) {
	case RT_EVENT_STRETCH:
		line_on_stretch(line, event);
		break;
	case RT_EVENT_CUT:
		line_on_cut(line, event);
		break;
	case RT_EVENT_LANE_PAUSED:
		line_on_paused(line, event);
		break;
	case RT_EVENT_LANE_DRAINED:
		line_on_drained(line, event);
		break;
	case ENGINE_EVENT_ASTRAY:
		line_on_astray(line, event->id);
		break;
	default:
		break;
	}
}

/* It does not say whose: each looks for itself. */
static void
handle_card_event(struct engine *engine, const struct rt_event *event)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		output_handle_event(engine->outputs[i].output, event);
}

static void
handle(struct engine *engine, const struct rt_event *event)
{
	switch (event->kind) {
	case RT_EVENT_CARD:
	case RT_EVENT_CARD_BACK:
		handle_card_event(engine, event);
		break;
	case RT_EVENT_OVERRUN:
		engine->stuck_due_ns = 0;
		log_rt(LOG_RT_OVERRUN, RT_QUANTUM_BUDGET_NS,
		       (int64_t)event->id);
		streams_on_event(engine, event);
		break;
	case RT_EVENT_REFILL:
	case RT_EVENT_STREAM_END:
	case RT_EVENT_STREAM_LINK:
	case RT_EVENT_STREAM_FAIL:
		streams_on_event(engine, event);
		break;
	case RT_EVENT_TAP:
		followers_wake(engine);
		break;
	case ENGINE_EVENT_LOOK:
		engine->stuck_due_ns = 0;
		break;
	default:
		if (event->lane < LANE_COUNT)
			handle_line_event(&engine->lines[event->lane], event);
		break;
	}
}

static void
drain_queue(struct engine *engine)
{
	const struct rt_event everything = {.id = 0};
	const uint64_t dropped = queue_dropped(engine->commons->bell.queue);
	struct rt_event event;

	while (queue_pop(engine->commons->bell.queue, &event))
		handle(engine, &event);
	if (dropped == engine->dropped_seen)
		return;
	engine->dropped_seen = dropped;
	log_warn("engine", "%llu events were lost so far",
		 (unsigned long long)dropped);
	streams_on_event(engine, &everything);
	output_wake(engine->output);
}

static void
listen_to_lines(struct engine *engine, int64_t now_ns)
{
	unsigned i;

	for (i = 0; i < LANE_COUNT; i++)
		line_listen(engine, &engine->lines[i], now_ns);
}

void
engine_dispatch(struct engine *engine)
{
	const int64_t now_ns = clock_now_ns();
	uint64_t count;
	const ssize_t got =
		read(engine->commons->bell.event_fd, &count, sizeof(count));

	(void)got; /* there is nothing, or there is something */
	volume_dispatch(engine);
	drain_queue(engine);
	listen_to_lines(engine, now_ns);
	if (now_ns >= engine->stuck_due_ns)
		engine->stuck_due_ns =
			decoders_look_after(engine->decoders, now_ns);
	engine_settle(engine);
	tell_news(engine);
	streams_end_calm(engine);
}

int64_t
engine_next_deadline(const struct engine *engine)
{
	int64_t due_ns = engine->deadline_ns;
	unsigned i;

	if (!list_empty(&engine->news))
		return 0;
	if (engine->output_due_ns < due_ns)
		due_ns = engine->output_due_ns;
	if (engine->stuck_due_ns < due_ns)
		due_ns = engine->stuck_due_ns;
	for (i = 0; i < LANE_COUNT; i++) {
		const int64_t line_ns = line_due_ns(&engine->lines[i]);

		if (line_ns < due_ns)
			due_ns = line_ns;
	}
	return due_ns;
}

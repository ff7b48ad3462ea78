/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line_heard.c - what of a line is heard, and when.
 *
 * The output thread tells of a stretch when its first frame was mixed, with the
 * time at which it will be heard. Until then a rewind may take it back: what
 * was told before a cut and lies behind it, or behind the frame at which the
 * lane stands still, is void, and is told anew if it comes after all.
 *
 * Where the lane is follows from the timeline alone while it is heard there;
 * else it stands where it was heard last, or where it will begin. */
#include "daemon/engine/engine_parts.h"

#include "lib/base/clock.h"

#include <string.h>

static void
drop_marks_from(struct line *line, int64_t time_ns)
{
	while (line->mark_count > 0 &&
	       line->marks[line->mark_count - 1].time_ns >= time_ns)
		line->mark_count--;
}

/* The old cut goes on until the new one is there, but is not wanted. */
static bool
is_outdated(const struct line *line)
{
	if (line->cut_wanted)
		return line->wanted_start == PLAN_NOW;
	return line->start == PLAN_NOW && line->sounding_cut != line->cut;
}

void
line_on_stretch(struct line *line, const struct rt_event *event)
{
	if (is_outdated(line) || line_find(line, event->id) < 0)
		return;
	/* It is mixed in order: what was told of later frames was undone. */
	drop_marks_from(line, event->time_ns);
	if (line->mark_count == LINE_MARKS) {
		line->mark_count--;
		memmove(line->marks, line->marks + 1,
			line->mark_count * sizeof(line->marks[0]));
	}
	line->marks[line->mark_count++] = (struct line_mark){
		.root = event->id,
		.frame = event->value,
		.time_ns = event->time_ns,
	};
}

void
line_on_cut(struct line *line, const struct rt_event *event)
{
	line->sounding_cut = event->id;
	line->sounding_ns = event->time_ns;
	drop_marks_from(line, event->time_ns);
}

/* A lane that stands still before the end of its deck has yet to come there.
 * One that came to the end and found itself paused at that very frame has been
 * there, and a cut to nothing holds nothing to stand still in. */
static bool
takes_back_drained(const struct line *line, const struct rt_event *event)
{
	return !line->blank && line->drained_ns > event->time_ns;
}

void
line_on_paused(struct line *line, const struct rt_event *event)
{
	const int index = line_find(line, event->id);

	drop_marks_from(line, event->time_ns);
	if (takes_back_drained(line, event))
		line->drained_cut = 0;
	if (line_is_paused(line) && line->paused_ns == 0) {
		line->paused_ns = clock_now_ns();
		line->still_ns = event->time_ns;
	}
	if (index >= 0 && !is_outdated(line))
		line->stand = (struct line_point){
			.root = event->id,
			.frame = event->value,
			.rate_hz = line->entries[index]->info.spec.rate_hz,
		};
}

void
line_on_drained(struct line *line, const struct rt_event *event)
{
	line->drained_cut = event->id;
	line->drained_ns = event->time_ns;
	/* Over to nothing: what was before it still fades out. */
	if (line->blank)
		line->drained_ns += MIX_FADE_US * NS_PER_US;
}

/* Of a root that the line holds. */
static unsigned
first_part(const struct line *line, uint64_t root)
{
	unsigned i = 0;

	while (line->entries[i]->root != root)
		i++;
	return i;
}

static void
tell_started(struct engine *engine, struct line *line, uint64_t root)
{
	line->heard = root;
	engine_add_news(engine, NEWS_STARTED, line->id, root, "");
}

/* What stands before entry count was heard before it, if it gave a frame,
 * even if it was so short that its start was taken for undone, or got lost:
 * each song is told to start before the next one is, and before it ends. */
static void
tell_passed(struct engine *engine, struct line *line, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		const struct stream *stream = line->entries[i];

		if (stream->root != line->heard &&
		    pcm_ring_written(&stream->pcm) > 0)
			tell_started(engine, line, stream->root);
	}
}

static void
tell_mark(struct engine *engine, struct line *line)
{
	const struct line_mark mark = line->marks[0];
	const int index = line_find(line, mark.root);

	line->mark_count--;
	memmove(line->marks, line->marks + 1,
		line->mark_count * sizeof(line->marks[0]));
	if (index < 0 || line->heard == mark.root)
		return;
	if (line->heard != 0)
		line_forget_before(engine, line, line->heard);
	line->stand = (struct line_point){
		.root = mark.root,
		.frame = mark.frame,
		.rate_hz = line->entries[index]->info.spec.rate_hz,
	};
	tell_passed(engine, line, first_part(line, mark.root));
	line_forget_before(engine, line, mark.root);
	tell_started(engine, line, mark.root);
}

static void
tell_drained(struct engine *engine, struct line *line)
{
	const bool current = line->drained_cut == line->cut;

	line->drained_cut = 0;
	if (!current)
		return;
	line->silent = true;
	if (line->cut_wanted)
		return;
	if (line->heard != 0)
		line_forget_before(engine, line, line->heard);
	if (line->count == line->anchors) {
		tell_passed(engine, line, line->count);
		line_finish(engine, line);
	} else {
		/* What could not be joined on this card. */
		line->cut_wanted = true;
		line->wanted_start = PLAN_NOW;
	}
}

int64_t
line_due_ns(const struct line *line)
{
	int64_t due_ns = INT64_MAX;

	if (line->mark_count > 0)
		due_ns = line->marks[0].time_ns;
	if (line->drained_cut != 0 && line->drained_ns < due_ns)
		due_ns = line->drained_ns;
	return due_ns;
}

void
line_listen(struct engine *engine, struct line *line, int64_t now_ns)
{
	while (line->mark_count > 0 && line->marks[0].time_ns <= now_ns)
		tell_mark(engine, line);
	if (line->drained_cut != 0 && line->drained_ns <= now_ns)
		tell_drained(engine, line);
}

void
line_locate(const struct engine *engine, struct line *line,
	    struct line_point *ret_point)
{
	struct timeline_view view;
	struct timeline_point point;

	timeline_read(engine->timeline, &view);
	if (engine->card.phase == CARD_UP && view.rate_hz != 0 &&
	    timeline_heard(&view, line->id, clock_now_ns(), &point) &&
	    point.stream_id != 0) {
		ret_point->root = point.stream_id;
		ret_point->frame = point.stream_frame;
		ret_point->rate_hz = point.stream_rate_hz;
		/* Where a pause leaves it is known before it is heard. */
		if (line->paused_ns == 0 &&
		    (line->heard == point.stream_id ||
		     line->stand.root == point.stream_id))
			line->stand = *ret_point;
		return;
	}
	*ret_point = line->stand;
}

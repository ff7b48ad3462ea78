/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.c - what a lane is to play, and the cuts that bring it about.
 *
 * The lane itself runs ahead of control: it may already have left an entry, or
 * have begun one that is no longer wanted. It tells by events, in order: left
 * for each entry that is wholly in the deck, astray when it cannot go on as
 * planned. So the answer to astray is always the same: a new cut after the last
 * anchor, to the sample, with what the line holds behind it; without an anchor
 * the cut is made now.
 *
 * A stream whose frames were taken in one cut cannot be taken in another: they
 * are gone. Such an entry is replaced by a stream of the same song, opened
 * again at its beginning. */
#include "daemon/engine/engine_parts.h"

#include <errno.h>
#include <string.h>

void
line_init(struct line *line, struct engine *engine, enum lane_id id)
{
	line->id = id;
	line->silent = true;
	lane_init(&line->lane, id, engine->bus, &engine->commons->bell);
}

uint64_t
line_taken_cut(const struct stream *stream)
{
	return atomic_load_explicit(&stream->taken_cut, memory_order_acquire);
}

bool
line_is_overlapped(const struct stream *stream)
{
	return atomic_load_explicit(&stream->overlapped_at,
				    memory_order_acquire) != UINT64_MAX;
}

static int
index_of(const struct line *line, const struct stream *stream)
{
	unsigned i;

	for (i = 0; i < line->count; i++)
		if (line->entries[i] == stream)
			return (int)i;
	return -1;
}

/* Takes entry index out, without a word about what is heard. */
void
line_remove_entry(struct engine *engine, struct line *line, unsigned index)
{
	struct stream *stream = line->entries[index];

	line->count--;
	memmove(&line->entries[index], &line->entries[index + 1],
		(line->count - index) * sizeof(line->entries[0]));
	if (index < line->anchors)
		line->anchors--;
	streams_left_line(engine, stream);
}

/* Out of the entries, but not out of use. */
static void
take_out(struct line *line, const struct stream *stream)
{
	const int index = index_of(line, stream);

	if (index < 0)
		return;
	line->count--;
	memmove(&line->entries[index], &line->entries[index + 1],
		(line->count - (unsigned)index) * sizeof(line->entries[0]));
	if ((unsigned)index < line->anchors)
		line->anchors--;
}

static void
truncate_to(struct engine *engine, struct line *line, unsigned count)
{
	while (line->count > count)
		line_remove_entry(engine, line, line->count - 1);
}

static bool
append(struct line *line, struct stream *stream)
{
	if (line->count == LINE_ENTRIES)
		return false;
	line->entries[line->count++] = stream;
	stream->in_line = true;
	return true;
}

static void
want_cut(struct line *line, enum plan_start start)
{
	line->cut_wanted = true;
	line->wanted_start = start;
}

static void
stand_at(struct line *line, const struct stream *stream)
{
	line->stand = (struct line_point){
		.root = stream->root,
		.frame = stream->song_frame,
		.rate_hz = stream->info.spec.rate_hz,
	};
}

void
line_play(struct engine *engine, struct line *line, struct stream *first)
{
	take_out(line, first);
	truncate_to(engine, line, 0);
	(void)append(line, first);
	stand_at(line, first);
	line->heard = 0;
	line->mark_count = 0;
	line->drained_cut = 0;
	line->more_ns = 0;
	want_cut(line, PLAN_NOW);
}

int
line_find(const struct line *line, uint64_t root)
{
	unsigned i;

	for (i = line->count; i-- > 0;)
		if (line->entries[i]->root == root)
			return (int)i;
	return -1;
}

int
line_follow(struct engine *engine, struct line *line, uint64_t root,
	    struct stream *next)
{
	const int index = line_find(line, root);

	if (index < 0)
		return -ENOENT;
	if (next != NULL && index_of(line, next) >= 0) {
		/* Only what comes after may come next. */
		if (index_of(line, next) <= index)
			return -EBUSY;
		take_out(line, next);
	}
	truncate_to(engine, line, (unsigned)index + 1);
	line->more_ns = 0;
	if (next != NULL && !append(line, next))
		return -EAGAIN;
	return 0;
}

void
line_stop(struct engine *engine, struct line *line)
{
	truncate_to(engine, line, 0);
	line->stand = (struct line_point){0};
	line->heard = 0;
	line->mark_count = 0;
	line->drained_cut = 0;
	line->cut_wanted = false;
	if (!line->silent)
		want_cut(line, PLAN_NOW);
}

bool
line_insert_after(struct line *line, const struct stream *stream,
		  struct stream *link)
{
	unsigned i;

	if (line->count == LINE_ENTRIES)
		return false;
	for (i = 0; i < line->count; i++)
		if (line->entries[i] == stream)
			break;
	if (i == line->count)
		return false;
	i++;
	memmove(&line->entries[i + 1], &line->entries[i],
		(line->count - i) * sizeof(line->entries[0]));
	line->entries[i] = link;
	line->count++;
	link->in_line = true;
	return true;
}

/* A lane that stands in it finds it gone from the plan, and goes astray. */
void
line_drop(struct engine *engine, struct line *line, struct stream *stream)
{
	const int index = index_of(line, stream);

	if (index < 0)
		return;
	line_remove_entry(engine, line, (unsigned)index);
	if (line->cut_wanted && line->wanted_start == PLAN_NOW &&
	    line->count == 0 && line->silent)
		line->cut_wanted = false;
}

/* Puts another stream of the same song in an entry's place. */
static bool
replace_entry(struct engine *engine, struct line *line, unsigned index,
	      uint64_t song_frame)
{
	struct stream *old = line->entries[index];
	struct stream *fresh = streams_add_replacement(engine, old, song_frame);

	if (fresh == NULL)
		return false;
	line->entries[index] = fresh;
	fresh->in_line = true;
	streams_left_line(engine, old);
	return true;
}

/* Entries to be played whose frames are gone in an older cut. */
void
line_replace_spent(struct engine *engine, struct line *line)
{
	unsigned i;

	for (i = line->anchors; i < line->count; i++) {
		const struct stream *stream = line->entries[i];
		const uint64_t cut = line_taken_cut(stream);

		if (cut == 0 || (cut == line->cut && !line->cut_wanted))
			continue;
		if (!replace_entry(engine, line, i, stream->song_frame))
			engine_due(engine, ENGINE_RETRY_NS);
	}
}

/* The entry that is mixed with one that is not in the line any more, or -1. The
 * lane may have left it. */
static int
widowed(const struct line *line)
{
	unsigned i = line->anchors > 0 ? line->anchors - 1 : 0;

	for (; i < line->count && i <= line->anchors; i++)
		if (line_taken_cut(line->entries[i]) == line->cut &&
		    line_is_overlapped(line->entries[i]) &&
		    (i + 1 == line->count ||
		     line_taken_cut(line->entries[i + 1]) != line->cut))
			return (int)i;
	return -1;
}

void
line_split_overlap(struct engine *engine, struct line *line)
{
	const int index = widowed(line);
	struct stream *stream, *rest;

	if (index < 0)
		return;
	stream = line->entries[index];
	rest = line->count < LINE_ENTRIES
		       ? streams_add_replacement(
				 engine, stream,
				 atomic_load_explicit(&stream->overlapped_at,
						      memory_order_relaxed))
		       : NULL;
	if (rest == NULL) {
		engine_due(engine, ENGINE_RETRY_NS);
		return;
	}
	(void)line_insert_after(line, stream, rest);
	/* The lane, which is astray, does nothing with it any more. */
	atomic_store_explicit(&stream->overlapped_at, UINT64_MAX,
			      memory_order_release);
	atomic_store_explicit(&stream->left, 1, memory_order_release);
	line->anchors = (unsigned)index + 1;
}

/* Of several parts of the song that is heard, the one that frame lies in. */
static int
part_at(const struct line *line, uint64_t root, uint64_t frame)
{
	int found = -1;
	unsigned i;

	for (i = 0; i < line->count; i++)
		if (line->entries[i]->root == root &&
		    (found < 0 || line->entries[i]->song_frame <= frame))
			found = (int)i;
	return found;
}

void
line_rebuild(struct engine *engine, struct line *line)
{
	const struct stream *first;
	struct line_point point;
	int index;

	line_locate(engine, line, &point);
	line->mark_count = 0;
	line->drained_cut = 0;
	line->silent = true;
	line->cut_wanted = false;
	index = part_at(line, point.root, point.frame);
	if (index >= 0) {
		while (index-- > 0)
			line_remove_entry(engine, line, 0);
		line->anchors = 0;
		line->stand = point;
		first = line->entries[0];
		/* Untouched, it still begins where it should. */
		if (streams_is_ready(first) &&
		    (line_taken_cut(first) != 0 ||
		     first->song_frame != point.frame) &&
		    !replace_entry(engine, line, 0, point.frame))
			engine_due(engine, ENGINE_RETRY_NS);
	} else {
		while (line->anchors > 0)
			line_remove_entry(engine, line, 0);
	}
	if (line->count > 0)
		want_cut(line, PLAN_NOW);
}

struct stream *
line_waiting(const struct line *line)
{
	struct stream *first;

	if (!line->cut_wanted || line->anchors >= line->count)
		return NULL;
	first = line->entries[line->anchors];
	return streams_is_ready(first) ? first : NULL;
}

bool
line_active(const struct line *line)
{
	return !line->silent || line->cut_wanted;
}

bool
line_is_paused(const struct line *line)
{
	return line->paused || line->held;
}

bool
line_is_quiet(const struct line *line, int64_t now_ns)
{
	return line->silent || (line_is_paused(line) && line->paused_ns != 0 &&
				line->still_ns <= now_ns);
}

void
line_on_astray(struct line *line, uint64_t cut)
{
	if (cut != line->cut || line->cut_wanted)
		return;
	want_cut(line, PLAN_AFTER);
}

void
line_forget_before(struct engine *engine, struct line *line, uint64_t root)
{
	line_advance(engine, line);
	if (line_find(line, root) < 0)
		return;
	while (line->anchors > 0 && line->entries[0]->root != root) {
		(void)streams_tell_end(engine, line->entries[0]);
		line_remove_entry(engine, line, 0);
	}
}

void
line_finish(struct engine *engine, struct line *line)
{
	struct stream *last;
	bool told;

	if (line->count == 0)
		return;
	last = line->entries[line->count - 1];
	told = streams_tell_end(engine, last);
	if (!told)
		engine_add_news(engine, NEWS_ENDED, line->id, last->root, "");
	truncate_to(engine, line, 0);
	line->stand = (struct line_point){0};
	line->heard = 0;
}

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

#include "daemon/output/output.h"

#include <errno.h>
#include <string.h>

enum { ANCHORS_MAX = LINE_ENTRIES / 2 };

void
line_init(struct line *line, struct engine *engine, enum lane_id id)
{
	line->id = id;
	line->silent = true;
	lane_init(&line->lane, id, engine->bus, &engine->commons->bell);
}

static uint64_t
taken_cut(const struct stream *stream)
{
	return atomic_load_explicit(&stream->taken_cut, memory_order_acquire);
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
static void
remove_entry(struct engine *engine, struct line *line, unsigned index)
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
		remove_entry(engine, line, line->count - 1);
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
	remove_entry(engine, line, (unsigned)index);
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
static void
replace_spent(struct engine *engine, struct line *line)
{
	unsigned i;

	for (i = line->anchors; i < line->count; i++) {
		const struct stream *stream = line->entries[i];
		const uint64_t cut = taken_cut(stream);

		if (cut == 0 || (cut == line->cut && !line->cut_wanted))
			continue;
		if (!replace_entry(engine, line, i, stream->song_frame))
			engine_due(engine, ENGINE_RETRY_NS);
	}
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
			remove_entry(engine, line, 0);
		line->anchors = 0;
		line->stand = point;
		first = line->entries[0];
		/* Untouched, it still begins where it should. */
		if (streams_is_ready(first) &&
		    (taken_cut(first) != 0 ||
		     first->song_frame != point.frame) &&
		    !replace_entry(engine, line, 0, point.frame))
			engine_due(engine, ENGINE_RETRY_NS);
	} else {
		while (line->anchors > 0)
			remove_entry(engine, line, 0);
	}
	if (line->count > 0)
		want_cut(line, PLAN_NOW);
}

/* The last anchor that left a frame in the deck, or NULL. */
static const struct stream *
last_anchor(const struct line *line)
{
	unsigned i;

	for (i = line->anchors; i-- > 0;)
		if (pcm_ring_written(&line->entries[i]->pcm) > 0)
			return line->entries[i];
	return NULL;
}

/* A cut after a stream that the output thread has not come to, in a deck that
 * it has not begun, would be taken for one after nothing. */
static bool
comes_too_early(const struct line *line)
{
	const struct stream *anchor = last_anchor(line);

	return line->wanted_start == PLAN_AFTER && anchor != NULL &&
	       line->sounding_cut < taken_cut(anchor);
}

static void
make_cut(struct engine *engine, struct line *line, bool sounds)
{
	const struct stream *anchor =
		line->wanted_start == PLAN_AFTER ? last_anchor(line) : NULL;
	unsigned i;

	line->after = anchor != NULL ? anchor->root : 0;
	line->start = line->after != 0 ? PLAN_AFTER : PLAN_NOW;
	line->cut = ++engine->last_cut;
	line->cut_wanted = !sounds && line->count > line->anchors;
	line->wanted_start = PLAN_NOW;
	line->blank = !sounds;
	line->drained_cut = 0;
	line->silent = false;
	for (i = line->anchors; i < line->count; i++)
		engine_retire_resampler(engine, line->entries[i]);
	while (line->start == PLAN_NOW && sounds && line->anchors > 0)
		remove_entry(engine, line, 0);
}

/* Entries that the lane has left are anchors from then on. */
static void
advance(struct engine *engine, struct line *line)
{
	while (line->anchors < line->count) {
		const struct stream *stream = line->entries[line->anchors];

		if (taken_cut(stream) != line->cut ||
		    atomic_load_explicit(&stream->left, memory_order_acquire) ==
			    0)
			break;
		line->anchors++;
	}
	/* A file of very many short links. */
	while (line->anchors > ANCHORS_MAX)
		remove_entry(engine, line, 0);
}

/* A cut to nothing that is under way need not be made again. */
static bool
is_fading(const struct line *line)
{
	return line->cut_wanted && line->blank;
}

void
line_settle(struct engine *engine, struct line *line)
{
	struct stream *first;

	advance(engine, line);
	replace_spent(engine, line);
	if (!line->cut_wanted || comes_too_early(line))
		return;
	first = line->anchors < line->count ? line->entries[line->anchors]
					    : NULL;
	if (first != NULL && !streams_is_ready(first))
		return;
	if (!card_has_decks(engine, line->id)) {
		if (first == NULL) {
			line->cut_wanted = false;
			line->silent = true;
		}
		return;
	}
	if (first == NULL) {
		make_cut(engine, line, false);
	} else if (card_usable(engine, line, first)) {
		make_cut(engine, line, true);
	} else if (!line->silent && !is_fading(line)) {
		make_cut(engine, line, false);
	}
}

static bool
can_be_planned(const struct engine *engine, const struct line *line,
	       const struct stream *stream)
{
	const uint64_t cut = taken_cut(stream);

	return streams_is_ready(stream) && (cut == 0 || cut == line->cut) &&
	       card_usable(engine, line, stream);
}

/* The lane waits for what is only not ready; nothing else follows in this
 * cut. */
static bool
is_final(const struct line *line, unsigned planned_to)
{
	return planned_to == line->count ||
	       streams_is_ready(line->entries[planned_to]);
}

/* False: the resampler that it needs cannot be had now. */
static bool
add_entry(struct engine *engine, struct stream *stream, struct plan *plan,
	  struct plan_lane *planned)
{
	struct plan_entry *entry = &planned->entries[planned->count];
	const struct stream *before =
		planned->count > 0 ? planned->entries[planned->count - 1].stream
				   : NULL;

	entry->in_hz = stream->spec.rate_hz;
	if (entry->in_hz != plan->rate_hz) {
		entry->resampler = engine_resampler(engine, stream, before);
		if (entry->resampler == NULL) {
			engine_due(engine, ENGINE_RETRY_NS);
			return false;
		}
	}
	entry->stream = stream;
	stream->state = STREAM_PLAYING;
	planned->count++;
	return true;
}

void
line_add_to_plan(struct engine *engine, struct line *line, struct plan *plan)
{
	struct mix_lane *mix = &plan->mix.lanes[line->id];
	struct plan_lane *planned = &plan->lanes[line->id];
	unsigned i = line->anchors;
	bool whole = true;

	mix->cut = line->cut;
	mix->start = line->start;
	mix->after_stream = line->after;
	mix->paused = line->paused;
	planned->final = true;
	if (line->anchors > 0)
		planned->before = line->entries[line->anchors - 1]->id;
	if (plan->decks == 0 || line->blank)
		return;
	/* With a cut still to be made, the old one gets nothing more. */
	while (whole && !line->cut_wanted && i < line->count &&
	       planned->count < PLAN_STREAMS &&
	       can_be_planned(engine, line, line->entries[i])) {
		whole = add_entry(engine, line->entries[i], plan, planned);
		i += whole;
	}
	planned->final = whole && !line->cut_wanted && is_final(line, i) &&
			 planned->count < PLAN_STREAMS;
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
	if (line_find(line, root) < 0)
		return;
	while (line->entries[0]->root != root) {
		(void)streams_tell_broken(engine, line->entries[0]);
		remove_entry(engine, line, 0);
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
	told = streams_tell_broken(engine, last);
	if (!told)
		engine_add_news(engine, NEWS_ENDED, line->id, last->root, "");
	truncate_to(engine, line, 0);
	line->stand = (struct line_point){0};
	line->heard = 0;
}

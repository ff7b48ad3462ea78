/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line_cut.c - when a line's next cut is made, and what the plan says of it.
 *
 * A wanted cut is made as soon as its first stream is ready, the card can take
 * it, and the output thread has come to the deck that it is to follow on. A
 * card that cannot take it must fall silent first: then the cut is one to
 * nothing, and the wanted one is made when the card has been opened anew.
 *
 * The end of a cut stays open when more was announced, but not for ever. */
#include "daemon/engine/engine_parts.h"

#include "lib/base/clock.h"

enum { ANCHORS_MAX = LINE_ENTRIES / 2 };
#define MORE_NS (50 * NS_PER_MS)

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
 * it has not begun, would be taken for one after nothing. So it would when a
 * rewind, which the cut itself may lead to, undid that beginning: until the
 * deck is heard to begin, it can. */
static bool
comes_too_early(struct engine *engine, const struct line *line)
{
	const struct stream *anchor = last_anchor(line);
	int64_t wait_ns;

	if (line->wanted_start != PLAN_AFTER || anchor == NULL)
		return false;
	if (line->sounding_cut != line_taken_cut(anchor))
		return line->sounding_cut < line_taken_cut(anchor);
	wait_ns = line->sounding_ns - clock_now_ns();
	if (wait_ns > 0)
		engine_due(engine, wait_ns);
	return wait_ns > 0;
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
		line_remove_entry(engine, line, 0);
}

/* The lane has gone on to what is behind it, in this cut, without it. */
static bool
is_passed_over(const struct line *line, unsigned index)
{
	return line_taken_cut(line->entries[index]) == 0 && index > 0 &&
	       line_is_overlapped(line->entries[index - 1]) &&
	       index + 1 < line->count &&
	       line_taken_cut(line->entries[index + 1]) == line->cut;
}

/* Entries that the lane has left are anchors from then on. */
void
line_advance(struct engine *engine, struct line *line)
{
	while (line->anchors < line->count) {
		const struct stream *stream = line->entries[line->anchors];

		if (is_passed_over(line, line->anchors)) {
			line_remove_entry(engine, line, line->anchors);
			continue;
		}
		if (line_taken_cut(stream) != line->cut ||
		    atomic_load_explicit(&stream->left, memory_order_acquire) ==
			    0)
			break;
		line->anchors++;
	}
	/* A file of very many short links. */
	while (line->anchors > ANCHORS_MAX)
		line_remove_entry(engine, line, 0);
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

	line_advance(engine, line);
	/* Its overlap with the one that is heard is mixed by now. */
	if (line->heard != 0)
		line_forget_before(engine, line, line->heard);
	if (line->cut_wanted && line->wanted_start == PLAN_AFTER)
		line_split_overlap(engine, line);
	line_replace_spent(engine, line);
	if (!line->cut_wanted || comes_too_early(engine, line))
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

/* The entry is to overlap with the one before it, which the lane has not
 * left. */
static bool
overlaps(const struct line *line, unsigned index)
{
	return index > line->anchors && line->entries[index]->fade_ns > 0 &&
	       line->entries[index - 1]->root != line->entries[index]->root;
}

/* The card is kept for a song that overlaps, and for one behind it that its
 * resampler can go on with. */
static bool
keeps_card(const struct engine *engine, const struct line *line, unsigned index)
{
	const struct stream *stream = line->entries[index];
	const struct stream *before =
		index > 0 ? line->entries[index - 1] : NULL;

	if (line_taken_cut(stream) != 0)
		return stream->kept_cut == line->cut;
	if (before == NULL || !card_can_keep(engine, line, stream))
		return false;
	return overlaps(line, index) ||
	       (before->kept_cut == line->cut &&
		before->spec.rate_hz == stream->spec.rate_hz);
}

static bool
can_be_planned(const struct engine *engine, struct line *line, unsigned index)
{
	struct stream *stream = line->entries[index];
	const uint64_t cut = line_taken_cut(stream);

	if (!streams_is_ready(stream) || (cut != 0 && cut != line->cut))
		return false;
	if (keeps_card(engine, line, index)) {
		stream->kept_cut = line->cut;
		return true;
	}
	if (!card_usable(engine, line, stream))
		return false;
	stream->kept_cut = engine->overlaps ? line->cut : 0;
	return true;
}

/* What was told to come is waited for while something is heard; the output
 * thread ends that before the card runs dry. As long as nothing is, the wait
 * is in the way of the first sound, and has to be short. */
static bool
awaits_more(struct engine *engine, struct line *line)
{
	const int64_t now_ns = clock_now_ns();

	if (!line->more || line->count == 0 || line_is_paused(line))
		return false;
	if (line->sounding_cut == line->cut)
		return true;
	if (line->more_ns == 0)
		line->more_ns = now_ns;
	if (now_ns - line->more_ns >= MORE_NS)
		return false;
	engine_due(engine, line->more_ns + MORE_NS - now_ns);
	return true;
}

/* The lane waits for what is only not ready; nothing else follows in this
 * cut. */
static bool
is_final(const struct line *line, unsigned planned_to)
{
	return planned_to == line->count ||
	       streams_is_ready(line->entries[planned_to]);
}

/* The lane makes it shorter where it has to. */
static uint32_t
fade_frames(const struct stream *stream, uint32_t rate_hz)
{
	const int64_t longest_ns = UINT32_MAX / rate_hz * NS_PER_S;
	const int64_t fade_ns =
		stream->fade_ns < longest_ns ? stream->fade_ns : longest_ns;

	return (uint32_t)clock_ns_to_frames(fade_ns, rate_hz);
}

/* Where a song of several links ends, the first does not tell. */
static uint64_t
end_frame(const struct stream *stream)
{
	if (stream->info.chained || stream->info.frames == 0)
		return 0;
	return stream->chain_base + stream->info.frames;
}

/* The song's own gain, linear. */
static float
gain_of(const struct engine *engine, const struct line *line,
	const struct stream *stream)
{
	struct replay_gain_settings settings = engine->replay_gain;

	if (line->id != LANE_MUSIC && line->id != LANE_PREVIEW)
		return 1.0F;
	if (settings.mode == REPLAY_GAIN_AUTO)
		settings.mode =
			stream->album ? REPLAY_GAIN_ALBUM : REPLAY_GAIN_TRACK;
	return replay_gain_linear(&stream->replay_gain, &settings);
}

/* False: the resampler that it needs cannot be had now. */
static bool
add_entry(struct engine *engine, const struct line *line, unsigned index,
	  struct plan *plan, struct plan_lane *planned)
{
	struct plan_entry *entry = &planned->entries[planned->count];
	struct stream *stream = line->entries[index];
	const bool fades = overlaps(line, index);
	const struct stream *before =
		planned->count > 0 ? planned->entries[planned->count - 1].stream
				   : NULL;

	entry->in_hz = stream->spec.rate_hz;
	if (entry->in_hz != plan->rate_hz) {
		/* Two that are heard at once cannot share one. */
		if (fades && before != NULL && stream->resampler != NULL &&
		    stream->resampler == before->resampler &&
		    line_taken_cut(stream) == 0)
			engine_retire_resampler(engine, stream);
		entry->resampler =
			engine_resampler(engine, stream, fades ? NULL : before);
		if (entry->resampler == NULL) {
			engine_due(engine, ENGINE_RETRY_NS);
			return false;
		}
	}
	entry->gain = gain_of(engine, line, stream);
	if (fades)
		entry->fade_frames = fade_frames(stream, plan->rate_hz);
	entry->end_frame = end_frame(stream);
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
	mix->paused = line_is_paused(line);
	planned->final = true;
	if (line->anchors > 0)
		planned->before = line->entries[line->anchors - 1]->id;
	if (plan->decks == 0 || line->blank)
		return;
	/* With a cut still to be made, the old one gets nothing more. */
	while (whole && !line->cut_wanted && i < line->count &&
	       planned->count < PLAN_STREAMS &&
	       can_be_planned(engine, line, i)) {
		whole = add_entry(engine, line, i, plan, planned);
		i += whole;
	}
	planned->final = whole && !line->cut_wanted && is_final(line, i) &&
			 planned->count < PLAN_STREAMS;
	if (planned->final && i == line->count && awaits_more(engine, line)) {
		planned->final = false;
		planned->open = true;
	}
}

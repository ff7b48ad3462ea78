/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.h - a lane as control sees it: the streams that it is to play, in
 * order, and what of them is heard.
 *
 *   entries:  [0 .. anchors)      wholly in a deck; kept while they may be
 * heard [anchors .. count)  to be played; the plan names those of them that can
 * be joined on the open card
 *
 * A new cut is wanted when what is heard must change otherwise than by reaching
 * the end of a stream; it is made as soon as its first stream is ready and the
 * card can take it. A cut without a stream is a fade to nothing.
 *
 * Marks are streams whose first frame was mixed and is heard at a known time;
 * started and ended are told when that time has come.
 * Threads: control. */
#ifndef ROTARY_ENGINE_LINE_H
#define ROTARY_ENGINE_LINE_H

#include "daemon/engine/lane.h"
#include "daemon/output/mix_plan.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct engine;
struct plan;
struct rt_event;
struct stream;

enum { LINE_ENTRIES = 16, LINE_MARKS = 16 };

struct line_mark {
	uint64_t root;
	uint64_t frame; /* of the song */
	int64_t time_ns;
};

struct line_point {
	uint64_t root; /* 0: none */
	uint64_t frame;
	uint32_t rate_hz;
};

struct line {
	struct lane lane; /* the real-time side */
	enum lane_id id;
	struct stream *entries[LINE_ENTRIES];
	unsigned count;
	unsigned anchors;

	uint64_t cut; /* the current one; 0: never used */
	uint32_t start;
	uint64_t after;
	bool cut_wanted;
	uint32_t wanted_start; /* PLAN_NOW or PLAN_AFTER the last anchor */
	bool blank;            /* the current cut holds no stream */
	bool silent; /* nothing of it is heard, or will be without a new cut */
	bool paused;
	bool held;       /* paused as well, while no output is enabled */
	bool more;       /* is to come behind the last entry */
	int64_t more_ns; /* since when that keeps off the first sound */
	bool in_set;

	struct line_mark marks[LINE_MARKS];
	unsigned mark_count;
	uint64_t sounding_cut; /* that the output thread mixes from */
	int64_t sounding_ns;   /* when its first frame is heard */
	uint64_t drained_cut;  /* told by the output thread; 0: none */
	int64_t drained_ns;
	uint64_t heard; /* root that started was told for, or 0 */
	/* Where it stands, or begins, when the timeline has nothing. */
	struct line_point stand;
	int64_t paused_ns; /* since when it stands still, or 0 */
	int64_t still_ns;  /* and is heard to do so */
};

void line_init(struct line *line, struct engine *engine, enum lane_id id);

/* What the player asks for. */
void line_play(struct engine *engine, struct line *line, struct stream *first);
/* 0, -ENOENT (root is not in the line), -EBUSY (next comes before it), -EAGAIN
 * (the line is full). next NULL: nothing. */
NODISCARD int line_follow(struct engine *engine, struct line *line,
			  uint64_t root, struct stream *next);
void line_stop(struct engine *engine, struct line *line);

/* The entry that root's last part is, or -1. */
int line_find(const struct line *line, uint64_t root);
/* Takes out one entry, e.g. one that failed; a hole that is already heard, or
 * mixed, is closed by a new cut. */
void line_drop(struct engine *engine, struct line *line, struct stream *stream);
/* stream goes on with link, to the sample. False: the line is full. */
bool line_insert_after(struct line *line, const struct stream *stream,
		       struct stream *link);
/* The decks are lost: begins again where it was heard. */
void line_rebuild(struct engine *engine, struct line *line);

/* Makes the cut that is wanted, if it can be made now. */
void line_settle(struct engine *engine, struct line *line);
/* The line's part of a plan that is being built. */
void line_add_to_plan(struct engine *engine, struct line *line,
		      struct plan *plan);
/* The stream that wants to be begun and waits for the card, or NULL. */
struct stream *line_waiting(const struct line *line);
/* Something is heard, or is to be. */
bool line_active(const struct line *line);
/* It is not to go on. */
bool line_is_paused(const struct line *line);
/* Nothing is heard of it, and nothing will be before it may go on. */
bool line_is_quiet(const struct line *line, int64_t now_ns);

/* Between line.c, line_cut.c and line_heard.c. */
void line_advance(struct engine *engine, struct line *line);
uint64_t line_taken_cut(const struct stream *stream);
/* The lane mixes, or has mixed, its end with the song behind it. */
bool line_is_overlapped(const struct stream *stream);
/* The current entry is mixed with one that is not to follow any more: what of
 * it stands alone in the deck becomes an anchor, and the rest a new entry. */
void line_split_overlap(struct engine *engine, struct line *line);
void line_remove_entry(struct engine *engine, struct line *line,
		       unsigned index);
/* Entries to be played whose frames are gone in an older cut. */
void line_replace_spent(struct engine *engine, struct line *line);

/* Entries up to, and without, the first of root's are heard to their end; those
 * that its overlap is mixed from stay until it is. */
void line_forget_before(struct engine *engine, struct line *line,
			uint64_t root);
/* All of it was heard. */
void line_finish(struct engine *engine, struct line *line);

/* Events of the real-time threads (line_heard.c, but astray). */
void line_on_astray(struct line *line, uint64_t cut);
void line_on_stretch(struct line *line, const struct rt_event *event);
void line_on_cut(struct line *line, const struct rt_event *event);
void line_on_paused(struct line *line, const struct rt_event *event);
void line_on_drained(struct line *line, const struct rt_event *event);
/* Tells what is heard by now. */
void line_listen(struct engine *engine, struct line *line, int64_t now_ns);
/* When there is something to listen for; INT64_MAX: nothing. */
int64_t line_due_ns(const struct line *line);
/* What is heard; remembers it. Root 0: nothing. */
void line_locate(const struct engine *engine, struct line *line,
		 struct line_point *ret_point);

#endif

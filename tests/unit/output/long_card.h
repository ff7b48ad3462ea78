/* SPDX-License-Identifier: GPL-3.0-or-later */
/* long_card.h - a time that passes as fast as it is used up, and a card that
 * plays by it at a pace of its own. What uses it is linked with
 * --wrap=clock_now_ns. Static functions, for this folder only. */
#ifndef ROTARY_TESTS_OUTPUT_LONG_CARD_H
#define ROTARY_TESTS_OUTPUT_LONG_CARD_H

#include "daemon/output/card.h"

#include "lib/base/clock.h"

#include <errno.h>

enum {
	RATE = 4000,
	CHANNELS = 2,
	MEMORY = RATE, /* frames that a card keeps */
};

static int64_t now_ns;

int64_t __wrap_clock_now_ns(void);

int64_t
__wrap_clock_now_ns(void)
{
	return now_ns;
}

/* A card that keeps the last second of what was written to it. */
struct long_card {
	struct card card;
	void *memory;
	size_t frame_bytes;
	double ppm;
	int64_t start_ns; /* 0: it stands */
	uint64_t written, played, base, checked;
	bool dry;
};

static inline struct long_card *
long_of(struct card *card)
{
	return (struct long_card *)(void *)card;
}

static inline double
position(const struct long_card *card)
{
	double frames = (double)card->base;

	if (card->start_ns != 0)
		frames += (double)(now_ns - card->start_ns) / NS_PER_S * RATE *
			  (1 + card->ppm * 1e-6);
	return frames;
}

static inline void
move_on(struct long_card *card)
{
	const uint64_t frames = (uint64_t)position(card);

	card->played = frames < card->written ? frames : card->written;
	if (card->start_ns != 0 && frames >= card->written) {
		card->base = card->played;
		card->start_ns = 0;
		card->dry = true;
	}
}

static inline int
long_status(struct card *card, struct card_status *ret_status)
{
	struct long_card *own = long_of(card);

	move_on(own);
	if (own->dry)
		return -EPIPE;
	*ret_status = (struct card_status){
		.avail_frames = (uint32_t)(card->info.buffer_frames -
					   (own->written - own->played)),
		.delay_frames = (uint32_t)(own->written - own->played),
		.time_ns = now_ns,
		.running = own->start_ns != 0,
	};
	return 0;
}

static inline int
long_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	struct long_card *own = long_of(card);
	const size_t at = (size_t)(own->written % MEMORY);
	size_t room = (size_t)(card->info.buffer_frames -
			       (own->written - own->played));

	if (room > MEMORY - at)
		room = MEMORY - at;
	if (room < *ret_frames)
		*ret_frames = room;
	*ret_memory = (char *)own->memory + at * own->frame_bytes;
	return 0;
}

static inline int
long_commit(struct card *card, size_t frames)
{
	long_of(card)->written += frames;
	return 0;
}

static inline long
long_rewind(struct card *card, size_t frames)
{
	long_of(card)->written -= frames;
	return (long)frames;
}

static inline int
long_start(struct card *card)
{
	long_of(card)->start_ns = now_ns;
	return 0;
}

static inline int
long_reset(struct card *card)
{
	struct long_card *own = long_of(card);

	own->base = own->written = own->played;
	own->start_ns = 0;
	own->dry = false;
	return 0;
}

static const struct card_ops long_ops = {
	.name = "long",
	.status = long_status,
	.begin = long_begin,
	.commit = long_commit,
	.rewind = long_rewind,
	.start = long_start,
	.reset = long_reset,
};

#endif

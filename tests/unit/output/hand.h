/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hand.h - the output thread's feeding, a step at a time, with a card in hand:
 * its clock, and what a deck gets while it asks for memory, are the test's. */
#ifndef ROTARY_TEST_HAND_H
#define ROTARY_TEST_HAND_H

#include "daemon/output/output_rt.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "tests/unit/output/tape.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	RATE = TAPE_RATE_HZ,
	BUFFER = RATE / 4,
	PERIOD = RATE / 100,
	GUARD = RATE * 8 / 1000,
	HEARD_MAX = 8 * BUFFER,
};

/* Keeps all that was ever written to it. */
struct hand_card {
	struct card card;
	int32_t memory[HEARD_MAX * TAPE_CHANNELS];
	uint64_t written, played;
	bool running, dry;
	unsigned rewinds, starts;
	uint64_t started_with;
	/* of the time that frames take to play, how much it takes to mix them
	 */
	unsigned mixing_percent;
	/* called once, by the next begin() */
	void (*meanwhile)(void *context);
	void *context;
};

struct hand {
	struct hand_card card;
	struct tape tape;
	struct output_rt rt;
};

static inline struct hand_card *
hand_of(struct card *card)
{
	return (struct hand_card *)(void *)card;
}

static inline int
hand_status(struct card *card, struct card_status *ret_status)
{
	struct hand_card *hand = hand_of(card);

	if (hand->dry)
		return -EPIPE;
	*ret_status = (struct card_status){
		.avail_frames =
			(uint32_t)(BUFFER - (hand->written - hand->played)),
		.delay_frames = (uint32_t)(hand->written - hand->played),
		.time_ns = clock_now_ns(),
		.running = hand->running,
	};
	return 0;
}

static inline int
hand_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	struct hand_card *hand = hand_of(card);
	const uint64_t room = BUFFER - (hand->written - hand->played);
	void (*meanwhile)(void *context) = hand->meanwhile;

	hand->meanwhile = NULL;
	if (meanwhile != NULL)
		meanwhile(hand->context);
	if (room < *ret_frames)
		*ret_frames = (size_t)room;
	assert_true(hand->written + *ret_frames <= HEARD_MAX);
	*ret_memory = hand->memory + hand->written * TAPE_CHANNELS;
	return 0;
}

/* What was played meanwhile was there before. */
static inline int
hand_commit(struct card *card, size_t frames)
{
	struct hand_card *hand = hand_of(card);

	if (hand->running)
		hand->played += frames * hand->mixing_percent / 100;
	if (hand->played > hand->written) {
		hand->played = hand->written;
		hand->running = false;
		hand->dry = true;
		return -EPIPE;
	}
	hand->written += frames;
	return 0;
}

static inline long
hand_rewind(struct card *card, size_t frames)
{
	struct hand_card *hand = hand_of(card);

	assert_true(frames <= hand->written - hand->played);
	hand->written -= frames;
	hand->rewinds++;
	return (long)frames;
}

static inline int
hand_start(struct card *card)
{
	struct hand_card *hand = hand_of(card);

	hand->running = true;
	hand->starts++;
	hand->started_with = hand->written - hand->played;
	return 0;
}

static inline int
hand_reset(struct card *card)
{
	struct hand_card *hand = hand_of(card);

	hand->written = hand->played;
	hand->running = false;
	hand->dry = false;
	return 0;
}

static const struct card_ops hand_ops = {
	.name = "hand",
	.status = hand_status,
	.begin = hand_begin,
	.commit = hand_commit,
	.rewind = hand_rewind,
	.start = hand_start,
	.reset = hand_reset,
};

static inline struct hand *
hand_new(void)
{
	const size_t bytes = (sizeof(struct hand) + CACHE_LINE - 1) /
			     CACHE_LINE * CACHE_LINE;
	struct hand *hand = aligned_alloc(CACHE_LINE, bytes);
	struct output_rt *rt;

	assert_non_null(hand);
	memset((void *)hand, 0, bytes);
	rt = &hand->rt;
	hand->card.card = (struct card){
		.ops = &hand_ops,
		.info = {.spec = {RATE, TAPE_CHANNELS, CARD_S32, 32},
			 .buffer_frames = BUFFER,
			 .period_frames = PERIOD,
			 .pad_frames = 2 * PERIOD,
			 .can_rewind = true},
	};
	tape_init(&hand->tape, 4 * BUFFER, deck_history_frames(BUFFER, RATE),
		  TAPE_CHANNELS);
	rt->card = &hand->card.card;
	rt->plan.volume = 1.0F;
	for (unsigned i = 0; i < LANE_COUNT; i++)
		rt->plan.lanes[i].gain = 1.0F;
	mix_init(&rt->mix, hand->tape.bus, &rt->card->info.spec);
	output_feed_begin(rt);
	return hand;
}

static inline void
hand_free(struct hand *hand)
{
	tape_finish(&hand->tape);
	free(hand);
}

/* As a cycle does it, less what is told and published. */
static inline void
step(struct hand *hand)
{
	struct output_rt *rt = &hand->rt;
	int error = output_feed_step(rt);
	uint64_t heard;

	while (error != 0) {
		assert_int_equal(output_feed_recover(rt, error), 0);
		error = output_feed_step(rt);
	}
	heard = rt->mix.frame - output_feed_delay(rt);
	(void)mix_forget(&rt->mix, &rt->plan, heard, heard);
}

/* Time passes; a card that has nothing left stops. */
static inline void
play(struct hand *hand, uint64_t frames)
{
	struct hand_card *card = &hand->card;

	assert_true(card->running);
	card->played += frames;
	if (card->played >= card->written) {
		card->played = card->written;
		card->running = false;
		card->dry = true;
	}
}

static inline uint64_t
xruns(const struct hand *hand)
{
	return atomic_load(&hand->rt.figures.xruns);
}

static inline void
expect(const struct hand *hand, uint64_t first, uint64_t end, uint64_t stream,
       uint64_t stream_frame)
{
	for (uint64_t i = first; i < end; i++) {
		assert_int_equal(
			hand->card.memory[i * TAPE_CHANNELS],
			tape_s32(stream, stream_frame + i - first, 0, 24));
	}
}

/* ---- decks that get ready between the look and the mixing ---- */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hasty.c - a commit is the hearing, as far as the take is concerned; room for
 * more there is when time has passed. Time that finds nothing to play is lost,
 * as it is with a card that stands still. */
#include "tests/kit/rig/hasty.h"

#include "lib/base/attr.h"
#include "lib/base/clock.h"
#include "tests/kit/crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TAKES_MAX = 1024, BUFFER_MS = 100, PERIOD_MS = 20 };

struct hasty {
	struct card card;
	float *memory; /* of the buffer */
	uint32_t waiting;
	bool running;
	size_t capacity; /* of the take, frames */
};

static ATOMIC(uint32_t) passed_ms;
static struct hasty_take takes[TAKES_MAX];
static unsigned take_count;

void
hasty_pass(uint32_t ms)
{
	atomic_fetch_add(&passed_ms, ms);
}

unsigned
hasty_count(void)
{
	return take_count;
}

const struct hasty_take *
hasty_take(unsigned number)
{
	crew_check(number < take_count);
	return &takes[number];
}

void
hasty_forget(void)
{
	while (take_count > 0)
		free(takes[--take_count].samples);
	memset(takes, 0, sizeof(takes));
}

static struct hasty_take *
last_take(void)
{
	return &takes[take_count - 1];
}

static int
hasty_open(const struct card_request *request, struct card **ret_card,
	   struct text *ret_reason)
{
	const uint32_t rate_hz = request->spec.rate_hz;
	const uint32_t channels = request->spec.channels;
	struct hasty *hasty = calloc(1, sizeof(*hasty));

	(void)ret_reason;
	crew_check(hasty != NULL && take_count < TAKES_MAX);
	hasty->card.ops = &card_hasty;
	hasty->card.info = (struct card_info){
		.spec = {rate_hz, channels, CARD_F32, 32},
		.buffer_frames = rate_hz * BUFFER_MS / 1000 + 1,
		.period_frames = rate_hz * PERIOD_MS / 1000 + 1,
	};
	hasty->memory = calloc(hasty->card.info.buffer_frames,
			       channels * sizeof(float));
	crew_check(hasty->memory != NULL);
	takes[take_count++] =
		(struct hasty_take){.spec = hasty->card.info.spec};
	*ret_card = &hasty->card;
	return 0;
}

static void
hasty_close(struct card *card)
{
	struct hasty *hasty = (struct hasty *)(void *)card;

	free(hasty->memory);
	free(hasty);
}

static int
hasty_status(struct card *card, struct card_status *ret_status)
{
	struct hasty *hasty = (struct hasty *)(void *)card;
	const uint64_t passed = (uint64_t)atomic_exchange(&passed_ms, 0) *
				card->info.spec.rate_hz / 1000;

	if (hasty->running)
		hasty->waiting -= passed < hasty->waiting ? (uint32_t)passed
							  : hasty->waiting;
	*ret_status = (struct card_status){
		.avail_frames = card->info.buffer_frames - hasty->waiting,
		.delay_frames = hasty->waiting,
		.time_ns = clock_now_ns(),
		.running = hasty->running,
	};
	return 0;
}

static int
hasty_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	const struct hasty *hasty = (struct hasty *)(void *)card;
	const size_t room = card->info.buffer_frames - hasty->waiting;

	*ret_memory = hasty->memory;
	if (*ret_frames > room)
		*ret_frames = room;
	return 0;
}

static int
hasty_commit(struct card *card, size_t frames)
{
	struct hasty *hasty = (struct hasty *)(void *)card;
	const uint32_t channels = card->info.spec.channels;
	struct hasty_take *take = last_take();

	if (frames == 0)
		return 0;
	if (take->frames + frames > hasty->capacity) {
		hasty->capacity = 2 * hasty->capacity + frames + 65536;
		take->samples =
			realloc(take->samples,
				hasty->capacity * channels * sizeof(float));
		crew_check(take->samples != NULL);
	}
	memcpy(take->samples + take->frames * channels, hasty->memory,
	       frames * channels * sizeof(float));
	take->frames += frames;
	hasty->waiting += (uint32_t)frames;
	return 0;
}

static long
hasty_rewind(struct card *card, size_t frames)
{
	(void)card;
	(void)frames;
	return 0;
}

static int
hasty_start(struct card *card)
{
	struct hasty *hasty = (struct hasty *)(void *)card;

	hasty->running = true;
	return 0;
}

static int
hasty_reset(struct card *card)
{
	struct hasty *hasty = (struct hasty *)(void *)card;

	hasty->running = false;
	hasty->waiting = 0;
	return 0;
}

static int
hasty_resume(struct card *card)
{
	(void)card;
	return -ENOSYS;
}

static unsigned
hasty_poll_fds(struct card *card, struct pollfd *ret_fds, unsigned capacity)
{
	(void)card;
	(void)ret_fds;
	(void)capacity;
	return 0;
}

static int
hasty_poll_events(struct card *card, struct pollfd *fds, unsigned count)
{
	(void)card;
	(void)fds;
	(void)count;
	return 0;
}

const struct card_ops card_hasty = {
	.name = "hasty",
	.open = hasty_open,
	.close = hasty_close,
	.status = hasty_status,
	.begin = hasty_begin,
	.commit = hasty_commit,
	.rewind = hasty_rewind,
	.start = hasty_start,
	.reset = hasty_reset,
	.resume = hasty_resume,
	.poll_fds = hasty_poll_fds,
	.poll_events = hasty_poll_events,
};

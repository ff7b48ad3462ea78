/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipe.c - raw samples into a FIFO or standard output, in one format and at one
 * rate whatever plays, for a program that knows neither (Snapcast's server,
 * sox, aplay).
 *
 * The output thread writes to a spool and never to the pipe; a thread of the
 * card's own takes frames from it, some of them ahead of their time, and counts
 * as heard what was read from the pipe. Who sets the pace:
 *
 *   READ    the reader: what it has not read is not heard. No faster than our
 *           clock and a thousandth, for one that swallows everything
 *   ALONE   nobody reads: the clock, and frames are dropped unheard
 *   STUCK   somebody has the pipe and has read nothing for a while: the clock;
 *           the oldest frames that the pipe has not taken are dropped, and
 *           counted
 *
 *   ALONE <-(opened, gone)-> READ <-(read, nothing read)-> STUCK -(gone)->
 * ALONE
 */
#include "daemon/output/card.h"
#include "daemon/output/pipe_end.h"
#include "daemon/output/spool.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "lib/sync/wake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIPE_CHANNELS = 2,
	BUFFER_MS_MIN = 20,
	TURN_MS_MAX = 50,
	/* The pipe holds so much of the buffer: half of what is left in it when
	 * the output thread wakes up, for a reader may come to read it all at
	 * once. */
	AHEAD_PART = 8,
	FASTER = 1000, /* one more frame in so many, at most */
};

static const int64_t STUCK_NS = 2 * NS_PER_S;
static const int64_t LOOK_NS = 100 * NS_PER_MS; /* for a reader */

enum pipe_pace { PIPE_ALONE, PIPE_READ, PIPE_STUCK };

struct pipe_card {
	struct card card;
	struct spool spool;
	uint32_t ahead_frames; /* that the pipe may hold */
	int64_t turn_ns;
	struct thread thread;
	struct wake wake;
	/* between output and the thread */
	ATOMIC(bool) running;
	ATOMIC(uint32_t) starts;  /* so far */
	ATOMIC(int64_t) heard_ns; /* when the spool's heard was so */
	ATOMIC(bool) closing;
	/* the thread's, but at open and close */
	struct pipe_end end;
	enum pipe_pace pace;
	int64_t seen_ns;   /* the last turn */
	int64_t looked_ns; /* for a reader */
	int64_t read_ns;   /* when something was last read, or nothing to */
	int64_t credit_ns; /* of time that was not played yet */
	uint64_t dropped_frames;
};

static RT_SAFE struct pipe_card *
pipe_of(struct card *card)
{
	return (void *)card;
}

/* ---- the thread ---- */

static void
say_pace(struct pipe_card *pipe, enum pipe_pace pace)
{
	const char *name = pipe->card.info.name;

	if (pipe->pace == PIPE_STUCK)
		log_info("output", "%s: %llu frames were dropped", name,
			 (unsigned long long)pipe->dropped_frames);
	if (pace == PIPE_STUCK)
		log_warn("output",
			 "%s: the reader has stopped reading; frames that it "
			 "leaves are dropped",
			 name);
	else if (pace == PIPE_ALONE)
		log_info("output", "%s: nobody reads; played unheard", name);
	else if (pipe->pace == PIPE_ALONE)
		log_info("output", "%s: somebody reads", name);
	pipe->pace = pace;
}

/* Takes what the clock has played, to nobody. */
static uint64_t
drop_by_clock(struct pipe_card *pipe)
{
	const uint32_t rate_hz = pipe->card.info.spec.rate_hz;
	uint64_t dropped = 0;
	size_t frames = 0;

	do {
		frames = clock_ns_to_frames(pipe->credit_ns, rate_hz);
		if (frames == 0)
			break;
		(void)spool_take(&pipe->spool, &frames);
		pipe->credit_ns -= clock_frames_to_ns(frames, rate_hz);
		dropped += frames;
	} while (frames > 0);
	return dropped;
}

/* Fills the pipe as far as it may be filled. */
static void
give(struct pipe_card *pipe)
{
	const uint32_t rate_hz = pipe->card.info.spec.rate_hz;

	for (;;) {
		const size_t unread = pipe_end_unread(&pipe->end);
		size_t frames = clock_ns_to_frames(pipe->credit_ns, rate_hz);
		const void *from = NULL;
		int written = 0;

		if (unread >= pipe->ahead_frames)
			return;
		if (frames > pipe->ahead_frames - unread)
			frames = pipe->ahead_frames - unread;
		if (frames > pipe_end_chunk(&pipe->end))
			frames = pipe_end_chunk(&pipe->end);
		if (frames == 0 || !pipe_end_has_room(&pipe->end))
			return;
		from = spool_take(&pipe->spool, &frames);
		if (frames == 0)
			return;
		pipe->credit_ns -= clock_frames_to_ns(frames, rate_hz);
		written = pipe_end_write(&pipe->end, from, frames);
		if (written < 0)
			return;
		pipe->dropped_frames += frames - (size_t)written;
	}
}

static void
look_for_reader(struct pipe_card *pipe, int64_t now_ns)
{
	const bool had = pipe->end.has_reader;

	/* A reader that left is noticed at once, one that comes soon. */
	if (!had && now_ns - pipe->looked_ns < LOOK_NS)
		return;
	pipe->looked_ns = now_ns;
	if (!pipe_end_has_reader(&pipe->end)) {
		if (pipe->pace != PIPE_ALONE)
			say_pace(pipe, PIPE_ALONE);
	} else if (pipe->pace == PIPE_ALONE) {
		say_pace(pipe, PIPE_READ);
		pipe->read_ns = now_ns;
		pipe->credit_ns = clock_frames_to_ns(
			pipe->ahead_frames, pipe->card.info.spec.rate_hz);
	}
}

/* Time that has passed may be played now; what was not played stays to be, but
 * no more of it than the pipe may hold, with what it holds. */
static void
earn(struct pipe_card *pipe, int64_t now_ns)
{
	const uint32_t rate_hz = pipe->card.info.spec.rate_hz;
	const int64_t passed_ns = now_ns - pipe->seen_ns;
	const size_t unread = pipe_end_unread(&pipe->end);
	int64_t most_ns = clock_frames_to_ns(pipe->ahead_frames, rate_hz);

	if (pipe->pace == PIPE_READ)
		most_ns -= clock_frames_to_ns(unread, rate_hz);
	pipe->seen_ns = now_ns;
	pipe->credit_ns += passed_ns;
	if (pipe->pace == PIPE_READ)
		pipe->credit_ns += passed_ns / FASTER;
	if (pipe->credit_ns > most_ns)
		pipe->credit_ns = most_ns > 0 ? most_ns : 0;
}

static void
settle_pace(struct pipe_card *pipe, int64_t now_ns)
{
	const size_t unread = pipe_end_unread(&pipe->end);
	const uint64_t heard = pipe->spool.taken - unread;

	if (heard > spool_heard(&pipe->spool) || unread == 0)
		pipe->read_ns = now_ns;
	if (pipe->pace == PIPE_READ && now_ns - pipe->read_ns > STUCK_NS) {
		say_pace(pipe, PIPE_STUCK);
		pipe->credit_ns = 0;
	} else if (pipe->pace == PIPE_STUCK && pipe->read_ns == now_ns) {
		say_pace(pipe, PIPE_READ);
	}
}

/* Where nothing is read, dropping goes on as time does: heard is then what the
 * pipe does not hold, all the same. */
static void
turn(struct pipe_card *pipe)
{
	const int64_t now_ns = clock_now_ns();

	look_for_reader(pipe, now_ns);
	settle_pace(pipe, now_ns);
	earn(pipe, now_ns);
	if (pipe->pace == PIPE_READ)
		give(pipe);
	else if (pipe->pace == PIPE_STUCK)
		pipe->dropped_frames += drop_by_clock(pipe);
	else
		(void)drop_by_clock(pipe);
	spool_say_heard(&pipe->spool,
			pipe->spool.taken - pipe_end_unread(&pipe->end));
	atomic_store_explicit(&pipe->heard_ns, now_ns, memory_order_release);
}

/* The clock starts now. */
static void
begin(struct pipe_card *pipe)
{
	pipe->seen_ns = clock_now_ns();
	pipe->read_ns = pipe->seen_ns;
	pipe->credit_ns = 0;
	if (pipe->pace == PIPE_READ)
		pipe->credit_ns = clock_frames_to_ns(
			pipe->ahead_frames, pipe->card.info.spec.rate_hz);
}

static void *
pipe_main(void *argument)
{
	struct pipe_card *pipe = argument;
	uint32_t begun = 0;

	while (!atomic_load(&pipe->closing)) {
		const uint32_t seen = wake_prepare(&pipe->wake);
		const bool runs = atomic_load(&pipe->running);

		const uint32_t starts = atomic_load(&pipe->starts);

		if (runs && starts != begun)
			begin(pipe);
		begun = starts;
		if (runs)
			turn(pipe);
		if (!atomic_load(&pipe->closing))
			(void)wake_wait(&pipe->wake, seen,
					runs ? pipe->turn_ns : -1);
	}
	return NULL;
}

/* ---- the card ---- */

static int
start_thread(struct pipe_card *pipe)
{
	const struct thread_spec spec = {
		.role = THREAD_ROLE_WORKER,
		.name = "rotary-pipe",
		.stack_bytes = THREAD_STACK_WORKER,
		.main = pipe_main,
		.argument = pipe,
	};

	wake_init(&pipe->wake);
	return thread_start(&pipe->thread, &spec);
}

static void
set_info(const struct card_request *request, struct card_info *ret_info)
{
	static const uint32_t bits[CARD_FORMAT_COUNT] = {16, 24, 24, 32, 32};
	const uint32_t rate_hz = request->spec.rate_hz;
	const uint32_t buffer_ms = request->buffer_ms > BUFFER_MS_MIN
					   ? request->buffer_ms
					   : BUFFER_MS_MIN;

	memset(ret_info, 0, sizeof(*ret_info));
	ret_info->spec = (struct card_spec){
		.rate_hz = rate_hz,
		.channels = PIPE_CHANNELS,
		.format = request->format,
		.bits = bits[request->format],
	};
	ret_info->buffer_frames =
		(uint32_t)((uint64_t)rate_hz * buffer_ms / 1000) + 1;
	ret_info->period_frames = ret_info->buffer_frames / 4;
	ret_info->can_rewind = request->rewind != 0;
	ret_info->sealable = true;
	ret_info->slips = true;
}

static int
pipe_open(const struct card_request *request, struct card **ret_card,
	  struct text *ret_reason)
{
	const char *device = request->device != NULL ? request->device : "-";
	struct pipe_card *pipe = aligned_alloc(CACHE_LINE, sizeof(*pipe));
	struct card_info *info = NULL;
	size_t frame_bytes = 0;
	int error = 0;

	if (pipe == NULL)
		return -ENOMEM;
	memset((void *)pipe, 0, sizeof(*pipe));
	pipe->card.ops = &card_pipe;
	info = &pipe->card.info;
	set_info(request, info);
	snprintf(info->name, sizeof(info->name), "%s",
		 strcmp(device, "-") == 0 ? "standard output" : device);
	frame_bytes =
		card_format_bytes(info->spec.format) * info->spec.channels;
	pipe->ahead_frames = info->buffer_frames / AHEAD_PART;
	pipe->turn_ns =
		clock_frames_to_ns(pipe->ahead_frames, info->spec.rate_hz) / 4;
	if (pipe->turn_ns > TURN_MS_MAX * NS_PER_MS)
		pipe->turn_ns = TURN_MS_MAX * NS_PER_MS;
	error = pipe_end_init(&pipe->end, device, frame_bytes, ret_reason);
	if (error < 0)
		goto no_end;
	error = spool_init(&pipe->spool, frame_bytes, info->buffer_frames);
	if (error == 0)
		error = start_thread(pipe);
	if (error < 0)
		goto no_thread;
	*ret_card = &pipe->card;
	return 0;

no_thread:
	text_printf(ret_reason, "no memory to write to %s", device);
	spool_finish(&pipe->spool);
no_end:
	pipe_end_finish(&pipe->end);
	free(pipe);
	return error;
}

static void
pipe_close(struct card *card)
{
	struct pipe_card *pipe = pipe_of(card);

	atomic_store(&pipe->closing, true);
	wake_post(&pipe->wake);
	thread_join(&pipe->thread);
	pipe_end_finish(&pipe->end);
	spool_finish(&pipe->spool);
	free(pipe);
}

/* Dry, it stands still: a reader may have been faster than the clock, so that
 * what was not heard cannot be reckoned from it. */
static RT_SAFE int
pipe_status(struct card *card, struct card_status *ret_status)
{
	struct pipe_card *pipe = pipe_of(card);
	/* Read first: of two turns it is then the earlier one's. */
	const int64_t heard_ns =
		atomic_load_explicit(&pipe->heard_ns, memory_order_acquire);
	const uint64_t heard = spool_heard(&pipe->spool);
	const uint64_t queued = pipe->spool.written - heard;
	const bool running =
		atomic_load_explicit(&pipe->running, memory_order_relaxed);

	ret_status->avail_frames = card->info.buffer_frames - (uint32_t)queued;
	ret_status->delay_frames = (uint32_t)queued;
	ret_status->time_ns = running ? heard_ns : clock_now_ns();
	ret_status->running = running && queued > 0;
	return 0;
}

static RT_SAFE int
pipe_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	*ret_memory = spool_begin(&pipe_of(card)->spool, ret_frames);
	return 0;
}

static RT_SAFE int
pipe_commit(struct card *card, size_t frames)
{
	spool_commit(&pipe_of(card)->spool, frames);
	return 0;
}

static RT_SAFE long
pipe_rewind(struct card *card, size_t frames)
{
	return (long)spool_rewind(&pipe_of(card)->spool, frames);
}

static RT_DEVICE int
pipe_start(struct card *card)
{
	struct pipe_card *pipe = pipe_of(card);

	atomic_store(&pipe->heard_ns, clock_now_ns());
	atomic_store(&pipe->starts, atomic_load(&pipe->starts) + 1);
	atomic_store(&pipe->running, true);
	wake_post(&pipe->wake);
	return 0;
}

static RT_SAFE int
pipe_reset(struct card *card)
{
	struct pipe_card *pipe = pipe_of(card);

	atomic_store(&pipe->running, false);
	(void)spool_rewind(&pipe->spool, SIZE_MAX);
	return 0;
}

static RT_SAFE int
pipe_resume(struct card *card)
{
	(void)card;
	return -ENOSYS;
}

static RT_SAFE unsigned
pipe_poll_fds(struct card *card, struct pollfd *ret_fds, unsigned capacity)
{
	(void)card;
	(void)ret_fds;
	(void)capacity;
	return 0;
}

static RT_SAFE int
pipe_poll_events(struct card *card, struct pollfd *fds, unsigned count)
{
	(void)card;
	(void)fds;
	(void)count;
	return 0;
}

const struct card_ops card_pipe = {
	.name = "pipe",
	.open = pipe_open,
	.close = pipe_close,
	.status = pipe_status,
	.begin = pipe_begin,
	.commit = pipe_commit,
	.rewind = pipe_rewind,
	.start = pipe_start,
	.reset = pipe_reset,
	.resume = pipe_resume,
	.poll_fds = pipe_poll_fds,
	.poll_events = pipe_poll_events,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card_pcm.c - the test card as alsa-lib sees it.
 *
 * Whatever the application writes goes through transfer() (for mmap access at
 * the commit) into the shadow, a ring that is longer than the buffer, at its
 * heard position: base of the run + application's position. A rewind makes
 * alsa-lib's position smaller, so what follows replaces what is in the shadow,
 * unless its time has passed: then it is counted as late, as a DMA engine would
 * have it.
 *
 *	prepare: base = written, position 0
 *	start:	 the run begins; a claim is opened (card_clock.c)
 *	end:	 by drop, drain, overtaking, a fault: the claim is closed;
 *		 heard = max(base + min(position, application's), claimed)
 *
 * Limits of alsa-lib's plug-in interface, as any plug-in has them: a suspended
 * or vanished card is told by the state, by poll (POLLERR) and by all calls
 * that move data, but snd_pcm_avail_update() has no error for it, and
 * snd_pcm_resume() always returns 0: look at the state. */
#include "card.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct card *
card_of(snd_pcm_ioplug_t *io)
{
	return io->private_data;
}

/* The position as the application sees it. */
static uint64_t
shown(const struct card *card, uint64_t position)
{
	if (card->params.batch)
		position -= position % card->io.period_size;
	return position;
}

/* From here on frames can still be replaced. */
static uint64_t
fetched(const struct card *card, uint64_t position)
{
	if (card->params.batch)
		return shown(card, position) + card->io.period_size;
	return position + card->params.fifo_frames;
}

static uint64_t
position_now(struct card *card, int64_t now_ns)
{
	uint64_t position = card_run_position(card, &card->run, now_ns);

	if (position < card->position)
		position = card->position;
	card->position = position;
	return position;
}

void
card_end_run(struct card *card, enum card_event_kind kind, int64_t now_ns)
{
	uint64_t heard = 0;

	if (card->run.active) {
		uint64_t position = position_now(card, now_ns);
		uint64_t claimed = card_claim_close(card);
		uint64_t end = card->io.appl_ptr;
		if (end > position ||
		    atomic_load(&card->stop_threshold) > card->io.buffer_size)
			end = position;
		heard = card->run.base + end;
		if (heard < claimed)
			heard = claimed;
		card->run.active = false;
		card->run.start = card->position = heard - card->run.base;
	}
	atomic_store(&card->draining, false);
	card_event(card, kind, now_ns, heard, 0);
}

static void
begin_run(struct card *card, enum card_event_kind kind)
{
	int64_t now = card_now_ns();

	card->run.active = true;
	card->run.epoch++;
	card->run.start_ns = card_clock_virtual(&card->clock, now);
	card_claim_open(card, card->run.epoch,
			card->run.base + card->run.start);
	if (kind == CARD_EVENT_RESUME)
		card_event(card, kind, now, 0, 0);
	card_event_start(card, now);
}

/* Something has gone wrong since the last call? 0, or the error that all calls
 * give now; the state tells it to alsa-lib. */
static int
meet_faults(struct card *card)
{
	snd_pcm_ioplug_t *io = &card->io;
	unsigned xruns = atomic_load(&card->xruns);
	unsigned suspends = atomic_load(&card->suspends);
	bool moving = io->state == SND_PCM_STATE_RUNNING ||
		      io->state == SND_PCM_STATE_DRAINING;

	if (atomic_load(&card->gone)) {
		if (io->state != SND_PCM_STATE_DISCONNECTED) {
			card_end_run(card, CARD_EVENT_GONE, card_now_ns());
			io->state = SND_PCM_STATE_DISCONNECTED;
		}
		return -ENODEV;
	}
	if (suspends != card->suspends_seen &&
	    (moving || io->state == SND_PCM_STATE_PREPARED)) {
		card->suspended_running = moving;
		card_end_run(card, CARD_EVENT_SUSPEND, card_now_ns());
		io->state = SND_PCM_STATE_SUSPENDED;
	}
	card->suspends_seen = suspends;
	if (io->state == SND_PCM_STATE_SUSPENDED)
		return -ESTRPIPE;
	if (xruns != card->xruns_seen && moving) {
		card_end_run(card, CARD_EVENT_XRUN, card_now_ns());
		io->state = SND_PCM_STATE_XRUN;
	}
	card->xruns_seen = xruns;
	return io->state == SND_PCM_STATE_XRUN ? -EPIPE : 0;
}

/* True: the card has played all there was, which while draining is its end. */
static bool
overtaken(const struct card *card, uint64_t position)
{
	uint64_t avail = card->io.buffer_size + shown(card, position) -
			 card->io.appl_ptr;

	return card->io.state == SND_PCM_STATE_RUNNING &&
	       (int64_t)avail >= (int64_t)atomic_load(&card->stop_threshold);
}

static int
fall_over(struct card *card, int64_t now_ns)
{
	card_end_run(card, CARD_EVENT_XRUN, now_ns);
	card->io.state = SND_PCM_STATE_XRUN;
	return -EPIPE;
}

static void
see_jumps(struct card *card, int64_t now_ns)
{
	uint64_t appl = card->io.appl_ptr;

	if (appl < card->expected)
		card_event(card, CARD_EVENT_REWIND, now_ns, 0,
			   (int64_t)(card->expected - appl));
	else if (appl > card->expected)
		card_event(card, CARD_EVENT_FORWARD, now_ns, 0,
			   (int64_t)(appl - card->expected));
	card->expected = appl;
}

static snd_pcm_sframes_t
card_pointer(snd_pcm_ioplug_t *io)
{
	struct card *card = card_of(io);
	int r = meet_faults(card);

	if (r == -ENODEV) /* As if all was played: the writer will notice. */
		return (snd_pcm_sframes_t)io->appl_ptr;
	if (r == -EPIPE)
		return r;
	int64_t now = card_now_ns();
	uint64_t position = position_now(card, now);
	see_jumps(card, now);
	if (overtaken(card, position))
		return fall_over(card, now);
	position = shown(card, position);
	if (io->state == SND_PCM_STATE_DRAINING) {
		atomic_store(&card->draining, true);
		if (position > io->appl_ptr)
			position = io->appl_ptr;
	}
	return (snd_pcm_sframes_t)position;
}

/* Frames [from, to) of the shadow, by heard position; memory NULL: silence. */
static void
fill(struct card *card, const unsigned char *memory, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t slot = from % card->shadow_frames;
		uint64_t frames = card->shadow_frames - slot;
		if (frames > to - from)
			frames = to - from;
		size_t bytes = frames * card->frame_bytes;
		unsigned char *at = card->shadow + slot * card->frame_bytes;
		if (memory) {
			memcpy(at, memory, bytes);
			memory += bytes;
		} else {
			memset(at, 0, bytes);
		}
		from += frames;
	}
}

static void
block(struct card *card, int64_t now_ns)
{
	unsigned blocks = atomic_load(&card->blocks);
	int64_t ms = atomic_load(&card->block_ms);

	if (blocks == card->blocks_seen)
		return;
	card->blocks_seen = blocks;
	card_event(card, CARD_EVENT_BLOCK, now_ns, 0, ms);
	int64_t end = now_ns + ms * 1000000;
	struct timespec until = {.tv_sec = end / 1000000000,
				 .tv_nsec = end % 1000000000};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
}

/* Frames from `start` that come too late: they have been heard as they were. */
static uint64_t
late_frames(struct card *card, uint64_t start, uint64_t size, int64_t now_ns)
{
	uint64_t written = atomic_load(&card->written);
	uint64_t keep = written;

	if (card->params.rewind) {
		uint64_t position = position_now(card, now_ns);
		uint64_t claimed = card_claim_read(card);
		keep = 0;
		if (card->run.active)
			keep = card->run.base + fetched(card, position);
		if (keep > written)
			keep = written;
		if (keep < claimed)
			keep = claimed;
	}
	if (keep <= start)
		return 0;
	uint64_t late = keep - start < size ? keep - start : size;
	if (card->params.rewind)
		card_event(card, CARD_EVENT_LATE, now_ns, 0, (int64_t)late);
	return late;
}

static snd_pcm_sframes_t
card_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
	      snd_pcm_uframes_t offset, snd_pcm_uframes_t size)
{
	struct card *card = card_of(io);
	const unsigned char *memory = areas->addr;
	int64_t now = card_now_ns();
	int r = meet_faults(card);

	if (r)
		return r;
	block(card, now);
	see_jumps(card, now);
	if (overtaken(card, position_now(card, now)))
		return fall_over(card, now);

	memory += areas->first / 8 + offset * card->frame_bytes;
	uint64_t start = card->run.base + io->appl_ptr;
	uint64_t end = start + size;
	uint64_t written = atomic_load(&card->written);
	uint64_t late = late_frames(card, start, size, now);
	/* Makes the keeper's reading of what stood there happen before. */
	atomic_load_explicit(&card->captured, memory_order_acquire);
	if (start > written)
		fill(card, NULL, written, start);
	fill(card, memory + late * card->frame_bytes, start + late, end);
	if (end > written)
		written = end;
	atomic_store_explicit(&card->written, written, memory_order_release);

	/* It overtook us while we copied? */
	now = card_now_ns();
	if (overtaken(card, position_now(card, now)))
		return fall_over(card, now);
	card->expected = io->appl_ptr + size;
	return (snd_pcm_sframes_t)size;
}

static int
card_start(snd_pcm_ioplug_t *io)
{
	struct card *card = card_of(io);
	int r = meet_faults(card);

	if (!r)
		begin_run(card, CARD_EVENT_START);
	return r;
}

static int
card_stop(snd_pcm_ioplug_t *io)
{
	struct card *card = card_of(io);
	int64_t now = card_now_ns();
	bool ended = card->run.active || atomic_load(&card->prepared);
	bool drained = io->state == SND_PCM_STATE_DRAINING &&
		       shown(card, position_now(card, now)) >= io->appl_ptr;

	atomic_store(&card->prepared, false);
	if (ended)
		card_end_run(card,
			     drained ? CARD_EVENT_DRAINED : CARD_EVENT_DROP,
			     now);
	return 0;
}

static int
card_prepare(snd_pcm_ioplug_t *io)
{
	struct card *card = card_of(io);
	int64_t now = card_now_ns();

	if (card->run.active)
		card_end_run(card, CARD_EVENT_DROP, now);
	if (atomic_load(&card->gone)) {
		meet_faults(card);
		return -ENODEV;
	}
	if (atomic_load(&card->suspended))
		return -ESTRPIPE;
	card->suspends_seen = atomic_load(&card->suspends);
	card->xruns_seen = atomic_load(&card->xruns);
	card->run.base = atomic_load(&card->written);
	card->run.start = 0;
	card->position = card->expected = 0;
	atomic_store(&card->prepared, true);
	card_event(card, CARD_EVENT_PREPARE, now, 0, 0);
	return 0;
}

static int
card_resume(snd_pcm_ioplug_t *io)
{
	struct card *card = card_of(io);

	if (io->state != SND_PCM_STATE_SUSPENDED)
		return 0;
	if (atomic_load(&card->gone) || atomic_load(&card->suspended))
		return -EAGAIN; /* alsa-lib drops it: the state tells. */
	if (card->suspended_running) {
		io->state = SND_PCM_STATE_RUNNING;
		begin_run(card, CARD_EVENT_RESUME);
	} else {
		io->state = SND_PCM_STATE_PREPARED;
		card_event(card, CARD_EVENT_RESUME, card_now_ns(), 0, 0);
	}
	return 0;
}

static int
card_poll_count(snd_pcm_ioplug_t *io)
{
	(void)io;
	return 2;
}

/* The timer, and what cries when the card has gone, whatever it is asked. */
static int
card_poll_fds(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned space)
{
	const struct card *card = card_of(io);

	if (space > 0)
		fds[0] =
			(struct pollfd){.fd = card->timer_fd, .events = POLLIN};
	if (space > 1)
		fds[1] = (struct pollfd){.fd = card->cry_fd};
	return space < 2 ? (int)space : 2;
}

static int
card_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned count,
	     unsigned short *ret_revents)
{
	struct card *card = card_of(io);
	uint64_t expirations = 0;

	*ret_revents = 0;
	if (count < 1 || count > 2)
		return -EINVAL;
	bool cries = count > 1 && fds[1].revents;
	if (!(fds->revents & POLLIN) && !cries)
		return 0;
	int r = meet_faults(card);
	int64_t now = card_now_ns();
	uint64_t position = position_now(card, now);
	if (!r && overtaken(card, position))
		r = fall_over(card, now);
	uint64_t avail = io->buffer_size + shown(card, position) - io->appl_ptr;
	if (r)
		*ret_revents = POLLOUT | POLLERR;
	else if (io->state == SND_PCM_STATE_DRAINING
			 ? avail >= io->buffer_size
			 : avail >= atomic_load(&card->avail_min))
		*ret_revents = POLLOUT;
	else if (read(fds->fd, &expirations, sizeof expirations) < 0 &&
		 errno != EAGAIN) /* Else stale: the keeper arms it anew. */
		return -errno;
	return 0;
}

static int
card_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params)
{
	struct card *card = card_of(io);
	snd_pcm_uframes_t value = 0;

	snd_pcm_sw_params_get_avail_min(params, &value);
	atomic_store(&card->avail_min, value ? value : 1);
	snd_pcm_sw_params_get_stop_threshold(params, &value);
	atomic_store(&card->stop_threshold, value);
	return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
	.start = card_start,
	.stop = card_stop,
	.pointer = card_pointer,
	.transfer = card_transfer,
	.prepare = card_prepare,
	.hw_params = card_hw_params,
	.sw_params = card_sw_params,
	.poll_descriptors_count = card_poll_count,
	.poll_descriptors = card_poll_fds,
	.poll_revents = card_revents,
	.close = card_close,
};

static const snd_pcm_ioplug_callback_t callbacks_resume = {
	.start = card_start,
	.stop = card_stop,
	.pointer = card_pointer,
	.transfer = card_transfer,
	.prepare = card_prepare,
	.hw_params = card_hw_params,
	.sw_params = card_sw_params,
	.poll_descriptors_count = card_poll_count,
	.poll_descriptors = card_poll_fds,
	.poll_revents = card_revents,
	.close = card_close,
	.resume = card_resume,
};

const snd_pcm_ioplug_callback_t *
card_callbacks(const struct card *card)
{
	/* alsa-lib tells by the member whether a card can resume. */
	return card->params.resume ? &callbacks_resume : &callbacks;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card_keeper.c - the test card's own thread.
 *
 * It lives from hw_params to close or to the next hw_params, and each tick it
 *
 *	1. reads the faults, when inotify says that their file changed;
 *	2. takes the application's events in order: each end of a run says up to
 *	   which frame the run was heard;
 *	3. captures what has been heard since: from the shadow to the file;
 *	4. arms the timer that the application polls, for the moment at which
 *	   avail_min frames will be free.
 *
 * It ticks every tick_us while the card runs: the application can't wake it,
 * since that would be a system call. The shadow is two seconds longer than the
 * buffer, so that a late keeper loses nothing; if it is later than that, it
 * says "lost" in the log.
 *
 * Invariant: captured <= claim's position <= captured + shadow. */
#include "card.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_TICK_US = 2000, KEEPER_PRIORITY = 60, KEEPER_STACK = 256 * 1024 };

static void
event_put(struct card *card, const struct card_event *event)
{
	unsigned in =
		atomic_load_explicit(&card->events_in, memory_order_relaxed);
	unsigned out =
		atomic_load_explicit(&card->events_out, memory_order_acquire);

	if (in - out == CARD_EVENTS) {
		atomic_fetch_add(&card->events_lost, 1);
		return;
	}
	card->events[in % CARD_EVENTS] = *event;
	atomic_store_explicit(&card->events_in, in + 1, memory_order_release);
}

void
card_event(struct card *card, enum card_event_kind kind, int64_t time_ns,
	   uint64_t heard, int64_t value)
{
	event_put(card, &(struct card_event){.kind = kind,
					     .time_ns = time_ns,
					     .heard = heard,
					     .value = value});
}

void
card_event_start(struct card *card, int64_t time_ns)
{
	event_put(card, &(struct card_event){.kind = CARD_EVENT_START,
					     .epoch = card->run.epoch,
					     .time_ns = time_ns,
					     .heard = card->run.base,
					     .value = card->run.start_ns,
					     .start = card->run.start});
}

/* Frames that were heard: up to `heard`. Those that were never written are
 * silence. */
static void
capture(struct card *card, uint64_t heard)
{
	uint64_t at =
		atomic_load_explicit(&card->captured, memory_order_relaxed);
	uint64_t written =
		atomic_load_explicit(&card->written, memory_order_acquire);

	if (written > at + card->shadow_frames) {
		uint64_t lost = written - card->shadow_frames - at;
		card_log(card, card_now_ns(), "lost frames=%" PRIu64, lost);
		at += lost;
	}
	while (at < heard && at < written) {
		uint64_t slot = at % card->shadow_frames;
		uint64_t end = heard < written ? heard : written;
		uint64_t frames = card->shadow_frames - slot;
		if (frames > end - at)
			frames = end - at;
		card_files_hear(card, card->shadow + slot * card->frame_bytes,
				frames);
		at += frames;
	}
	if (at < heard) {
		card_files_silence(card, heard - at);
		at = heard;
	}
	atomic_store_explicit(&card->captured, at, memory_order_release);
}

static void
take_event(struct card *card, const struct card_event *event)
{
	switch (event->kind) {
	case CARD_EVENT_START:
		/* What was queued and dropped before is skipped, unheard. */
		if (event->start == 0)
			atomic_store_explicit(&card->captured, event->heard,
					      memory_order_release);
		card->view = (struct card_run){.active = true,
					       .epoch = event->epoch,
					       .base = event->heard,
					       .start = event->start,
					       .start_ns = event->value};
		break;
	case CARD_EVENT_DROP:
	case CARD_EVENT_DRAINED:
	case CARD_EVENT_XRUN:
	case CARD_EVENT_SUSPEND:
	case CARD_EVENT_GONE:
		if (card->view.active)
			capture(card, event->heard);
		card->view.active = false;
		break;
	default:
		break;
	}
	card_log_event(card, event);
}

static void
take_events(struct card *card)
{
	unsigned out =
		atomic_load_explicit(&card->events_out, memory_order_relaxed);

	while (out !=
	       atomic_load_explicit(&card->events_in, memory_order_acquire)) {
		take_event(card, &card->events[out % CARD_EVENTS]);
		atomic_store_explicit(&card->events_out, ++out,
				      memory_order_release);
	}
	unsigned lost = atomic_exchange(&card->events_lost, 0);
	if (lost)
		card_log(card, card_now_ns(), "lost events=%u", lost);
}

static void
follow_run(struct card *card)
{
	struct card_run *run = &card->view;

	if (!run->active)
		return;
	uint64_t position = card_run_position(card, run, card_now_ns());
	uint64_t end = card->io.appl_ptr;
	bool endless =
		atomic_load(&card->stop_threshold) > card->io.buffer_size;
	if (!endless && position > end)
		position = end;
	uint64_t heard = run->base + position;
	if (heard > atomic_load(&card->captured) &&
	    card_claim(card, run->epoch, heard))
		capture(card, heard);
}

/* When the application is to be woken; INT64_MAX: never, 0: now. */
static int64_t
wake_time(const struct card *card)
{
	uint64_t appl = card->io.appl_ptr;
	uint64_t full = card->io.buffer_size;
	uint64_t need = appl + atomic_load(&card->avail_min);

	if (atomic_load(&card->gone) || atomic_load(&card->suspended))
		return 0;
	if (atomic_load(&card->draining))
		need = appl + full;
	need = need > full ? need - full : 0;
	if (!card->view.active) {
		if (atomic_load(&card->prepared))
			return need ? INT64_MAX : 0;
		return 0;
	}
	if (card->params.batch) {
		uint64_t period = card->io.period_size;
		need = (need + period - 1) / period * period;
	}
	return card_run_time(card, &card->view, need);
}

static void
arm(struct card *card)
{
	int64_t at = wake_time(card);
	struct itimerspec timer = {.it_value = {.tv_sec = 0}};

	/* What is due is armed at each tick: the application may have read the
	 * timer since, having looked a moment before it was due. */
	if (at == card->armed_ns && at > card_now_ns())
		return;
	card->armed_ns = at;
	if (at != INT64_MAX) {
		timer.it_value.tv_sec = at / 1000000000;
		/* Never 0, which would disarm. */
		timer.it_value.tv_nsec = at ? at % 1000000000 : 1;
	}
	timerfd_settime(card->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* What the faults say now; `edges`: their file was just written. */
static void
follow_faults(struct card *card, bool edges)
{
	struct card_faults faults;
	int64_t now = card_now_ns();
	bool stands = false;

	card_faults_read(card->params.dir, &faults);
	stands = faults.gone || faults.stall || faults.suspend;
	if (stands)
		card_clock_freeze(&card->clock, now);
	if (faults.suspend && !atomic_exchange(&card->suspended, true))
		atomic_fetch_add(&card->suspends, 1);
	if (!faults.suspend)
		atomic_store(&card->suspended, false);
	if (faults.gone && !atomic_exchange(&card->gone, true)) {
		close(card->listen_fd);
		card->listen_fd = -1;
	}
	if (!stands && !atomic_load(&card->gone))
		card_clock_thaw(&card->clock, now);
	if (edges && faults.xrun)
		atomic_fetch_add(&card->xruns, 1);
	if (edges && faults.block_ms) {
		atomic_store(&card->block_ms, faults.block_ms);
		atomic_fetch_add(&card->blocks, 1);
	}
	/* Last: who waits for this may rely on all of the above. */
	if (edges)
		card_log(card, now, "fault%s%s%s%s%s%s",
			 faults.gone ? " gone" : "", faults.busy ? " busy" : "",
			 faults.stall ? " stall" : "",
			 faults.suspend ? " suspend" : "",
			 faults.xrun ? " xrun" : "",
			 faults.block_ms ? " block" : "");
}

static bool
faults_changed(struct card *card)
{
	char memory[2048]
		__attribute__((aligned(_Alignof(struct inotify_event))));
	bool changed = false;

	for (;;) {
		ssize_t n = read(card->notify_fd, memory, sizeof memory);
		if (n <= 0)
			return changed;
		for (char *at = memory; at < memory + n;) {
			const struct inotify_event *event = (void *)at;
			if ((event->mask & IN_Q_OVERFLOW) ||
			    (event->len && !strcmp(event->name, "fault")))
				changed = true;
			at += sizeof *event + event->len;
		}
	}
}

static void *
keep(void *argument)
{
	struct card *card = argument;
	struct pollfd fds[2] = {{.fd = card->wake_fd, .events = POLLIN},
				{.fd = card->notify_fd, .events = POLLIN}};
	bool stop = false;

	while (!stop) {
		stop = atomic_load_explicit(&card->stop, memory_order_acquire);
		if (fds[1].revents && faults_changed(card))
			follow_faults(card, true);
		take_events(card);
		follow_run(card);
		arm(card);
		unsigned us =
			card->view.active ? card->params.tick_us : IDLE_TICK_US;
		struct timespec tick = {.tv_sec = us / 1000000,
					.tv_nsec = us % 1000000 * 1000L};
		if (!stop)
			ppoll(fds, 2, &tick, NULL);
	}
	return NULL;
}

/* A keeper that runs late would make xruns of its own; with no right to
 * real-time priority it does its best. */
static int
create_keeper(struct card *card)
{
	struct sched_param priority = {.sched_priority = KEEPER_PRIORITY};
	pthread_attr_t attributes;
	sigset_t all, old;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, KEEPER_STACK);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &priority);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&card->keeper, &attributes, keep, card);
	if (r == EPERM) {
		pthread_attr_setinheritsched(&attributes,
					     PTHREAD_INHERIT_SCHED);
		r = pthread_create(&card->keeper, &attributes, keep, card);
	}
	/* So that what it costs is not taken for the player's. */
	if (r == 0)
		(void)pthread_setname_np(card->keeper, "test-card");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return -r;
}

int
card_keeper_start(struct card *card)
{
	atomic_store(&card->stop, false);
	card->armed_ns = -1;
	card->view = (struct card_run){.active = false};
	follow_faults(card, false);
	int r = create_keeper(card);
	card->keeping = r == 0;
	return r;
}

void
card_keeper_stop(struct card *card)
{
	uint64_t one = 1;

	if (!card->keeping)
		return;
	atomic_store_explicit(&card->stop, true, memory_order_release);
	if (write(card->wake_fd, &one, sizeof one) != sizeof one)
		fprintf(stderr, "rotarytest: cannot wake the keeper\n");
	pthread_join(card->keeper, NULL);
	if (read(card->wake_fd, &one, sizeof one) != sizeof one)
		fprintf(stderr, "rotarytest: the keeper was not woken\n");
	card->keeping = false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log_rt.c - the ring of events that real-time threads report.
 *
 * A bounded queue of cells, each with a sequence number, after Dmitry Vyukov's
 * MPMC queue, with one consumer. For the cell at index i of turn t (position
 * p = t * CELLS + i):
 *   sequence == p      free, for the producer that takes position p
 *   sequence == p + 1  filled, for the consumer
 *   sequence == p + CELLS after it was read: free for the next turn.
 * A producer takes a position by compare-exchange of head, writes the cell and
 * publishes it by a release store of sequence, which the consumer's acquire
 * load pairs with. The sequence numbers start at 0 and so are kept less the
 * cell's index, which makes the zeroed ring a valid empty one: no init.
 * A signal handler that interrupts a producer takes the next position; the
 * consumer stops at the unfinished cell and finds both at its next visit.
 * TRIES bounds a producer that always loses: it gives up and counts. */
#include "lib/base/clock.h"
#include "lib/base/log_line.h"
#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 256, TRIES = 64, MESSAGE_BYTES = 160 };

struct cell {
	ATOMIC(uint32_t) sequence; /* less the cell's index */
	uint32_t event;
	int64_t at_ns;
	int64_t first;
	int64_t second;
};

static struct {
	ALIGNED(64) ATOMIC(uint32_t) head;    /* any thread */
	ALIGNED(64) ATOMIC(uint32_t) dropped; /* any thread */
	ALIGNED(64) uint32_t tail;            /* control */
	ALIGNED(64) struct cell cells[CELLS];
} ring;

/* The cell of a position that was free, or NULL: full, or too much traffic. */
static RT_SAFE struct cell *
take_cell(uint32_t *ret_position)
{
	uint32_t position =
		atomic_load_explicit(&ring.head, memory_order_relaxed);
	int tries = 0;

	for (tries = 0; tries < TRIES; tries++) {
		struct cell *cell = &ring.cells[position % CELLS];
		const uint32_t sequence = atomic_load_explicit(
			&cell->sequence, memory_order_acquire);
		const int32_t ahead =
			(int32_t)(sequence + position % CELLS - position);

		if (ahead < 0)
			return NULL;
		if (ahead > 0) {
			position = atomic_load_explicit(&ring.head,
							memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(
				   &ring.head, &position, position + 1,
				   memory_order_relaxed,
				   memory_order_relaxed)) {
			*ret_position = position;
			return cell;
		}
	}
	return NULL;
}

RT_SAFE void
log_rt(enum log_rt_event event, int64_t first, int64_t second)
{
	uint32_t position = 0;
	struct cell *cell = take_cell(&position);

	if (cell == NULL) {
		atomic_fetch_add_explicit(&ring.dropped, 1,
					  memory_order_relaxed);
		return;
	}
	cell->event = event;
	cell->at_ns = clock_now_ns();
	cell->first = first;
	cell->second = second;
	atomic_store_explicit(&cell->sequence, position + 1 - position % CELLS,
			      memory_order_release);
}

static void PRINTF_LIKE(2, 3) say(char *message, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, MESSAGE_BYTES, format, arguments);
	va_end(arguments);
}

/* One case for each event of log.h, with its arguments as listed there. */
static enum log_level
word_event(char *message, const struct cell *cell)
{
	const long long first = cell->first, second = cell->second;

	switch (cell->event) {
	case LOG_RT_XRUN:
		if (first < 0)
			say(message, "output %lld: the card ran dry", second);
		else
			say(message,
			    "output %lld: the card ran dry, %lld frames late",
			    second, first);
		return LOG_LEVEL_WARNING;
	case LOG_RT_SUSPENDED:
		say(message, "output %lld: the card was suspended", second);
		return LOG_LEVEL_INFO;
	case LOG_RT_CARD_LOST:
		say(message, "output %lld: the card is gone: %s", second,
		    text_of_error((int)first));
		return LOG_LEVEL_ERROR;
	case LOG_RT_OVERRUN:
		say(message,
		    "stream %lld: a step of its decoder took %lld us and was "
		    "demoted",
		    second, first / NS_PER_US);
		return LOG_LEVEL_WARNING;
	case LOG_RT_FORBIDDEN:
		say(message, "thread %lld made the forbidden system call %lld",
		    second, first);
		return LOG_LEVEL_WARNING;
	case LOG_RT_DECODE_GAP:
		say(message,
		    "stream %lld: damaged, %lld frames of silence instead",
		    second, first);
		return LOG_LEVEL_WARNING;
	default:
		say(message, "event %u: %lld %lld", cell->event, first, second);
		return LOG_LEVEL_DEBUG;
	}
}

static void
write_event(const struct cell *cell)
{
	char message[MESSAGE_BYTES];
	const enum log_level level = word_event(message, cell);

	if (log_enabled(level))
		log_line(level, clock_now_ns() - cell->at_ns, "realtime",
			 message);
}

size_t
log_rt_drain(void)
{
	size_t count = 0;
	uint32_t dropped = 0;

	/* A ring's worth at most: a flood must not keep control here. */
	while (count < CELLS) {
		const uint32_t index = ring.tail % CELLS;
		struct cell *cell = &ring.cells[index];
		const uint32_t sequence = atomic_load_explicit(
			&cell->sequence, memory_order_acquire);

		if (sequence + index != ring.tail + 1)
			break;
		write_event(cell);
		atomic_store_explicit(&cell->sequence,
				      ring.tail + CELLS - index,
				      memory_order_release);
		ring.tail++;
		count++;
	}
	dropped = atomic_exchange_explicit(&ring.dropped, 0,
					   memory_order_relaxed);
	if (dropped > 0)
		log_warn("realtime", "%u events were dropped", dropped);
	return count;
}

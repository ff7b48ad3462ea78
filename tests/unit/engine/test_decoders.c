/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_decoders.c - the decoder threads with streams made by hand: they fill
 * rings, they stop at the end, each has its turn, and a decoder that runs away
 * is left to a thread of its own while a spare goes on with the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/decoders.h"
#include "daemon/engine/plan.h"
#include "daemon/engine/stream.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "lib/sync/queue.h"
#include "lib/sync/snapshot.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { FRAMES = 40000, STEP = 1000, STREAMS = 3, TURNS = 12 };

#define PATIENCE_NS (20 * NS_PER_S)

struct fake {
	struct decoder base;
	struct decoder_info info;
	uint64_t given;
	uint64_t total;
	/* It does not return before that one has given all. */
	const struct stream *waits_for;
	ATOMIC(uint32_t) inside;
	int64_t step_ns; /* CPU time, at least */
	struct steps *steps;
};

/* Who decoded, in order. */
struct steps {
	ATOMIC(uint32_t) count;
	const struct fake *fakes[TURNS];
};

struct stage {
	struct hazard_domain *hazards;
	struct rotary *set;
	struct wake *wake;
	struct decoders *decoders;
	struct snapshot *plans;
	struct queue *queue;
	struct bell bell;
	struct steps steps;
	struct stream *streams[STREAMS];
	struct fake fakes[STREAMS];
	uint32_t *buffers[STREAMS];
};

static const struct decoder_info *
fake_info(const struct decoder *decoder)
{
	return &((const struct fake *)(const void *)decoder)->info;
}

static void
take_note(struct fake *fake)
{
	const int64_t until_ns = clock_thread_cpu_ns() + fake->step_ns;
	const uint32_t count = atomic_load(&fake->steps->count);

	if (count < TURNS)
		fake->steps->fakes[count] = fake;
	atomic_store(&fake->steps->count, count + 1);
	while (clock_thread_cpu_ns() < until_ns)
		continue;
}

static enum decode_status
fake_decode(struct decoder *decoder, void *ret_samples, size_t capacity,
	    size_t *ret_frames)
{
	struct fake *fake = (struct fake *)(void *)decoder;
	const int64_t until_ns = clock_now_ns() + PATIENCE_NS;

	(void)ret_samples;
	if (fake->waits_for != NULL) {
		atomic_store(&fake->inside, 1);
		while (!pcm_ring_ended(&fake->waits_for->pcm))
			if (clock_now_ns() > until_ns)
				return DECODE_ERROR;
		fake->waits_for = NULL;
	}
	if (fake->steps != NULL)
		take_note(fake);
	if (fake->given == fake->total)
		return DECODE_END;
	*ret_frames = capacity < STEP ? capacity : STEP;
	if (*ret_frames > fake->total - fake->given)
		*ret_frames = (size_t)(fake->total - fake->given);
	fake->given += *ret_frames;
	return DECODE_OK;
}

static void
fake_destroy(struct decoder *decoder)
{
	(void)decoder;
}

static const struct decoder_ops fake_ops = {
	.name = "fake",
	.rt = true,
	.info = fake_info,
	.decode = fake_decode,
	.destroy = fake_destroy,
};

static void
make_stream(struct stage *stage, unsigned i, uint64_t total)
{
	const struct source_ref ref = {"none", 0};
	struct stream *stream = stream_create(i + 1, LANE_MUSIC, &ref);
	struct fake *fake = &stage->fakes[i];

	assert_non_null(stream);
	*fake = (struct fake){.base = {.ops = &fake_ops}, .total = total};
	fake->info.spec = (struct audio_spec){44100, 2, SAMPLE_S32, 16};
	stage->buffers[i] = calloc(FRAMES * 2, sizeof(uint32_t));
	assert_non_null(stage->buffers[i]);
	stream->decoder = &fake->base;
	stream->live_info = &fake->info;
	stream->spec = fake->info.spec;
	stream->rt = true;
	stream->bell = &stage->bell;
	stream->wake = stage->wake;
	byte_ring_init(&stream->bytes, stage->buffers[i], 64);
	byte_ring_end(&stream->bytes);
	pcm_ring_init(&stream->pcm, stage->buffers[i], FRAMES, 2, 0);
	stage->streams[i] = stream;
}

static void
insert(struct stage *stage, unsigned i)
{
	rotary_insert(stage->set, &stage->streams[i]->item.node);
	atomic_fetch_add(&stage->decoders->items, 1);
	wake_post(stage->wake);
}

static int
set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	if (stage == NULL)
		return -1;
	stage->hazards =
		allocator_new_aligned(NULL, sizeof(*stage->hazards), 128);
	stage->set = allocator_new_aligned(NULL, sizeof(*stage->set), 128);
	stage->wake = allocator_new_aligned(NULL, sizeof(*stage->wake), 128);
	stage->decoders =
		allocator_new_aligned(NULL, sizeof(*stage->decoders), 128);
	stage->plans = snapshot_create(NULL, plan_release, NULL);
	stage->queue = queue_create(NULL, 256, sizeof(struct rt_event));
	stage->bell.queue = stage->queue;
	stage->bell.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	stage->bell.deck_fd = -1;
	hazard_domain_init(stage->hazards);
	rotary_init(stage->set, stage->hazards);
	wake_init(stage->wake);
	*state = stage;
	return 0;
}

static void
start(struct stage *stage, int wanted)
{
	const struct decoders_config config = {
		.set = stage->set,
		.hazards = stage->hazards,
		.plans = stage->plans,
		.first_reader = 1,
		.wake = stage->wake,
		.bell = &stage->bell,
		.wanted = wanted,
	};

	assert_int_equal(decoders_start(stage->decoders, &config), 0);
}

static int
tear_down(void **state)
{
	struct stage *stage = *state;
	unsigned i;

	if (!decoders_stop(stage->decoders, clock_now_ns() + PATIENCE_NS))
		return -1;
	for (i = 0; i < STREAMS; i++) {
		stream_destroy(stage->streams[i]);
		free(stage->buffers[i]);
	}
	snapshot_destroy(stage->plans);
	queue_destroy(stage->queue);
	close(stage->bell.event_fd);
	allocator_delete(NULL, stage->decoders);
	allocator_delete(NULL, stage->wake);
	allocator_delete(NULL, stage->set);
	allocator_delete(NULL, stage->hazards);
	free(stage);
	return 0;
}

/* The next event of this kind; others are passed over. */
static struct rt_event
wait_for(struct stage *stage, uint32_t kind)
{
	const int64_t until_ns = clock_now_ns() + PATIENCE_NS;
	struct pollfd fd = {.fd = stage->bell.event_fd, .events = POLLIN};
	struct rt_event event = {0};
	uint64_t count;

	while (clock_now_ns() < until_ns) {
		while (queue_pop(stage->queue, &event))
			if (event.kind == kind)
				return event;
		(void)poll(&fd, 1, 100);
		if (read(stage->bell.event_fd, &count, sizeof(count)) < 0)
			continue;
	}
	fail_msg("no event of kind %u", kind);
	return event;
}

static void
wait_for_end(const struct stream *stream)
{
	const int64_t until_ns = clock_now_ns() + PATIENCE_NS;

	while (stream_get_end(stream) == STREAM_GOES_ON) {
		assert_true(clock_now_ns() < until_ns);
		sched_yield();
	}
}

/* The only active thread has found nothing more to do. */
static void
wait_for_sleep(const struct stage *stage)
{
	const int64_t until_ns = clock_now_ns() + PATIENCE_NS;

	while (atomic_load(&stage->wake->sleepers) == 0) {
		assert_true(clock_now_ns() < until_ns);
		sched_yield();
	}
}

static unsigned
count_threads(const struct stage *stage, enum decoder_state state)
{
	unsigned i, count = 0;

	for (i = 0; i < stage->decoders->count; i++)
		count += atomic_load(&stage->decoders->threads[i].state) ==
			 (uint32_t)state;
	return count;
}

static void
streams_are_decoded_to_their_end(void **state)
{
	struct stage *stage = *state;

	make_stream(stage, 0, FRAMES / 4);
	make_stream(stage, 1, FRAMES / 3);
	start(stage, 2);
	insert(stage, 0);
	insert(stage, 1);
	(void)wait_for(stage, RT_EVENT_STREAM_END);
	(void)wait_for(stage, RT_EVENT_STREAM_END);
	assert_int_equal(pcm_ring_written(&stage->streams[0]->pcm), FRAMES / 4);
	assert_int_equal(pcm_ring_written(&stage->streams[1]->pcm), FRAMES / 3);
	assert_int_equal(stream_get_end(stage->streams[0]), STREAM_ENDED);
	/* Two at work and one in reserve. */
	assert_int_equal(stage->decoders->count, 3);
}

/* A full ring is left alone until half of it was taken. */
static void
a_ring_is_filled_in_bursts(void **state)
{
	struct stage *stage = *state;
	struct pcm_ring *ring;

	make_stream(stage, 0, UINT64_MAX);
	make_stream(stage, 1, 10);
	ring = &stage->streams[0]->pcm;
	start(stage, 1);
	insert(stage, 0);
	while (pcm_ring_written(ring) < FRAMES)
		sched_yield();
	wait_for_sleep(stage);
	pcm_ring_consume(ring, FRAMES / 2);
	/* Awake for the second, the thread looks at the first again. */
	insert(stage, 1);
	(void)wait_for(stage, RT_EVENT_STREAM_END);
	wait_for_sleep(stage);
	assert_int_equal(pcm_ring_written(ring), FRAMES);
	pcm_ring_consume(ring, 1);
	wake_post(stage->wake);
	while (pcm_ring_written(ring) < FRAMES + FRAMES / 2 + 1)
		sched_yield();
}

static void
a_spare_takes_over_from_a_runaway(void **state)
{
	struct stage *stage = *state;
	struct decoders *decoders = stage->decoders;
	struct rt_event event;

	make_stream(stage, 0, FRAMES / 2);
	make_stream(stage, 1, FRAMES / 2);
	stage->fakes[0].waits_for = stage->streams[1];
	start(stage, 1);
	insert(stage, 0);
	while (atomic_load(&stage->fakes[0].inside) == 0)
		sched_yield();
	/* The only active thread is inside the first and stays there. */
	insert(stage, 1);
	event = wait_for(stage, RT_EVENT_OVERRUN);
	assert_int_equal(event.id, 1);
	/* Then the first could go on, and its thread is the spare now. */
	wait_for_end(stage->streams[0]);
	assert_int_equal(stream_get_end(stage->streams[0]), STREAM_ENDED);
	assert_int_equal(stream_get_end(stage->streams[1]), STREAM_ENDED);
	assert_int_equal(pcm_ring_written(&stage->streams[0]->pcm), FRAMES / 2);
	assert_int_equal(atomic_load(&stage->streams[0]->overruns), 1);
	while (count_threads(stage, DECODER_PARKED) != 1)
		sched_yield();
	assert_int_equal(count_threads(stage, DECODER_ACTIVE), 1);
	(void)decoders_look_after(decoders, clock_now_ns());
	assert_int_equal(atomic_load(&decoders->turns), 0);
}

/* Its spare has taken over: another one is started at once. */
static void
a_lost_thread_is_replaced(void **state)
{
	struct stage *stage = *state;
	struct decoders *decoders = stage->decoders;
	int64_t due_ns;

	make_stream(stage, 0, FRAMES / 2);
	make_stream(stage, 1, FRAMES / 2);
	stage->fakes[0].waits_for = stage->streams[1];
	start(stage, 1);
	insert(stage, 0);
	(void)wait_for(stage, RT_EVENT_OVERRUN);
	due_ns = decoders_look_after(decoders, clock_now_ns());
	assert_true(due_ns < INT64_MAX);
	assert_int_equal(decoders->count, 3);
	assert_int_equal(decoders_look_after(decoders, due_ns), INT64_MAX);
	assert_int_equal(decoders->count, 3);
	insert(stage, 1);
	wait_for_end(stage->streams[0]);
	assert_int_equal(stream_get_end(stage->streams[0]), STREAM_ENDED);
}

/* While a stream is being opened only what has too little goes on. */
static void
a_ring_with_enough_waits_for_an_opening(void **state)
{
	struct stage *stage = *state;
	struct pcm_ring *ring;

	make_stream(stage, 0, UINT64_MAX);
	make_stream(stage, 1, 10);
	ring = &stage->streams[0]->pcm;
	start(stage, 1);
	insert(stage, 0);
	while (pcm_ring_written(ring) < FRAMES)
		sched_yield();
	wait_for_sleep(stage);
	atomic_store(&stage->decoders->calm_until_ns, INT64_MAX);
	pcm_ring_consume(ring, FRAMES / 2 + FRAMES / 8);
	/* Awake for the second, the thread looks at the first again. */
	insert(stage, 1);
	(void)wait_for(stage, RT_EVENT_STREAM_END);
	wait_for_sleep(stage);
	assert_int_equal(pcm_ring_written(ring), FRAMES);
	pcm_ring_consume(ring, FRAMES / 4);
	wake_post(stage->wake);
	while (pcm_ring_readable(ring) < FRAMES / 4)
		sched_yield();
	atomic_store(&stage->decoders->calm_until_ns, 0);
	wake_post(stage->wake);
	while (pcm_ring_writable(ring) > 0)
		sched_yield();
}

/* A revolution, as the set has it. */
static void
revolve(struct stage *stage, const struct fake *ret_order[STREAMS])
{
	struct hazard_reader *reader = &stage->hazards->readers[0];
	unsigned i, at;

	for (at = 0; at < STREAMS; at++) {
		const struct rotary_node *node =
			rotary_pull(stage->set, reader);

		for (i = 0; i < STREAMS; i++)
			if (node == &stage->streams[i]->item.node)
				ret_order[at] = &stage->fakes[i];
		rotary_release(reader);
	}
}

/* Streams that each want all they can get, and one thread. */
static void
take_turns(struct stage *stage, int64_t step_ns)
{
	const int64_t until_ns = clock_now_ns() + PATIENCE_NS;
	const struct fake *order[STREAMS] = {0};
	unsigned i;

	for (i = 0; i < STREAMS; i++) {
		make_stream(stage, i, UINT64_MAX);
		stage->fakes[i].steps = &stage->steps;
		stage->fakes[i].step_ns = step_ns;
		insert(stage, i);
	}
	revolve(stage, order);
	start(stage, 1);
	while (atomic_load(&stage->steps.count) < TURNS) {
		assert_true(clock_now_ns() < until_ns);
		sched_yield();
	}
	for (i = 0; i < TURNS; i++)
		assert_ptr_equal(stage->steps.fakes[i], order[i % STREAMS]);
}

/* Each step is a burst, and ends in a sleep. */
static void
a_rest_costs_nobody_its_turn(void **state)
{
	take_turns(*state, DECODER_BURST_NS);
}

/* Others, of which there are so many, must wait for no more than a step. */
static void
turns_are_short_where_many_wait(void **state)
{
	struct stage *stage = *state;

	_Static_assert(TURNS / STREAMS < FRAMES / STEP / 4, "all are urgent");
	atomic_store(&stage->decoders->items, 1000 * 1000 * 1000);
	take_turns(stage, 0);
	/* It looks at so many before it sleeps. */
	atomic_store(&stage->decoders->items, STREAMS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			streams_are_decoded_to_their_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_is_filled_in_bursts,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_ring_with_enough_waits_for_an_opening, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_spare_takes_over_from_a_runaway, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_lost_thread_is_replaced,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_rest_costs_nobody_its_turn,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(turns_are_short_where_many_wait,
						set_up, tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

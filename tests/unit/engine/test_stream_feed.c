/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_stream_feed.c - bytes from a worker to a decoder: only one that starved
 * is woken by them, once, and none that came in the meantime is slept over. And
 * memory for what it decodes. */
#include "daemon/engine/stream.h"

#include "lib/base/alloc.h"
#include "lib/sync/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	FRAMES = 8192,
	BYTES = 64 << 10,
	STEP_BYTES = 1000,
	FILE_BYTES = 1 << 20
};

struct stage {
	struct decoder decoder;
	struct decoder_info info;
	struct stream *stream;
	struct wake *wake;
	struct bell bell;
	uint32_t *frames;
	uint8_t *bytes;
	bool comes_late; /* bytes do, while a step looks for them */
};

/* Takes its bytes, or starves. */
static enum decode_status
fake_decode(struct decoder *decoder, void *ret_samples, size_t capacity,
	    size_t *ret_frames)
{
	struct stage *stage = (struct stage *)(void *)decoder;
	struct byte_ring *ring = &stage->stream->bytes;
	const bool starves = byte_ring_readable(ring) < STEP_BYTES;

	(void)ret_samples;
	(void)capacity;
	if (starves && stage->comes_late) {
		stage->comes_late = false;
		byte_ring_commit(ring, STEP_BYTES);
	}
	if (starves)
		return DECODE_STARVED;
	byte_ring_skip(ring, STEP_BYTES);
	byte_ring_mark(ring);
	*ret_frames = 1;
	return DECODE_OK;
}

static const struct decoder_info *
fake_info(const struct decoder *decoder)
{
	return &((const struct stage *)(const void *)decoder)->info;
}

static const struct decoder_ops fake_ops = {
	.name = "fake",
	.rt = true,
	.info = fake_info,
	.decode = fake_decode,
};

static int
set_up(void **state)
{
	static const struct source_ref ref = {"none", 0};
	struct stage *stage = calloc(1, sizeof(*stage));
	const int fd = memfd_create("song", MFD_CLOEXEC);
	struct stream *stream = stream_create(1, LANE_MUSIC, &ref);

	assert_true(stage != NULL && stream != NULL && fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
	assert_int_equal(source_open_fd(fd, &stream->source), 0);
	stage->decoder.ops = &fake_ops;
	stage->wake = allocator_new_aligned(NULL, sizeof(*stage->wake), 128);
	wake_init(stage->wake);
	stage->bell.queue = queue_create(NULL, 16, sizeof(struct rt_event));
	stage->bell.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	stage->bell.deck_fd = -1;
	stage->frames = calloc(FRAMES, sizeof(*stage->frames));
	stage->bytes = calloc(1, BYTES);
	stage->info.spec = (struct audio_spec){44100, 1, SAMPLE_S32, 16};
	stage->stream = stream;
	stream->decoder = &stage->decoder;
	stream->live_info = &stage->info;
	stream->spec = stage->info.spec;
	stream->rt = true;
	stream->phase = STREAM_PHASE_FILL;
	stream->bell = &stage->bell;
	stream->wake = stage->wake;
	byte_ring_init(&stream->bytes, stage->bytes, BYTES);
	pcm_ring_init(&stream->pcm, stage->frames, FRAMES, 1, 0);
	*state = stage;
	return 0;
}

static int
tear_down(void **state)
{
	struct stage *stage = *state;

	source_close(stage->stream->source);
	stage->stream->source = NULL;
	stage->stream->decoder = NULL;
	stream_destroy(stage->stream);
	queue_destroy(stage->bell.queue);
	close(stage->bell.event_fd);
	allocator_delete(NULL, stage->wake);
	free(stage->frames);
	free(stage->bytes);
	free(stage);
	return 0;
}

static uint32_t
posts(const struct stage *stage)
{
	return wake_prepare(stage->wake);
}

static void
fill(struct stage *stage)
{
	assert_int_equal(stream_run_phase(stage->stream), 0);
	assert_int_equal(byte_ring_writable(&stage->stream->bytes), 0);
}

static void
starve(struct stage *stage)
{
	while (stream_quantum(stage->stream, STREAM_QUANTUM_NS) != ITEM_IDLE)
		continue;
	assert_false(stream_wants_quantum(stage->stream));
}

static void
who_has_enough_sleeps_on(void **state)
{
	struct stage *stage = *state;

	fill(stage);
	assert_int_equal(posts(stage), 0);
}

static void
who_starved_is_woken_once(void **state)
{
	struct stage *stage = *state;

	starve(stage);
	fill(stage);
	assert_int_equal(posts(stage), 1);
	assert_true(stream_wants_quantum(stage->stream));
	starve(stage);
	assert_int_equal(pcm_ring_written(&stage->stream->pcm),
			 BYTES / STEP_BYTES);
	fill(stage);
	assert_int_equal(posts(stage), 2);
}

static void
what_came_while_it_starved_is_seen(void **state)
{
	struct stage *stage = *state;

	stage->comes_late = true;
	assert_int_not_equal(stream_quantum(stage->stream, STREAM_QUANTUM_NS),
			     ITEM_IDLE);
	assert_false(stage->comes_late);
	assert_int_equal(pcm_ring_written(&stage->stream->pcm), 1);
}

/* Room for one step, and the rest with the next job: asked for, and told. */
static void
who_lacks_memory_asks_for_it(void **state)
{
	struct stage *stage = *state;
	struct stream *stream = stage->stream;

	fill(stage);
	pcm_ring_provide(&stream->pcm, 1);
	starve(stage);
	assert_int_equal(pcm_ring_written(&stream->pcm), 1);
	assert_int_equal(atomic_load(&stream->refill), 1);
	fill(stage);
	assert_int_equal(posts(stage), 1);
	assert_int_equal(pcm_ring_provided(&stream->pcm), SIZE_MAX);
	assert_true(stream_wants_quantum(stream));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_has_enough_sleeps_on,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_starved_is_woken_once,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_came_while_it_starved_is_seen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_lacks_memory_asks_for_it,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From decks into a FIFO: with a reader that reads at once, slowly, not any
 * more, or not at all. What it read is compared sample by sample. */
#include "tests/unit/output/box.h"

#include <errno.h>
#include <fcntl.h>

enum { SONG = 30000, FRAME_BYTES = 4 };

/* Somebody at the other end. */
struct reader {
	const char *path;
	struct thread thread;
	int64_t pause_ns;   /* after each read of a few frames; 0: none */
	uint64_t most;      /* frames to read, then it leaves */
	bool stuck;         /* reads nothing until told to */
	ATOMIC(bool) go_on; /* then it reads all */
	ATOMIC(bool) is_there;
	ATOMIC(bool) finish; /* when nothing is left */
	ATOMIC(uint64_t) frames;
	int16_t *samples;
};

static void
rest(int64_t ns)
{
	const struct timespec pause = {ns / NS_PER_S, ns % NS_PER_S};

	nanosleep(&pause, NULL);
}

static void *
reader_main(void *argument)
{
	struct reader *reader = argument;
	const size_t most = (size_t)reader->most * FRAME_BYTES;
	const size_t piece = reader->pause_ns > 0 ? 256 * FRAME_BYTES : most;
	const int fd = open(reader->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	size_t bytes = 0;

	assert_true(fd >= 0);
	atomic_store(&reader->is_there, true);
	/* An end that nobody has written to yet reads as one that was left. */
	assert_int_equal(poll(&poll_fd, 1, STAGE_DEADLINE_S * 1000), 1);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	while (reader->stuck && !atomic_load(&reader->go_on))
		rest(5 * NS_PER_MS);
	while (bytes < most) {
		const size_t left = most - bytes;
		const bool last = atomic_load(&reader->finish);
		ssize_t got = 0;

		if (poll(&poll_fd, 1, 20) == 0 && last)
			break;
		if (poll_fd.revents == 0)
			continue;
		got = read(fd, (uint8_t *)reader->samples + bytes,
			   left < piece ? left : piece);
		if (got <= 0)
			break;
		bytes += (size_t)got;
		atomic_store(&reader->frames, bytes / FRAME_BYTES);
		if (reader->pause_ns > 0)
			rest(reader->pause_ns);
	}
	close(fd);
	return NULL;
}

static void
reader_start(struct reader *reader, const struct box *box)
{
	const struct thread_spec spec = {.role = THREAD_ROLE_WORKER,
					 .name = "reader",
					 .stack_bytes = THREAD_STACK_WORKER,
					 .main = reader_main,
					 .argument = reader};

	reader->path = box->path;
	if (reader->most == 0)
		reader->most = SONG * 2;
	reader->samples = calloc(reader->most, FRAME_BYTES);
	assert_non_null(reader->samples);
	assert_int_equal(thread_start(&reader->thread, &spec), 0);
	while (!atomic_load(&reader->is_there))
		rest(NS_PER_MS);
}

static uint64_t
reader_join(struct reader *reader)
{
	atomic_store(&reader->finish, true);
	thread_join(&reader->thread);
	return atomic_load(&reader->frames);
}

static void
reader_await(struct reader *reader, uint64_t frames)
{
	const int64_t end_ns = clock_now_ns() + STAGE_DEADLINE_S * NS_PER_S;

	while (atomic_load(&reader->frames) < frames) {
		assert_true(clock_now_ns() < end_ns);
		rest(2 * NS_PER_MS);
	}
}

/* Frames from..end of the reader's are a run of the song's; which is the first
 * of them. */
static uint64_t
run_of_song(const struct reader *reader, uint64_t from, uint64_t end)
{
	uint64_t at = 0, i = 0;
	uint32_t c = 0;

	assert_true(from < end);
	while (at < SONG &&
	       (reader->samples[from * 2] != tape_s32(1, at, 0, 16) >> 16 ||
		reader->samples[from * 2 + 1] != tape_s32(1, at, 1, 16) >> 16))
		at++;
	for (i = from; i < end; i++)
		for (c = 0; c < 2; c++)
			if (reader->samples[i * 2 + c] !=
			    tape_s32(1, at + i - from, c, 16) >> 16)
				fail_msg("frame %llu is not frame %llu",
					 (unsigned long long)i,
					 (unsigned long long)(at + i - from));
	return at;
}

static struct box *
pipe_box(void)
{
	struct box *box = box_with((struct output_config){
		.driver = &card_pipe,
		.buffer_ms = 200,
		.period_ms = 20,
		.rewind = -1,
		.format = CARD_S16,
		.priority = 45,
		.fence = RT_FENCE_COUNT,
	});

	assert_int_equal(mkfifo(box->path, 0600), 0);
	return box;
}

static void
begin_song(struct box *box)
{
	struct stage *stage = &box->stage;

	assert_true(stage_play(stage, &stereo16));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = SONG,
						    .bits = 16,
						    .last = true});
}

static void
end_song(struct box *box)
{
	assert_non_null(stage_await(&box->stage, RT_EVENT_LANE_DRAINED, 1));
	assert_true(stage_close(&box->stage, true));
}

static void
test_a_reader_gets_every_sample(void **state)
{
	struct box *box = pipe_box();
	struct reader reader = {0};

	(void)state;
	reader_start(&reader, box);
	begin_song(box);
	end_song(box);
	assert_int_equal(reader_join(&reader), SONG);
	assert_int_equal(run_of_song(&reader, 0, SONG), 0);
	free(reader.samples);
	box_free(box);
}

/* It takes the song at half the pace, and the song takes that long. */
static void
test_a_slow_reader_gets_every_sample(void **state)
{
	struct box *box = pipe_box();
	struct reader reader = {.pause_ns = 256 * NS_PER_S / (RATE / 2)};
	const int64_t began_ns = clock_now_ns();
	uint64_t heard_late = 0;

	(void)state;
	reader_start(&reader, box);
	begin_song(box);
	end_song(box);
	heard_late = clock_ns_to_frames(clock_now_ns() - began_ns, RATE);
	assert_true(heard_late > SONG + SONG / 2);
	assert_int_equal(reader_join(&reader), SONG);
	assert_int_equal(run_of_song(&reader, 0, SONG), 0);
	assert_int_equal(xruns(&box->stage), 0);
	free(reader.samples);
	box_free(box);
}

static void
test_nobody_reads_and_then_somebody_does(void **state)
{
	struct box *box = pipe_box();
	struct reader reader = {0};
	uint64_t frames = 0, first = 0;

	(void)state;
	begin_song(box);
	stage_await_heard(&box->stage, 5000);
	reader_start(&reader, box);
	end_song(box);
	frames = reader_join(&reader);
	first = run_of_song(&reader, 0, frames);

	assert_true(first > 0);
	assert_int_equal(first + frames, SONG);
	free(reader.samples);
	box_free(box);
}

/* What it left in the pipe is gone; the next reader hears what is due. */
static void
test_a_reader_leaves_and_another_comes(void **state)
{
	struct box *box = pipe_box();
	struct reader first = {.most = 4000}, second = {0};
	uint64_t frames = 0, at = 0;

	(void)state;
	reader_start(&first, box);
	begin_song(box);
	reader_await(&first, 4000);
	assert_int_equal(reader_join(&first), 4000);
	assert_int_equal(run_of_song(&first, 0, 4000), 0);
	stage_await_heard(&box->stage, 8000);
	reader_start(&second, box);
	end_song(box);
	frames = reader_join(&second);
	at = run_of_song(&second, 0, frames);
	assert_true(at >= 4000);
	assert_int_equal(at + frames, SONG);
	free(first.samples);
	free(second.samples);
	box_free(box);
}

/* It holds the pipe and reads nothing: the song is over in its time. Going on,
 * it finds what the pipe had taken, and what was due after it. */
static void
test_a_reader_that_is_stuck(void **state)
{
	struct box *box = pipe_box();
	struct reader reader = {.stuck = true};
	uint64_t frames = 0, joint = 1, last = 0;

	(void)state;
	reader_start(&reader, box);
	begin_song(box);
	stage_await_heard(&box->stage, SONG / 2);
	atomic_store(&reader.go_on, true);
	end_song(box);
	frames = reader_join(&reader);
	while (joint < frames &&
	       reader.samples[joint * 2] == tape_s32(1, joint, 0, 16) >> 16)
		joint++;
	assert_true(joint < frames);
	last = run_of_song(&reader, joint, frames);
	assert_true(last > joint);
	assert_int_equal(last + frames - joint, SONG);
	free(reader.samples);
	box_free(box);
}

static void
test_pause_is_heard_and_goes_on(void **state)
{
	struct box *box = pipe_box();
	struct stage *stage = &box->stage;
	struct reader reader = {0};
	uint64_t at = 0, frames = 0;

	(void)state;
	reader_start(&reader, box);
	begin_song(box);
	stage_await_heard(stage, 4000);
	stage->plan.lanes[LANE_MUSIC].paused = 1;
	stage_publish(stage);
	at = stage_await(stage, RT_EVENT_LANE_PAUSED, 1)->value;
	assert_true(at < 4000 + RATE / 5);
	reader_await(&reader, at + FADE);
	stage->plan.lanes[LANE_MUSIC].paused = 0;
	stage_publish(stage);
	end_song(box);
	frames = reader_join(&reader);
	assert_int_equal(frames, SONG + FADE);
	assert_int_equal(run_of_song(&reader, 0, at), 0);
	assert_int_equal(run_of_song(&reader, at + 2 * FADE, frames),
			 at + FADE);
	free(reader.samples);
	box_free(box);
}

static void
test_what_is_no_fifo_is_refused(void **state)
{
	struct box *box = pipe_box();
	struct stage *stage = &box->stage;
	FILE *file = NULL;

	(void)state;
	assert_int_equal(unlink(box->path), 0);
	file = fopen(box->path, "w");
	assert_non_null(file);
	fputs("dear to somebody", file);
	fclose(file);
	output_open(stage->output, &stereo16);
	assert_true(stage_await_state(stage, OUTPUT_RETRY));
	assert_non_null(strstr(stage->reason, "no FIFO"));
	box_free(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reader_gets_every_sample),
		cmocka_unit_test(test_a_slow_reader_gets_every_sample),
		cmocka_unit_test(test_nobody_reads_and_then_somebody_does),
		cmocka_unit_test(test_a_reader_leaves_and_another_comes),
		cmocka_unit_test(test_a_reader_that_is_stuck),
		cmocka_unit_test(test_pause_is_heard_and_goes_on),
		cmocka_unit_test(test_what_is_no_fifo_is_refused),
	};

	log_init(LOG_LEVEL_ERROR);
	if (rt_fence_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole output, from plans and decks to the null card and to files, with
 * its real thread and a real worker pool. What a file holds is compared sample
 * by sample; what is timed is waited for, never asserted. */
#include "tests/unit/output/stage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { RATE = TAPE_RATE_HZ, FADE = RATE * MIX_FADE_US / 1000000 };

static const struct audio_spec stereo16 = {RATE, 2, SAMPLE_S32, 16};

struct box {
	struct stage stage;
	char dir[64];
	char path[128];
};

static struct box *
box_with(struct output_config config)
{
	struct box *box =
		aligned_alloc(CACHE_LINE, (sizeof(*box) + CACHE_LINE - 1) /
						  CACHE_LINE * CACHE_LINE);

	assert_non_null(box);
	memset((void *)box, 0, sizeof(*box));
	strcpy(box->dir, "/tmp/rotary-output-XXXXXX");
	assert_non_null(mkdtemp(box->dir));
	snprintf(box->path, sizeof(box->path), "%s/out.wav", box->dir);
	config.device = box->path;
	stage_init(&box->stage, &config);
	return box;
}

static struct box *
box_new(const struct card_ops *driver, uint32_t buffer_ms)
{
	return box_with((struct output_config){
		.driver = driver,
		.buffer_ms = buffer_ms,
		.period_ms = 20,
		.rewind = -1,
		.priority = 45,
		.fence = RT_FENCE_COUNT,
	});
}

static void
box_free(struct box *box)
{
	char command[128];

	stage_finish(&box->stage);
	snprintf(command, sizeof(command), "rm -rf %s", box->dir);
	assert_int_equal(system(command), 0);
	free(box);
}

static uint8_t *
read_file(const struct box *box, const char *name, size_t *ret_bytes)
{
	char path[128];
	struct stat stat_buffer;
	uint8_t *bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", box->dir, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &stat_buffer), 0);
	*ret_bytes = (size_t)stat_buffer.st_size;
	bytes = malloc(*ret_bytes + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *ret_bytes, file), *ret_bytes);
	fclose(file);
	return bytes;
}

static uint32_t
get_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* The sound of a WAV file as S32; its header must fit its length. */
static int32_t *
read_wav(const struct box *box, const char *name, enum card_format format,
	 uint64_t *ret_frames)
{
	size_t length, at = 12;
	uint8_t *bytes = read_file(box, name, &length);
	const size_t frame_bytes = card_format_bytes(format) * 2;
	int32_t *samples;
	uint32_t data;

	assert_memory_equal(bytes, "RIFF", 4);
	assert_int_equal(get_u32(bytes + 4) + 8, length);
	while (memcmp(bytes + at, "data", 4) != 0)
		at += 8 + get_u32(bytes + at + 4);
	data = get_u32(bytes + at + 4);
	assert_int_equal(at + 8 + data, length);
	*ret_frames = data / frame_bytes;
	samples = calloc(*ret_frames + 1, 2 * sizeof(int32_t));
	assert_non_null(samples);
	for (size_t i = 0; i < *ret_frames * 2; i++) {
		uint32_t value = 0;
		const size_t sample = card_format_bytes(format);

		memcpy(&value, bytes + at + 8 + i * sample, sample);
		samples[i] = (int32_t)(value << (32 - 8 * sample));
	}
	free(bytes);
	return samples;
}

static void
expect(const int32_t *samples, uint64_t first, uint64_t end, uint64_t stream,
       uint64_t stream_frame)
{
	for (uint64_t i = first; i < end; i++) {
		for (uint32_t c = 0; c < 2; c++) {
			if (samples[i * 2 + c] ==
			    tape_s32(stream, stream_frame + i - first, c, 16))
				continue;
			fail_msg("frame %llu is not frame %llu of %llu",
				 (unsigned long long)i,
				 (unsigned long long)(stream_frame + i - first),
				 (unsigned long long)stream);
		}
	}
}

static void
test_null_plays_to_the_end(void **state)
{
	struct box *box = box_new(&card_null, 100);
	struct stage *stage = &box->stage;
	const struct rt_event *first, *second, *drained;
	struct timeline_view view;
	struct timeline_point point;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	assert_int_equal(stage->info.spec.rate_hz, RATE);
	stage_add(stage,
		  &(struct stage_song){
			  .cut = 1, .stream = 7, .frames = 9000, .bits = 16});
	stage_add(stage, &(struct stage_song){.cut = 1,
					      .stream = 8,
					      .frames = 5000,
					      .bits = 16,
					      .last = true});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_CUT, 1));
	stage_await_heard(stage, 100);
	timeline_read(&stage->timeline, &view);
	assert_true(timeline_heard(&view, LANE_MUSIC, clock_now_ns(), &point));
	assert_int_equal(point.stream_id, 7);
	drained = stage_await(stage, RT_EVENT_LANE_DRAINED, 1);
	first = stage_find(stage, RT_EVENT_STRETCH, 7);
	second = stage_find(stage, RT_EVENT_STRETCH, 8);
	assert_non_null(first);
	assert_non_null(second);
	assert_non_null(drained);
	assert_true(first->time_ns < second->time_ns);
	assert_true(second->time_ns < drained->time_ns);
	assert_true(stage_close(stage, true));
	/* Not before the last frame was heard. */
	assert_true(clock_now_ns() >= drained->time_ns - NS_PER_MS);
	assert_int_equal(stage->closed, 1);
	box_free(box);
}

static void
test_wav_is_bit_perfect(void **state)
{
	static const struct {
		uint32_t bits;
		enum card_format format;
	} cases[] = {{16, CARD_S16}, {24, CARD_S24_3}, {32, CARD_S32}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct box *box = box_new(&card_wav, 60);
		struct stage *stage = &box->stage;
		struct audio_spec spec = stereo16;
		uint64_t frames;
		int32_t *samples;

		spec.bits = cases[i].bits;
		assert_true(stage_play(stage, &spec));
		for (uint64_t song = 0; song < 2; song++)
			stage_add(stage,
				  &(struct stage_song){.cut = 1,
						       .stream = 1 + song,
						       .frames = 4001,
						       .bits = cases[i].bits,
						       .last = song == 1});
		stage->plan.lanes[LANE_MUSIC].cut = 1;
		stage_publish(stage);
		assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 1));
		assert_true(stage_close(stage, true));
		samples = read_wav(box, "out.wav", cases[i].format, &frames);
		assert_int_equal(frames, 8002);
		for (uint64_t f = 0; f < frames; f++)
			assert_int_equal(samples[f * 2 + 1],
					 tape_s32(1 + f / 4001, f % 4001, 1,
						  cases[i].bits));
		free(samples);
		box_free(box);
	}
}

static void
test_float_wav(void **state)
{
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	const struct audio_spec spec = {RATE, 2, SAMPLE_F32, 0};
	uint64_t frames;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &spec));
	stage_add(stage, &(struct stage_song){.cut = 1,
					      .stream = 1,
					      .frames = 3000,
					      .kind = SAMPLE_F32,
					      .last = true});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 1));
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_F32, &frames);
	assert_int_equal(frames, 3000);
	for (uint64_t i = 0; i < frames * 2; i++) {
		float value;

		memcpy(&value, &samples[i], sizeof(value));
		assert_true(value == tape_f32(1, i / 2, (uint32_t)(i % 2)));
	}
	free(samples);
	box_free(box);
}

/* What is in the file is what was heard, rewinds and all: the song up to the
 * frame where it was told to stand, a fade, a fade, and on from that frame. */
static void
test_pause_and_go_on(void **state)
{
	struct box *box = box_new(&card_wav, 200);
	struct stage *stage = &box->stage;
	uint64_t frames, at;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_add(stage, &(struct stage_song){.cut = 1,
					      .stream = 1,
					      .frames = 20000,
					      .bits = 16,
					      .last = true});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	stage_await_heard(stage, 3000);
	stage->plan.lanes[LANE_MUSIC].paused = 1;
	stage_publish(stage);
	at = stage_await(stage, RT_EVENT_LANE_PAUSED, 1)->value;
	stage_await_heard(stage, at + FADE);
	stage->plan.lanes[LANE_MUSIC].paused = 0;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 1));
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	assert_int_equal(frames, 20000 + FADE);
	expect(samples, 0, at, 1, 0);
	expect(samples, at + 2 * FADE, frames, 1, at + FADE);
	assert_true(abs(samples[(at + FADE - 1) * 2]) < 1 << 24);
	assert_true(abs(samples[(at + FADE) * 2]) < 1 << 18);
	free(samples);
	box_free(box);
}

static void
test_cut_and_stop(void **state)
{
	struct box *box = box_new(&card_wav, 200);
	struct stage *stage = &box->stage;
	uint64_t frames, at;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_add(stage,
		  &(struct stage_song){
			  .cut = 1, .stream = 1, .frames = 100000, .bits = 16});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	stage_await_heard(stage, 2000);
	stage_add(stage,
		  &(struct stage_song){
			  .cut = 2, .stream = 2, .frames = 100000, .bits = 16});
	stage->plan.lanes[LANE_MUSIC].cut = 2;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_STRETCH, 2));
	stage_await_heard(stage, 6000);
	/* To nothing: the first cut's deck is free again by now. */
	stage_add(stage, &(struct stage_song){.cut = 3, .last = true});
	stage->plan.lanes[LANE_MUSIC].cut = 3;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 3));
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	for (at = 0; samples[at * 2] == tape_s32(1, at, 0, 16); at++)
		continue;
	assert_true(at >= 2000 && at < frames - 2 * FADE);
	expect(samples, at + FADE, frames - FADE, 2, FADE);
	assert_true(abs(samples[(frames - 1) * 2]) < 1 << 24);
	free(samples);
	box_free(box);
}

static void
test_other_specs_get_other_files(void **state)
{
	static const uint32_t rates[] = {RATE, 44100, 44100, RATE};
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	uint64_t frames;

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		const struct audio_spec spec = {rates[i], 2, SAMPLE_S32, 16};

		assert_true(stage_play(stage, &spec));
		stage_add(stage, &(struct stage_song){.cut = i + 1,
						      .stream = i + 1,
						      .frames = 1000 + i,
						      .bits = 16,
						      .last = true});
		stage->plan.lanes[LANE_MUSIC].cut = i + 1;
		stage_publish(stage);
		assert_non_null(
			stage_await(stage, RT_EVENT_LANE_DRAINED, i + 1));
		assert_true(stage_close(stage, true));
	}
	free(read_wav(box, "out.wav", CARD_S16, &frames));
	assert_int_equal(frames, 1000);
	free(read_wav(box, "out-2.wav", CARD_S16, &frames));
	assert_int_equal(frames, 1001 + 1002);
	free(read_wav(box, "out-3.wav", CARD_S16, &frames));
	assert_int_equal(frames, 1003);
	box_free(box);
}

/* Open with another spec while it plays: drained, closed, opened anew. */
static void
test_open_again_with_another_spec(void **state)
{
	const struct audio_spec other = {44100, 1, SAMPLE_S32, 24};
	struct box *box = box_new(&card_null, 50);
	struct stage *stage = &box->stage;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_add(stage, &(struct stage_song){.cut = 1,
					      .stream = 1,
					      .frames = 1000000,
					      .bits = 16});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_STRETCH, 1));
	output_open(stage->output, &other);
	assert_int_equal(output_state(stage->output), OUTPUT_DRAINING);
	while (stage->opened < 2)
		stage_turn(stage);
	assert_int_equal(stage->info.spec.rate_hz, 44100);
	assert_int_equal(stage->info.spec.channels, 1);
	assert_int_equal(stage->failed, 0);
	box_free(box);
}

static void
test_failure_is_tried_again(void **state)
{
	struct box *box = box_new(&card_wav, 50);
	struct stage *stage = &box->stage;
	char away[80];

	(void)state;
	snprintf(away, sizeof(away), "%s-away", box->dir);
	assert_int_equal(rename(box->dir, away), 0);
	output_open(stage->output, &stereo16);
	assert_true(stage_await_state(stage, OUTPUT_RETRY));
	assert_int_equal(stage->failed, 1);
	assert_non_null(strstr(stage->reason, "No such file"));
	assert_string_equal(output_error(stage->output), stage->reason);
	assert_null(output_info(stage->output));
	assert_int_equal(rename(away, box->dir), 0);
	assert_true(stage_await_state(stage, OUTPUT_OPEN));
	assert_int_equal(stage->failed, 1);
	assert_int_equal(stage->opened, 1);
	assert_string_equal(output_error(stage->output), "");
	/* Never run: closes all the same. */
	output_close(stage->output, true);
	assert_true(stage_await_state(stage, OUTPUT_CLOSED));
	assert_int_equal(stage->closed, 1);
	box_free(box);
}

static void
test_close_while_opening_or_retrying(void **state)
{
	struct box *box = box_new(&card_null, 50);
	struct stage *stage = &box->stage;

	(void)state;
	output_open(stage->output, &stereo16);
	assert_int_equal(output_state(stage->output), OUTPUT_OPENING);
	output_close(stage->output, false);
	assert_true(stage_await_state(stage, OUTPUT_CLOSED));
	assert_int_equal(stage->closed, 1);
	assert_int_equal(stage->opened, 0);
	/* And destroyed while opening, by box_free(). */
	output_open(stage->output, &stereo16);
	box_free(box);
}

static void
test_settle_silence_comes_first(void **state)
{
	struct box *box = box_with((struct output_config){
		.driver = &card_wav,
		.buffer_ms = 60,
		.period_ms = 20,
		.rewind = -1,
		.settle_ms = 40,
		.priority = 45,
	});
	struct stage *stage = &box->stage;
	uint64_t frames;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_add(stage, &(struct stage_song){.cut = 1,
					      .stream = 1,
					      .frames = 3000,
					      .bits = 16,
					      .last = true});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 1));
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	assert_int_equal(frames, RATE * 40 / 1000 + 3000);
	for (uint64_t i = 0; i < RATE * 40 / 1000 * 2; i++)
		assert_int_equal(samples[i], 0);
	expect(samples, RATE * 40 / 1000, frames, 1, 0);
	free(samples);
	box_free(box);
}

static uint64_t
xruns(const struct stage *stage)
{
	return atomic_load(&output_figures(stage->output)->xruns);
}

static void
await_xrun(struct stage *stage)
{
	const int64_t end_ns = clock_now_ns() + STAGE_DEADLINE_S * NS_PER_S;
	const struct timespec pause = {0, 2 * NS_PER_MS};

	while (xruns(stage) == 0 && clock_now_ns() < end_ns)
		nanosleep(&pause, NULL);
	assert_int_equal(xruns(stage), 1);
}

/* A lane that runs dry is counted once; the file has no hole for it, since a
 * file can wait. */
static void
test_a_dry_lane_is_waited_for(void **state)
{
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	uint64_t frames;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_add(stage,
		  &(struct stage_song){
			  .cut = 1, .stream = 1, .frames = 6000, .bits = 16});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	await_xrun(stage);
	stage_add(stage, &(struct stage_song){.cut = 1,
					      .stream = 1,
					      .stream_frame = 6000,
					      .frames = 5000,
					      .bits = 16,
					      .last = true});
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 1));
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	assert_int_equal(frames, 11000);
	expect(samples, 0, 11000, 1, 0);
	free(samples);
	box_free(box);
}

/* Speech is heard while the music starves. */
static void
test_a_dry_lane_holds_up_no_other(void **state)
{
	struct box *box = box_new(&card_wav, 60);
	struct stage *stage = &box->stage;
	uint64_t frames, at = 0;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	stage_add(stage,
		  &(struct stage_song){
			  .cut = 1, .stream = 1, .frames = 4000, .bits = 16});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	await_xrun(stage);
	stage_add(stage, &(struct stage_song){.lane = LANE_SPEECH,
					      .cut = 1,
					      .stream = 9,
					      .frames = 4000,
					      .bits = 16,
					      .last = true});
	stage->plan.lanes[LANE_SPEECH].cut = 1;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 1));
	assert_int_equal(stage_find(stage, RT_EVENT_LANE_DRAINED, 1)->lane,
			 LANE_SPEECH);
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	while (at < frames && samples[at * 2] != tape_s32(9, 0, 0, 16))
		at++;
	assert_true(at >= 4000 && at + 4000 <= frames);
	expect(samples, 0, 4000, 1, 0);
	for (uint64_t i = 0; i < 4000; i++)
		assert_int_equal(samples[(at + i) * 2], tape_s32(9, i, 0, 16));
	free(samples);
	box_free(box);
}

/* Between songs the card is fed with silence and goes on. */
static void
test_a_card_that_is_kept_open(void **state)
{
	struct box *box = box_with((struct output_config){
		.driver = &card_wav,
		.buffer_ms = 60,
		.period_ms = 20,
		.rewind = -1,
		.keep_open = true,
		.priority = 45,
	});
	struct stage *stage = &box->stage;
	uint64_t frames, at;
	int32_t *samples;

	(void)state;
	assert_true(stage_play(stage, &stereo16));
	for (uint64_t cut = 1; cut <= 2; cut++) {
		stage_add(stage, &(struct stage_song){.cut = cut,
						      .stream = cut,
						      .frames = 3000,
						      .bits = 16,
						      .last = true});
		stage->plan.lanes[LANE_MUSIC].cut = cut;
		stage_publish(stage);
		assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, cut));
		stage_await_heard(stage, 6000 * cut);
	}
	assert_int_equal(xruns(stage), 0);
	assert_true(stage_close(stage, true));
	samples = read_wav(box, "out.wav", CARD_S16, &frames);
	for (at = 0; samples[at * 2] == 0; at++)
		continue;
	expect(samples, at, at + 3000, 1, 0);
	for (at += 3000; samples[at * 2] == 0; at++)
		continue;
	expect(samples, at, at + 3000, 2, 0);
	assert_true(at + 3000 <= frames);
	free(samples);
	box_free(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_null_plays_to_the_end),
		cmocka_unit_test(test_wav_is_bit_perfect),
		cmocka_unit_test(test_float_wav),
		cmocka_unit_test(test_pause_and_go_on),
		cmocka_unit_test(test_cut_and_stop),
		cmocka_unit_test(test_other_specs_get_other_files),
		cmocka_unit_test(test_open_again_with_another_spec),
		cmocka_unit_test(test_failure_is_tried_again),
		cmocka_unit_test(test_close_while_opening_or_retrying),
		cmocka_unit_test(test_settle_silence_comes_first),
		cmocka_unit_test(test_a_dry_lane_is_waited_for),
		cmocka_unit_test(test_a_dry_lane_holds_up_no_other),
		cmocka_unit_test(test_a_card_that_is_kept_open),
	};

	log_init(LOG_LEVEL_ERROR);
	if (rt_fence_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

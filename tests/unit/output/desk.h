/* SPDX-License-Identifier: GPL-3.0-or-later */
/* desk.h - an output on the test card, through the real alsa-lib. The card
 * writes down what was heard and what happened to it; its README tells how.
 * Static functions, for this folder only. */
#ifndef ROTARY_TESTS_OUTPUT_DESK_H
#define ROTARY_TESTS_OUTPUT_DESK_H

#include "tests/kit/folder.h"
#include "tests/unit/output/stage.h"

#include <errno.h>
#include <libgen.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { RATE = TAPE_RATE_HZ, FADE = RATE * MIX_FADE_US / 1000000 };

static const struct audio_spec stereo16 = {RATE, 2, SAMPLE_S32, 16};

struct desk {
	struct stage stage;
	char dir[64];
	char device[96];
};

static inline void
write_file(const struct desk *desk, const char *name, const char *text)
{
	char path[128], next[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", desk->dir, name);
	snprintf(next, sizeof(next), "%s/%s.next", desk->dir, name);
	file = fopen(next, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(next, path), 0);
}

static inline struct desk *
desk_new(const char *params, int rewind)
{
	struct desk *desk =
		aligned_alloc(CACHE_LINE, (sizeof(*desk) + CACHE_LINE - 1) /
						  CACHE_LINE * CACHE_LINE);
	struct output_config config = {
		.driver = &card_alsa,
		.buffer_ms = 200,
		.period_ms = 10,
		.rewind = rewind,
		.priority = 45,
		.fence = RT_FENCE_COUNT,
	};

	assert_non_null(desk);
	memset((void *)desk, 0, sizeof(*desk));
	strcpy(desk->dir, "/tmp/rotary-alsa-XXXXXX");
	assert_non_null(mkdtemp(desk->dir));
	snprintf(desk->device, sizeof(desk->device), "rotarytest:DIR=%s",
		 desk->dir);
	write_file(desk, "params", params);
	config.device = desk->device;
	stage_init(&desk->stage, &config);
	return desk;
}

static inline void
desk_free(struct desk *desk)
{
	if (desk->stage.output != NULL)
		stage_finish(&desk->stage);
	folder_remove(desk->dir);
	free(desk);
}

static inline char *
read_all(const struct desk *desk, const char *name, size_t *ret_bytes)
{
	struct stat stat_buffer;
	char path[128];
	char *bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", desk->dir, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &stat_buffer), 0);
	*ret_bytes = (size_t)stat_buffer.st_size;
	bytes = malloc(*ret_bytes + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *ret_bytes, file), *ret_bytes);
	bytes[*ret_bytes] = '\0';
	fclose(file);
	return bytes;
}

static inline unsigned
count_in_log(const struct desk *desk, const char *word)
{
	size_t bytes;
	char *log = read_all(desk, "events.log", &bytes);
	unsigned count = 0;

	for (char *at = strstr(log, word); at != NULL;
	     at = strstr(at + 1, word))
		count++;
	free(log);
	return count;
}

/* Turns until the card says that it happened. */
static inline void
await_in_log(struct desk *desk, const char *word)
{
	const int64_t end_ns = clock_now_ns() + STAGE_DEADLINE_S * NS_PER_S;
	struct timespec pause = {0, 5 * NS_PER_MS};

	while (count_in_log(desk, word) == 0) {
		assert_true(clock_now_ns() < end_ns);
		nanosleep(&pause, NULL);
		work_dispatch(desk->stage.work);
		stage_take_events(&desk->stage);
	}
}

/* What was heard in the n-th set-up, as S32, less the silence behind it. */
static inline int32_t *
read_heard(const struct desk *desk, unsigned n, uint64_t *ret_frames)
{
	const struct card_spec *spec = &desk->stage.info.spec;
	const size_t sample = card_format_bytes(spec->format);
	char name[32];
	size_t bytes, count;
	int32_t *samples;
	char *heard;

	snprintf(name, sizeof(name), "heard.%u.raw", n);
	heard = read_all(desk, name, &bytes);
	count = bytes / sample;
	samples = calloc(count + 1, sizeof(int32_t));
	assert_non_null(samples);
	for (size_t i = 0; i < count; i++) {
		uint32_t value = 0;

		memcpy(&value, heard + i * sample, sample);
		if (spec->format == CARD_S24 || spec->format == CARD_S24_3)
			value <<= 8;
		else if (spec->format == CARD_S16)
			value <<= 16;
		samples[i] = (int32_t)value;
	}
	while (count > 0 && samples[count - 1] == 0)
		count--;
	*ret_frames = count / spec->channels;
	free(heard);
	return samples;
}

static inline void
expect(const int32_t *samples, uint64_t first, uint64_t end,
       uint64_t stream_frame)
{
	for (uint64_t i = first; i < end; i++) {
		const uint64_t frame = stream_frame + i - first;

		if (samples[i * 2] != tape_s32(1, frame, 0, 16) ||
		    samples[i * 2 + 1] != tape_s32(1, frame, 1, 16))
			fail_msg("heard frame %llu is not frame %llu",
				 (unsigned long long)i,
				 (unsigned long long)frame);
	}
}

static inline void
play_song(struct desk *desk, uint64_t frames, uint32_t bits)
{
	stage_begin_cut(&desk->stage, &(struct stage_song){.cut = 1,
							   .stream = 1,
							   .frames = frames,
							   .bits = bits,
							   .last = true});
}

/* System calls that the fence does not know. */
static inline uint64_t
forbidden_calls(const struct desk *desk)
{
	const struct rt_figures *figures = output_figures(desk->stage.output);
	uint64_t count = 0;

	for (unsigned i = 0; i < RT_SYSCALLS; i++)
		count += atomic_load(&figures->forbidden[i]);
	return count;
}

static inline void
finish_song(struct desk *desk)
{
	assert_non_null(stage_await(&desk->stage, RT_EVENT_LANE_DRAINED, 1));
	assert_true(stage_close(&desk->stage, true));
	assert_int_equal(count_in_log(desk, "late frames"), 0);
	assert_int_equal(forbidden_calls(desk), 0);
}

static inline uint64_t
xruns(const struct desk *desk)
{
	return atomic_load(&output_figures(desk->stage.output)->xruns);
}

/* The configuration that knows the card stands beside the build's programs. */
static inline void
find_test_card(void)
{
	char program[1024], conf[1024 + 64];
	const ssize_t length =
		readlink("/proc/self/exe", program, sizeof(program) - 1);

	assert_true(length > 0);
	program[length] = '\0';
	snprintf(conf, sizeof(conf), "%s/../tests/kit/card/asound.conf",
		 dirname(program));
	setenv("ALSA_CONFIG_PATH", conf, 1);
}

/* Of every main(). */
static inline void
desk_begin(void)
{
	find_test_card();
	log_init(LOG_LEVEL_ERROR);
	assert_int_equal(rt_fence_init(), 0);
}

#endif

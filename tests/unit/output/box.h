/* SPDX-License-Identifier: GPL-3.0-or-later */
/* box.h - an output on the null card or into files in a folder of its own.
 * What a file holds is compared sample by sample; what is timed is waited for,
 * never asserted. Static functions, for this folder only. */
#ifndef ROTARY_TESTS_OUTPUT_BOX_H
#define ROTARY_TESTS_OUTPUT_BOX_H

#include "tests/kit/folder.h"
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

static inline struct box *
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

static inline struct box *
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

static inline void
box_free(struct box *box)
{
	stage_finish(&box->stage);
	folder_remove(box->dir);
	free(box);
}

static inline uint8_t *
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

static inline uint32_t
get_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* The sound of a WAV file as S32; its header must fit its length. */
static inline int32_t *
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

/* Closes the card when that cut is at its end; what was heard until then. */
static inline int32_t *
hear_to_the_end(struct box *box, uint64_t cut, enum card_format format,
		uint64_t *ret_frames)
{
	assert_non_null(stage_await(&box->stage, RT_EVENT_LANE_DRAINED, cut));
	assert_true(stage_close(&box->stage, true));
	return read_wav(box, "out.wav", format, ret_frames);
}

static inline void
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

static inline uint64_t
xruns(const struct stage *stage)
{
	return atomic_load(&output_figures(stage->output)->xruns);
}

/* All there was was heard, and the card has run dry behind it. That this counts
 * once is told where no machine can be late: it may have been, too. */
static inline void
await_dry(struct stage *stage, uint64_t frames)
{
	const int64_t end_ns = clock_now_ns() + STAGE_DEADLINE_S * NS_PER_S;
	const struct timespec pause = {0, 2 * NS_PER_MS};
	struct timeline_view view;

	stage_await_heard(stage, frames);
	do {
		nanosleep(&pause, NULL);
		timeline_read(&stage->timeline, &view);
	} while (view.running && clock_now_ns() < end_ns);
	assert_true(xruns(stage) >= 1);
}

#endif

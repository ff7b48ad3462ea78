/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_joins.c - any file after any other: no frame too many or too few,
 * and where they join nothing that the unsplit sound has not.
 *
 * The files are one tone of 400 Hz, 120 periods each, so that each continues
 * each; 10 ms hold four periods, whose RMS is the same wherever they begin.
 * They are played on the way that takes every ordered pair of them once.
 *
 * A card that follows the files' rates must hear what the decoders gave, to the
 * bit, one after the other. At one rate for all it must hear the tone: no step
 * larger than the tone's, each 10 ms within 0.1 dB of it, but for what the
 * codec itself does to the tone (Vorbis: 0.15 dB, in the middle of a file too),
 * which is measured from its decoder's samples alone.
 *
 *   test_engine_joins [all]   every pair of 18 kinds, instead of 5 of them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/audio/convert.h"
#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/music/music.h"
#include "tests/kit/rig/hasty.h"
#include "tests/kit/rig/rig.h"

#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TONE_HZ = 400,
	SONG_MS = 300,
	AHEAD = 6,
	TIMES_AS_FAST = 10,
	KINDS_MAX = 18,
	PATH_SONGS_MAX = KINDS_MAX * KINDS_MAX + 1,
};

/* What rounding to 16 bits may add to a step, at its two ends. */
static const double step_rounding = 2.0 / 32768;
static const double db_allowed = 0.1;

/* What a sound has at its worst that the tone has not. */
struct flaw {
	double step; /* larger than the tone's by so much */
	double db;   /* of the RMS of 10 ms */
	size_t at;   /* its frame, the first after 10 ms */
};

struct kind {
	char codec; /* flac, vorbis, wave */
	uint32_t rate_hz;
	uint32_t channels;
	/* what its decoder gives */
	float *samples;
	struct flaw flaw;
};

static bool all_kinds;
static struct kind kinds[KINDS_MAX];
static unsigned kind_count;
static unsigned path[PATH_SONGS_MAX];
static unsigned path_length;

static size_t
frames_of(uint32_t rate_hz)
{
	return (size_t)rate_hz * SONG_MS / 1000;
}

static void
name_of(const struct kind *kind, char *ret_name, size_t size)
{
	snprintf(ret_name, size, "%c%u_%u", kind->codec, kind->rate_hz,
		 kind->channels);
}

static void
choose_kinds(void)
{
	static const uint32_t rates[] = {44100, 48000, 96000};
	static const struct kind few[] = {
		{.codec = 'f', .rate_hz = 44100, .channels = 2},
		{.codec = 'v', .rate_hz = 44100, .channels = 1},
		{.codec = 'v', .rate_hz = 48000, .channels = 2},
		{.codec = 'w', .rate_hz = 48000, .channels = 1},
		{.codec = 'w', .rate_hz = 96000, .channels = 2},
	};

	kind_count = sizeof(few) / sizeof(few[0]);
	memcpy(kinds, few, sizeof(few));
	if (!all_kinds)
		return;
	kind_count = KINDS_MAX;
	for (unsigned i = 0; i < KINDS_MAX; i++)
		kinds[i] = (struct kind){
			.codec = "fvw"[i % 3],
			.rate_hz = rates[i / 3 % 3],
			.channels = 1 + i / 9,
		};
}

/* The way through the complete graph on which each edge lies once, also that
 * from a node to itself; by Hierholzer. */
static void
find_path(void)
{
	unsigned used[KINDS_MAX] = {0};
	unsigned stack[PATH_SONGS_MAX];
	unsigned depth = 0;

	path_length = 0;
	stack[depth++] = 0;
	while (depth > 0) {
		const unsigned at = stack[depth - 1];

		if (used[at] < kind_count)
			stack[depth++] = used[at]++;
		else
			path[path_length++] = stack[--depth];
	}
	assert_int_equal(path_length, kind_count * kind_count + 1);
}

/* Compares one channel, whose samples stand stride apart, with the tone. */
static struct flaw
measure(const float *from, size_t stride, size_t frames, uint32_t rate_hz)
{
	const size_t window = rate_hz / 100;
	const double step = sin(3.14159265358979 * TONE_HZ / rate_hz);
	struct flaw worst = {0};
	double sum = 0;

	for (size_t i = 0; i + 1 < frames; i++) {
		const double sample = (double)from[i * stride];
		const double next = (double)from[(i + 1) * stride];
		double db = 0;

		worst.step = fmax(worst.step, fabs(next - sample) - step);
		sum += sample * sample;
		if (i >= window) {
			const double gone = (double)from[(i - window) * stride];

			sum -= gone * gone;
		}
		if (i + 1 < window)
			continue;
		/* The tone's square is 1/8 on average. */
		db = fabs(10 * log10(sum / (double)window * 8));
		if (!(db <= worst.db)) {
			worst.db = db;
			worst.at = i;
		}
	}
	return worst;
}

/* Its decoder's samples, and what is wrong with them where they follow
 * themselves: with an end and a begin. */
static void
decode(struct kind *kind, const struct bytes *file)
{
	const size_t frames = frames_of(kind->rate_hz);
	const size_t samples = frames * kind->channels;
	struct bytes decoded = {0};
	struct decoder_info info;

	assert_int_equal(play(file, &decoded, &info), DECODE_END);
	assert_int_equal(decoded.length, samples * sizeof(float));
	bytes_append(&decoded, NULL, decoded.length);
	kind->samples = (float *)(void *)decoded.data;
	if (info.spec.kind == SAMPLE_S32)
		convert_s32_to_f32(kind->samples,
				   (const int32_t *)(void *)decoded.data,
				   samples);
	memcpy(kind->samples + samples, kind->samples, samples * sizeof(float));
	kind->flaw = measure(kind->samples, kind->channels, 2 * frames,
			     kind->rate_hz);
}

static void
make_file(const struct rig *rig, struct kind *kind)
{
	const struct recipe recipe = {
		.rate_hz = kind->rate_hz,
		.channels = kind->channels,
		.bits = 16,
		.frames = (uint32_t)frames_of(kind->rate_hz),
		.tone_hz = TONE_HZ,
		.quality = 1.0F,
		.serial = 5,
	};
	struct bytes file = {0};
	char name[32];

	if (kind->codec == 'f')
		make_flac(&recipe, &file, NULL);
	else if (kind->codec == 'v')
		make_vorbis(&recipe, &file);
	else
		make_wave(&recipe, SF_FORMAT_WAV | SF_FORMAT_PCM_16, &file,
			  NULL);
	name_of(kind, name, sizeof(name));
	rig_write(rig, name, file.data, file.length);
	decode(kind, &file);
	bytes_finish(&file);
}

static uint64_t
open_song(struct rig *rig, unsigned number)
{
	char name[32];

	name_of(&kinds[path[number]], name, sizeof(name));
	return rig_open_ready(rig, name, 0);
}

/* Lets time pass until it was told of this song or, when several began at once,
 * of a later one. The engine tells it by the clock, so late by what the card
 * holds: meanwhile ten times as much is played, which must be planned. */
static void
hurry_until(struct rig *rig, enum rig_kind kind, uint64_t stream)
{
	struct rig_motion motion = {0};
	int64_t last_ns = clock_now_ns();
	int place = -1;

	while (place < 0) {
		assert_true(rig_moves(rig, &motion));
		hasty_pass((uint32_t)((clock_now_ns() - last_ns) / NS_PER_MS *
				      TIMES_AS_FAST));
		last_ns = clock_now_ns();
		output_wake(rig->engine->output);
		rig_turn(rig, last_ns + NS_PER_MS);
		for (uint64_t later = stream; later <= stream + AHEAD; later++)
			if (place < 0)
				place = rig_find(rig, kind, later);
	}
}

static void
play_path(uint32_t rate_hz)
{
	struct rig *rig = malloc(sizeof(*rig));
	uint64_t songs[PATH_SONGS_MAX];

	assert_non_null(rig);
	hasty_forget();
	choose_kinds();
	find_path();
	rig_init_with(rig, &(struct rig_options){.driver = &card_hasty,
						 .rate_hz = rate_hz});
	for (unsigned i = 0; i < kind_count; i++)
		make_file(rig, &kinds[i]);
	for (unsigned i = 0; i < path_length; i++) {
		songs[i] = open_song(rig, i);
		if (i == 0)
			rig_play(rig, songs[i]);
		else
			rig_follow(rig, songs[i - 1], songs[i]);
		if (i < AHEAD)
			continue;
		hurry_until(rig, RIG_STARTED, songs[i - AHEAD + 1]);
		engine_release(rig->engine, songs[i - AHEAD]);
	}
	hurry_until(rig, RIG_ENDED, songs[path_length - 1]);
	rig_finish(rig);
	free(rig);
}

static void
forget_kinds(void)
{
	for (unsigned i = 0; i < kind_count; i++)
		free(kinds[i].samples);
	hasty_forget();
}

/* The frames between the silence in front and behind. */
static size_t
find_sound(const struct hasty_take *take, size_t *ret_first)
{
	const size_t channels = take->spec.channels;
	size_t first = 0, end = take->frames;

	while (end > 0 && take->samples[(end - 1) * channels] == 0.0F)
		end--;
	while (first < end && take->samples[first * channels] == 0.0F)
		first++;
	*ret_first = first;
	return end - first;
}

/* The song, all of it, is what the take has from here on. */
static void
check_exact(const struct hasty_take *take, size_t from, const struct kind *kind)
{
	const size_t frames = frames_of(kind->rate_hz);
	const uint32_t channels = take->spec.channels;
	const float *got = take->samples + from * channels;

	assert_true(channels >= kind->channels);
	for (size_t i = 0; i < frames; i++)
		for (uint32_t c = 0; c < channels; c++)
			assert_true(got[i * channels + c] ==
				    kind->samples[i * kind->channels +
						  c % kind->channels]);
}

static void
any_joins_any_at_its_own_rate(void **state)
{
	unsigned song = 0;

	(void)state;
	play_path(0);
	for (unsigned t = 0; t < hasty_count(); t++) {
		const struct hasty_take *take = hasty_take(t);
		size_t at = 0;
		size_t end = find_sound(take, &at);

		end += at;
		while (at < end) {
			const struct kind *kind = &kinds[path[song]];

			assert_true(song++ < path_length);
			assert_int_equal(kind->rate_hz, take->spec.rate_hz);
			assert_true(at + frames_of(kind->rate_hz) <= end);
			check_exact(take, at, kind);
			at += frames_of(kind->rate_hz);
		}
	}
	assert_int_equal(song, path_length);
	forget_kinds();
}

/* The sound around the end of the song, from its middle to that of the next. */
static void
check_join(const struct hasty_take *take, size_t first, unsigned song)
{
	const struct kind *a = &kinds[path[song]];
	const struct kind *b = &kinds[path[song + 1]];
	const size_t frames = frames_of(take->spec.rate_hz);
	const uint32_t channels = take->spec.channels;
	const float *from = take->samples + (first + frames / 2) * channels;

	for (uint32_t c = 0; c < channels; c++) {
		const struct flaw flaw =
			measure(from + c, channels, frames, take->spec.rate_hz);
		/* Fewer frames make larger steps of the same noise. */
		const double step =
			2 * fmax(a->flaw.step, b->flaw.step) + step_rounding;
		const double db = fmax(a->flaw.db, b->flaw.db) + db_allowed;

		if (flaw.step <= step && flaw.db <= db)
			continue;
		print_error("%c %u Hz %u, then %c %u Hz %u: a step larger by "
			    "%.5f (%.5f allowed), %.4f dB (%.4f) at %d\n",
			    a->codec, a->rate_hz, a->channels, b->codec,
			    b->rate_hz, b->channels, flaw.step, step, flaw.db,
			    db, (int)flaw.at - (int)frames / 2);
		fail();
	}
}

static void
any_joins_any_at_one_rate(void **state)
{
	static const uint32_t rates[] = {48000, 44100};

	(void)state;
	for (unsigned r = 0; r < (all_kinds ? 2 : 1); r++) {
		unsigned song = 0;

		play_path(rates[r]);
		for (unsigned t = 0; t < hasty_count(); t++) {
			const struct hasty_take *take = hasty_take(t);
			size_t first = 0;
			size_t left = find_sound(take, &first);

			/* Each comes to as many frames as its own rate has
			 * in that time: none is rounded. */
			assert_int_equal(left % frames_of(rates[r]), 0);
			for (; left > frames_of(rates[r]); song++) {
				check_join(take, first, song);
				first += frames_of(rates[r]);
				left -= frames_of(rates[r]);
			}
			song += left > 0;
		}
		assert_int_equal(song, path_length);
		forget_kinds();
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_joins_any_at_its_own_rate),
		cmocka_unit_test(any_joins_any_at_one_rate),
	};

	thread_assert_control();
	all_kinds = argc > 1 && strcmp(argv[1], "all") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

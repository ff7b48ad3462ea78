/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_songs.c - songs that are not simply good: files that cannot be
 * opened or break off, chains of links, other rates, and more of them than
 * there is ring memory for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/thread.h"
#include "tests/kit/music/music.h"
#include "tests/kit/rig/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHORT = 6000, LINK = 9000 };

static int
set_up_null(void **state)
{
	return rig_set_up(state, &card_null);
}

static const char *
failure_of(struct rig *rig, const char *name)
{
	const uint64_t stream = rig_open(rig, name, 0);
	const int at = rig_wait(rig, RIG_FAILED, stream);

	assert_int_equal(engine_play(rig->engine, LANE_MUSIC, stream), -EBUSY);
	assert_int_equal(rig_find(rig, RIG_READY, stream), -1);
	engine_release(rig->engine, stream);
	assert_int_equal(engine_play(rig->engine, LANE_MUSIC, stream), -ENOENT);
	return rig->events[at].reason;
}

static void
what_cannot_be_opened_says_why(void **state)
{
	struct rig *rig = *state;
	char path[160];

	rig_write(rig, "noise.flac", "this is no music at all", 23);
	rig_write(rig, "empty.flac", "", 0);
	rig_path(rig, "folder.flac", path, sizeof(path));
	assert_int_equal(mkdir(path, 0700), 0);
	rig_path(rig, "fifo.flac", path, sizeof(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(failure_of(rig, "not there.flac"),
			    "No such file or directory");
	assert_int_not_equal(failure_of(rig, "noise.flac")[0], '\0');
	assert_int_not_equal(failure_of(rig, "empty.flac")[0], '\0');
	assert_int_not_equal(failure_of(rig, "folder.flac")[0], '\0');
	assert_int_not_equal(failure_of(rig, "fifo.flac")[0], '\0');
	assert_int_not_equal(failure_of(rig, "../etc/passwd")[0], '\0');
	assert_int_equal(rig_count(rig, RIG_FAILED), 6);
}

static void
a_song_without_a_sample_has_no_sound(void **state)
{
	struct rig *rig = *state;

	rig_make(rig, "a.flac", 1, 0);
	assert_non_null(strstr(failure_of(rig, "a.flac"), "no sound"));
}

static void
nothing_comes_of_what_was_released(void **state)
{
	struct rig *rig = *state;
	unsigned i;

	rig_make(rig, "a.flac", 1, SHORT);
	for (i = 0; i < 8; i++) {
		const uint64_t song = rig_open(rig, "a.flac", 0);

		assert_int_equal(engine_play(rig->engine, LANE_MUSIC, song),
				 -EBUSY);
		if (i % 2 == 1)
			rig_turn(rig, clock_now_ns() + NS_PER_MS);
		engine_release(rig->engine, song);
	}
	while (rig->engine->stream_count > 0)
		rig_turn(rig, clock_now_ns() + 20 * NS_PER_MS);
	/* Some were ready before they were released. */
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
	assert_int_equal(rig_count(rig, RIG_STARTED), 0);
}

/* What there is of it is heard, then the next song; only then is it told. */
static void
a_song_that_breaks_off_is_heard_so_far(void **state)
{
	struct rig *rig = *state;
	struct recipe recipe = {.rate_hz = RIG_RATE,
				.channels = 2,
				.bits = 16,
				.frames = RIG_RATE,
				.block = 1152,
				.seed = 5};
	struct bytes file = {0};
	struct rig_wav wav;
	uint64_t first, second;
	size_t at;

	make_flac(&recipe, &file, NULL);
	rig_write(rig, "cut.flac", file.data, file.length / 3);
	bytes_finish(&file);
	rig_make(rig, "b.flac", 2, SHORT);
	first = rig_open_ready(rig, "cut.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, second);
	rig_wait(rig, RIG_ENDED, second);
	assert_true(rig_find(rig, RIG_STARTED, second) >= 0);
	if (rig_find(rig, RIG_FAILED, first) >= 0)
		assert_true(rig_find(rig, RIG_FAILED, first) <
			    rig_find(rig, RIG_STARTED, second));
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_true(wav.frames > SHORT + RIG_RATE / 10);
	at = wav.frames - SHORT;
	assert_int_equal(rig_same(&wav, at, 2, 0, SHORT), SHORT);
	free(wav.samples);
}

static void
add_link(struct bytes *file, int serial)
{
	const struct recipe recipe = {.rate_hz = RIG_RATE,
				      .channels = 2,
				      .frames = LINK,
				      .seed = (uint64_t)serial,
				      .serial = serial};

	make_vorbis(&recipe, file);
}

/* Every frame of what libvorbisfile makes of the file, from first on. */
static void
assert_floats(const struct rig_wav *wav, const struct bytes *file, size_t first,
	      size_t skip)
{
	struct bytes samples = {0};
	const size_t frame_bytes = 2 * sizeof(float);
	size_t frames;

	vorbisfile_decode(file, &samples);
	frames = samples.length / frame_bytes;
	assert_int_equal(wav->frames, frames - first);
	assert_memory_equal(wav->floats + 2 * skip,
			    samples.data + (first + skip) * frame_bytes,
			    (frames - first - skip) * frame_bytes);
	bytes_finish(&samples);
}

static void
a_chain_of_links_is_one_song(void **state)
{
	struct rig *rig = *state;
	struct engine_position position;
	struct bytes file = {0};
	struct rig_wav wav;
	uint64_t song;

	add_link(&file, 1);
	add_link(&file, 2);
	add_link(&file, 3);
	rig_write(rig, "chain.ogg", file.data, file.length);
	song = rig_open_ready(rig, "chain.ogg", 0);
	rig_play(rig, song);
	rig_wait_position(rig, song,
			  clock_frames_to_ns(2 * LINK + LINK / 2, RIG_RATE));
	engine_position(rig->engine, LANE_MUSIC, &position);
	assert_true(position.elapsed_ns <=
		    clock_frames_to_ns(3 * LINK, RIG_RATE));
	rig_wait(rig, RIG_ENDED, song);
	assert_int_equal(rig_count(rig, RIG_READY), 1);
	assert_int_equal(rig_count(rig, RIG_STARTED), 1);
	assert_int_equal(rig_count(rig, RIG_ENDED), 1);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_floats(&wav, &file, 0, 0);
	free(wav.floats);
	bytes_finish(&file);
}

static void
a_start_in_a_later_link_is_exact(void **state)
{
	struct rig *rig = *state;
	const size_t first = LINK + LINK / 3;
	const size_t fade = RIG_RATE / 200 + 1;
	struct bytes file = {0};
	struct rig_wav wav;
	uint64_t song;

	add_link(&file, 1);
	add_link(&file, 2);
	rig_write(rig, "chain.ogg", file.data, file.length);
	song = rig_open_ready(rig, "chain.ogg",
			      clock_frames_to_ns(first, RIG_RATE) + 1000);
	rig_play(rig, song);
	rig_wait(rig, RIG_ENDED, song);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_floats(&wav, &file, first, fade);
	free(wav.floats);
	bytes_finish(&file);
}

/* A link that is garbage ends the song, not the music. */
static void
a_broken_link_leads_to_the_next_song(void **state)
{
	struct rig *rig = *state;
	struct bytes file = {0};
	struct rig_wav wav;
	uint64_t song, next;
	size_t link;

	add_link(&file, 1);
	link = file.length;
	rig_write(rig, "good.ogg", file.data, link);
	add_link(&file, 2);
	/* The second link's headers, behind its first page. */
	memset(file.data + link + 100, 0x55, file.length - link - 100);
	rig_write(rig, "chain.ogg", file.data, file.length);
	song = rig_open_ready(rig, "chain.ogg", 0);
	next = rig_open_ready(rig, "good.ogg", 0);
	rig_play(rig, song);
	rig_follow(rig, song, next);
	rig_wait(rig, RIG_ENDED, next);
	assert_int_equal(rig_count(rig, RIG_STARTED), 2);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.frames, 2 * LINK);
	free(wav.floats);
	bytes_finish(&file);
}

static void
a_fixed_rate_resamples_and_joins(void **state)
{
	struct rig *rig = *state;
	struct rig_wav wav;
	uint64_t first, second;

	rig_finish(rig);
	rig_init_with(rig, &(struct rig_options){.driver = &card_wav,
						 .rate_hz = 48000});
	rig_make(rig, "a.flac", 1, RIG_RATE / 10);
	rig_make(rig, "b.flac", 2, RIG_RATE / 10);
	first = rig_open_ready(rig, "a.flac", 0);
	second = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, first);
	rig_follow(rig, first, second);
	rig_wait(rig, RIG_ENDED, second);
	assert_int_equal(rig_count(rig, RIG_STARTED), 2);
	rig_stop(rig);
	rig_read_wav(rig->wav, &wav);
	assert_int_equal(wav.rate_hz, 48000);
	assert_int_equal(wav.frames, 2 * 4800);
	free(wav.samples);
	free(wav.floats);
}

static void
streams_wait_for_ring_memory(void **state)
{
	struct rig *rig = *state;
	enum { COUNT = 24 };
	uint64_t songs[COUNT];
	char name[32];
	unsigned i, ready;

	rig_finish(rig);
	rig_init_with(rig, &(struct rig_options){.driver = &card_null,
						 .ring_bytes = 2 << 20});
	/* Long ones, so that each wants all it can get. */
	for (i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "%u.flac", i);
		rig_make(rig, name, i, 6 * RIG_RATE);
		songs[i] = rig_open(rig, name, 0);
	}
	rig_wait(rig, RIG_READY, songs[0]);
	rig_run(rig, 100 * NS_PER_MS);
	ready = rig_count(rig, RIG_READY);
	assert_in_range(ready, 2, COUNT - 1);
	assert_true(pool_check(rig->engine->commons->pool));
	/* Each that goes makes room for another, in order. */
	for (i = 0; i < COUNT; i++) {
		rig_wait(rig, RIG_READY, songs[i]);
		engine_release(rig->engine, songs[i]);
	}
	while (rig->engine->stream_count > 0)
		rig_turn(rig, clock_now_ns() + 20 * NS_PER_MS);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
}

/* What a lane would take. True at the end. */
static bool
drain(struct stream *stream)
{
	pcm_ring_consume(&stream->pcm, pcm_ring_readable(&stream->pcm));
	return pcm_ring_at_end(&stream->pcm);
}

/* All at once, and none is forgotten. */
static void
two_hundred_streams_are_decoded(void **state)
{
	struct rig *rig = *state;
	enum { COUNT = 200 };
	const int64_t until_ns = clock_now_ns() + RIG_PATIENCE_NS;
	struct stream *streams[COUNT];
	uint64_t songs[COUNT];
	unsigned i, ended = 0;

	rig_finish(rig);
	rig_init_with(rig, &(struct rig_options){.driver = &card_null,
						 .ring_bytes = 160 << 20});
	rig_make(rig, "a.flac", 1, RIG_RATE);
	for (i = 0; i < COUNT; i++)
		songs[i] = rig_open(rig, "a.flac", 0);
	for (i = 0; i < COUNT; i++) {
		rig_wait(rig, RIG_READY, songs[i]);
		streams[i] = streams_find(rig->engine, songs[i]);
	}
	while (ended < COUNT) {
		assert_true(clock_now_ns() < until_ns);
		for (i = 0, ended = 0; i < COUNT; i++)
			ended += drain(streams[i]);
		wake_post(&rig->engine->commons->wake);
		rig_turn(rig, clock_now_ns() + NS_PER_MS);
	}
	for (i = 0; i < COUNT; i++)
		assert_int_equal(pcm_ring_written(&streams[i]->pcm), RIG_RATE);
}

static void
too_many_streams_are_refused(void **state)
{
	struct rig *rig = *state;
	const struct source_ref ref = {"none.flac", 0};
	uint64_t stream, last = 0;
	unsigned count = 0;
	int result;

	while ((result = engine_open(rig->engine, LANE_MUSIC, &ref, 0,
				     &stream)) == 0) {
		assert_true(stream > last);
		last = stream;
		count++;
	}
	assert_int_equal(result, -EAGAIN);
	assert_int_equal(count, STREAMS_MAX);
}

/* As if its decoder had used up one quantum after the other. */
static void
a_song_that_is_too_slow_is_left(void **state)
{
	struct rig *rig = *state;
	uint64_t song, next;
	int at;

	rig_make(rig, "a.flac", 1, 6 * RIG_RATE);
	rig_make(rig, "b.flac", 2, SHORT);
	song = rig_open_ready(rig, "a.flac", 0);
	next = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, song);
	rig_follow(rig, song, next);
	rig_wait(rig, RIG_STARTED, song);
	atomic_store(&streams_find(rig->engine, song)->overruns,
		     STREAM_OVERRUNS_MAX);
	bell_ring(&rig->engine->commons->bell, RT_EVENT_OVERRUN, 0, song, 0);
	at = rig_wait(rig, RIG_FAILED, song);
	assert_string_equal(rig->events[at].reason,
			    "it takes too long to decode");
	rig_wait(rig, RIG_ENDED, next);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_cannot_be_opened_says_why,
						set_up_null, rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_song_without_a_sample_has_no_sound, set_up_null,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			nothing_comes_of_what_was_released, set_up_null,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_song_that_breaks_off_is_heard_so_far, rig_set_up_wav,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(a_chain_of_links_is_one_song,
						rig_set_up_wav, rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_start_in_a_later_link_is_exact, rig_set_up_wav,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_broken_link_leads_to_the_next_song, rig_set_up_wav,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(
			a_fixed_rate_resamples_and_joins, set_up_null,
			rig_tear_down),
		cmocka_unit_test_setup_teardown(a_song_that_is_too_slow_is_left,
						set_up_null, rig_tear_down),
		cmocka_unit_test_setup_teardown(streams_wait_for_ring_memory,
						set_up_null, rig_tear_down),
		cmocka_unit_test_setup_teardown(two_hundred_streams_are_decoded,
						set_up_null, rig_tear_down),
		cmocka_unit_test_setup_teardown(too_many_streams_are_refused,
						set_up_null, rig_tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

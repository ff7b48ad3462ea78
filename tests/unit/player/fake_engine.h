/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fake_engine.h - the other side of struct player_ops, for tests: writes each
 * wish as text, and holds the player to what an engine may expect. It asserts
 * that a stream is played and told only while it lives and is ready, that it is
 * given away for good at most once, and that nothing is left in the end.
 *
 * The songs are called "a" to "z", a stream after its song and how often that
 * was opened: "a1". */
#ifndef ROTARY_TESTS_FAKE_ENGINE_H
#define ROTARY_TESTS_FAKE_ENGINE_H

#include "daemon/player/player.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FAKE_STREAMS = 1 << 16 };

struct fake_stream {
	char name[16];
	int64_t start_ns;
	bool ready, failed, played, followed, released, started, ended;
};

struct fake_engine {
	struct play_queue *queue;
	struct player *player;
	struct text wishes;
	struct fake_stream streams[FAKE_STREAMS];
	size_t count;
	unsigned opened[256]; /* by letter */
	size_t alive;
	bool refuse; /* opens fail at once */
	bool paused;
	bool more;          /* is to follow */
	bool overlaps;      /* songs are going to */
	int64_t elapsed_ns; /* of what is heard */
	int64_t length_ns;  /* of each song, once it is ready */
	unsigned changes;
	uint64_t seed;
	bool quiet; /* write no wishes */
};

static inline void
fake_wish(struct fake_engine *fake, const char *what, const char *first,
	  const char *second)
{
	if (fake->quiet)
		return;
	if (fake->wishes.length > 0)
		text_add(&fake->wishes, ", ");
	text_printf(&fake->wishes, "%s%s%s%s%s", what, first ? " " : "",
		    first ? first : "", second ? " " : "",
		    second ? second : "");
}

static inline struct fake_stream *
fake_stream(struct fake_engine *fake, uint64_t id)
{
	assert_true(id >= 1 && id <= fake->count);
	assert_false(fake->streams[id - 1].released);
	return &fake->streams[id - 1];
}

static inline uint64_t
fake_open(void *context, const struct song *song, int64_t start_ns)
{
	struct fake_engine *fake = (struct fake_engine *)context;
	const char letter = song_uri(song)[0];
	struct fake_stream *stream;
	char start[32];

	if (fake->refuse) {
		fake_wish(fake, "refuse", song_uri(song), NULL);
		return 0;
	}
	assert_true(fake->count < FAKE_STREAMS);
	stream = &fake->streams[fake->count++];
	stream->start_ns = start_ns;
	snprintf(stream->name, sizeof(stream->name), "%c%u", letter,
		 ++fake->opened[(unsigned char)letter]);
	snprintf(start, sizeof(start), "@%lld",
		 (long long)(start_ns / NS_PER_S));
	fake_wish(fake, "open", stream->name, start_ns > 0 ? start : NULL);
	fake->alive++;
	return fake->count;
}

static inline void
fake_release(void *context, uint64_t id)
{
	struct fake_engine *fake = (struct fake_engine *)context;
	struct fake_stream *stream = fake_stream(fake, id);

	stream->released = true;
	fake->alive--;
	fake_wish(fake, "release", stream->name, NULL);
}

static inline void
fake_play(void *context, uint64_t id)
{
	struct fake_engine *fake = (struct fake_engine *)context;
	struct fake_stream *stream = fake_stream(fake, id);

	assert_true(stream->ready && !stream->failed && !stream->played);
	stream->played = true;
	fake_wish(fake, "play", stream->name, NULL);
}

static inline void
fake_follow(void *context, uint64_t id, uint64_t next)
{
	struct fake_engine *fake = (struct fake_engine *)context;
	struct fake_stream *stream = fake_stream(fake, id);
	struct fake_stream *follower = NULL;

	assert_true(stream->played || stream->followed);
	if (next != 0) {
		follower = fake_stream(fake, next);
		assert_true(follower->ready && !follower->failed &&
			    !follower->played && !follower->followed);
		follower->followed = true;
	}
	fake_wish(fake, "follow", stream->name,
		  follower == NULL ? "-" : follower->name);
}

static inline void
fake_overlap(void *context, uint64_t id, int64_t fade_ns)
{
	struct fake_engine *fake = (struct fake_engine *)context;
	const struct fake_stream *stream = fake_stream(fake, id);
	char seconds[32];

	assert_true(stream->ready && !stream->played && fade_ns >= 0);
	assert_true(fade_ns == 0 || fake->overlaps);
	snprintf(seconds, sizeof(seconds), "%lld",
		 (long long)(fade_ns / NS_PER_S));
	fake_wish(fake, "overlap", stream->name, seconds);
}

static inline void
fake_set_overlaps(void *context, bool overlaps)
{
	struct fake_engine *fake = (struct fake_engine *)context;

	assert_true(fake->overlaps != overlaps);
	fake->overlaps = overlaps;
}

static inline void
fake_expect(void *context, bool more)
{
	struct fake_engine *fake = (struct fake_engine *)context;

	assert_true(fake->more != more);
	fake->more = more;
}

static inline void
fake_stop(void *context)
{
	fake_wish((struct fake_engine *)context, "stop", NULL, NULL);
}

static inline void
fake_pause(void *context, bool paused)
{
	struct fake_engine *fake = (struct fake_engine *)context;

	assert_true(fake->paused != paused);
	fake->paused = paused;
	fake_wish(fake, paused ? "pause" : "resume", NULL, NULL);
}

static inline void
fake_set_volume(void *context, unsigned percent)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", percent);
	fake_wish((struct fake_engine *)context, "volume", number, NULL);
}

static inline int64_t
fake_elapsed(void *context, uint64_t id)
{
	struct fake_engine *fake = (struct fake_engine *)context;

	return fake_stream(fake, id)->started ? fake->elapsed_ns : -1;
}

static inline uint32_t
fake_random(void *context, uint32_t below)
{
	struct fake_engine *fake = (struct fake_engine *)context;

	assert_true(below > 0);
	fake->seed = fake->seed * UINT64_C(6364136223846793005) +
		     UINT64_C(1442695040888963407);
	return (uint32_t)(fake->seed >> 33) % below;
}

static inline void
fake_changed(void *context, unsigned changes)
{
	struct fake_engine *fake = (struct fake_engine *)context;

	assert_true(changes != 0);
	fake->changes |= changes;
}

static const struct player_ops fake_ops = {
	.open = fake_open,
	.release = fake_release,
	.play = fake_play,
	.follow = fake_follow,
	.overlap = fake_overlap,
	.set_overlaps = fake_set_overlaps,
	.expect = fake_expect,
	.stop = fake_stop,
	.pause = fake_pause,
	.set_volume = fake_set_volume,
	.elapsed = fake_elapsed,
	.random = fake_random,
	.changed = fake_changed,
};

static inline struct fake_engine *
fake_create(void)
{
	struct fake_engine *fake =
		(struct fake_engine *)calloc(1, sizeof(*fake));

	assert_non_null(fake);
	fake->seed = 1;
	fake->length_ns = 100 * NS_PER_S;
	fake->queue = play_queue_create();
	assert_non_null(fake->queue);
	fake->player = player_create(fake->queue, &fake_ops, fake);
	assert_non_null(fake->player);
	return fake;
}

static inline void
fake_destroy(struct fake_engine *fake)
{
	player_destroy(fake->player);
	assert_int_equal(fake->alive, 0);
	play_queue_destroy(fake->queue);
	text_finish(&fake->wishes);
	free(fake);
}

/* Puts song letter (its length 100 s by its tags) at position. Tags are a list
 * of "Name=value", ended by NULL. */
static inline void
fake_insert_tagged(struct fake_engine *fake, char letter, uint32_t position,
		   const char *const *tags)
{
	const char uri[] = {letter, '\0'};
	const struct audio_spec spec = {44100, 2, SAMPLE_S32, 16};
	struct song_builder *builder = song_builder_create(uri);
	struct song *song;
	char name[16];

	assert_non_null(builder);
	song_builder_audio(builder, &spec, 100 * NS_PER_S);
	for (; tags != NULL && *tags != NULL; tags++) {
		const char *value = strchr(*tags, '=') + 1;

		snprintf(name, sizeof(name), "%.*s", (int)(value - *tags - 1),
			 *tags);
		song_builder_tag(builder, tag_from_name(name), value,
				 strlen(value));
	}
	song = song_builder_finish(builder);
	assert_non_null(song);
	assert_int_equal(
		play_queue_insert(fake->queue, position, song, 0, NULL), 0);
	song_unref(song);
}

static inline void
fake_insert(struct fake_engine *fake, char letter, uint32_t position)
{
	fake_insert_tagged(fake, letter, position, NULL);
}

static inline void
fake_ready(struct fake_engine *fake, uint64_t id)
{
	const struct audio_spec spec = {44100, 2, SAMPLE_S32, 16};

	fake->streams[id - 1].ready = true;
	player_on_ready(fake->player, id, &spec, fake->length_ns, 1000000);
}

static inline void
fake_failed(struct fake_engine *fake, uint64_t id)
{
	fake->streams[id - 1].failed = true;
	player_on_failed(fake->player, id, "not a FLAC file");
}

static inline void
fake_started(struct fake_engine *fake, uint64_t id)
{
	fake->streams[id - 1].started = true;
	fake->elapsed_ns = fake->streams[id - 1].start_ns;
	player_on_started(fake->player, id);
}

static inline void
fake_ended(struct fake_engine *fake, uint64_t id)
{
	fake->streams[id - 1].ended = true;
	player_on_ended(fake->player, id);
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* house.h - a whole server for tests: the real loop, workers, queue, player and
 * sessions; only the engine is a piece of paper, on which the player's wishes
 * are noted and from which a test takes the answers.
 *
 * Clients are socket pairs: the test writes and reads one end, the server has
 * the other. Nothing waits for a time: house_settle() runs the loop until
 * neither it nor a worker has anything to do. */
#ifndef ROTARY_TESTS_SERVER_HOUSE_H
#define ROTARY_TESTS_SERVER_HOUSE_H

#include "daemon/library/song.h"
#include "daemon/player/player.h"
#include "daemon/player/queue.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "tests/kit/folder.h"
#include "tests/unit/server/paper_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <cmocka.h>

enum { HOUSE_CLIENTS = 8 };

struct house_client {
	int fd; /* -1: none */
	struct text got;
	bool closed;
	bool deaf; /* reads nothing */
};

struct house {
	struct sd_event *loop;
	struct sd_event_source *work_source;
	struct work *work;
	struct play_queue *queue;
	struct player *player;
	struct server *server;
	struct engine engine;
	struct house_client clients[HOUSE_CLIENTS];
	char folder[64];
	/* the engine's paper */
	uint64_t last_stream; /* opened */
	uint64_t playing;     /* told to play */
	int64_t elapsed_ns;
	unsigned songs_made;
};

static inline uint64_t
house_open(void *context, const struct song *song, int64_t start_ns)
{
	struct house *house = (struct house *)context;

	(void)song;
	house->elapsed_ns = start_ns;
	return ++house->last_stream;
}

static inline void
house_release(void *context, uint64_t stream)
{
	(void)context;
	(void)stream;
}

static inline void
house_play(void *context, uint64_t stream)
{
	((struct house *)context)->playing = stream;
}

static inline void
house_follow(void *context, uint64_t stream, uint64_t next)
{
	(void)context;
	(void)stream;
	(void)next;
}

static inline void
house_stop(void *context)
{
	((struct house *)context)->playing = 0;
}

static inline void
house_pause(void *context, bool paused)
{
	(void)context;
	(void)paused;
}

static inline void
house_set_volume(void *context, unsigned percent)
{
	(void)context;
	(void)percent;
}

static inline int64_t
house_elapsed(void *context, uint64_t stream)
{
	const struct house *house = (struct house *)context;

	return stream == house->playing ? house->elapsed_ns : -1;
}

static inline uint32_t
house_random(void *context, uint32_t below)
{
	(void)context;
	return below - 1;
}

/* As the program does it. */
static inline void
house_changed(void *context, unsigned changes)
{
	struct house *house = (struct house *)context;

	if (house->server == NULL)
		return;
	if ((changes & PLAYER_CHANGE_PLAYER) != 0)
		server_idle(house->server, IDLE_PLAYER);
	if ((changes & PLAYER_CHANGE_QUEUE) != 0)
		server_idle(house->server, IDLE_PLAYLIST);
	if ((changes & PLAYER_CHANGE_OPTIONS) != 0)
		server_idle(house->server, IDLE_OPTIONS);
	if ((changes & PLAYER_CHANGE_MIXER) != 0)
		server_idle(house->server, IDLE_MIXER);
}

static const struct player_ops house_ops = {
	.open = house_open,
	.release = house_release,
	.play = house_play,
	.follow = house_follow,
	.stop = house_stop,
	.pause = house_pause,
	.set_volume = house_set_volume,
	.elapsed = house_elapsed,
	.random = house_random,
	.changed = house_changed,
};

static inline int
house_on_work(struct sd_event_source *source, int fd, uint32_t events,
	      void *context)
{
	(void)source;
	(void)fd;
	(void)events;
	work_dispatch(((struct house *)context)->work);
	return 0;
}

static inline void
house_init_with(struct house *house, const struct work_limits *limits)
{
	struct server_config config;
	struct server_links links;
	int i;

	memset(house, 0, sizeof(*house));
	for (i = 0; i < HOUSE_CLIENTS; i++)
		house->clients[i].fd = -1;
	strcpy(house->folder, "/tmp/rotary-house-XXXXXX");
	assert_non_null(mkdtemp(house->folder));
	assert_true(sd_event_new(&house->loop) >= 0);
	assert_int_equal(work_create(limits, &house->work), 0);
	assert_true(sd_event_add_io(house->loop, &house->work_source,
				    work_event_fd(house->work), POLLIN,
				    house_on_work, house) >= 0);
	house->queue = play_queue_create();
	assert_non_null(house->queue);
	house->player = player_create(house->queue, &house_ops, house);
	assert_non_null(house->player);
	house->engine.output.state = OUTPUT_CLOSED;
	house->engine.output.driver = "paper";
	house->engine.output.error = "";
	links.loop = house->loop;
	links.work = house->work;
	links.engine = &house->engine;
	links.player = house->player;
	links.queue = house->queue;
	memset(&config, 0, sizeof(config));
	config.max_clients = HOUSE_CLIENTS;
	config.music.folder = house->folder;
	assert_int_equal(server_create_deaf(&config, &links, &house->server),
			 0);
}

static inline void
house_init(struct house *house)
{
	house_init_with(house, NULL);
}

static inline void
house_finish(struct house *house)
{
	int i;

	server_destroy(house->server);
	house->server = NULL;
	for (i = 0; i < HOUSE_CLIENTS; i++) {
		if (house->clients[i].fd >= 0)
			close(house->clients[i].fd);
		text_finish(&house->clients[i].got);
	}
	player_destroy(house->player);
	play_queue_destroy(house->queue);
	sd_event_source_disable_unref(house->work_source);
	work_destroy(house->work, NS_PER_S);
	sd_event_unref(house->loop);
	folder_remove(house->folder);
}

/* A file below the music folder. */
static inline void
house_write(struct house *house, const char *name, const void *bytes,
	    size_t length)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", house->folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

static inline void
house_mkdir(struct house *house, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", house->folder, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/* "song-N.flac" with a title, at the end of the queue. */
static inline void
house_add_songs(struct house *house, unsigned count)
{
	const struct audio_spec spec = {44100, 2, SAMPLE_S32, 16};

	while (count-- > 0) {
		const unsigned n = ++house->songs_made;
		struct song_builder *builder;
		struct song *song;
		char text[64];
		uint32_t id;

		snprintf(text, sizeof(text), "song-%u.flac", n);
		builder = song_builder_create(text);
		assert_non_null(builder);
		snprintf(text, sizeof(text), "Title %u", n);
		song_builder_tag(builder, TAG_TITLE, text, strlen(text));
		song_builder_tag(builder, TAG_ARTIST, "Someone", 7);
		song_builder_audio(builder, &spec, INT64_C(240000) * NS_PER_MS);
		song = song_builder_finish(builder);
		assert_non_null(song);
		assert_int_equal(
			play_queue_insert(house->queue,
					  play_queue_length(house->queue), song,
					  0, &id),
			0);
		song_unref(song);
	}
	player_queue_changed(house->player);
}

/* Clients ---------------------------------------------------------------- */

static inline struct house_client *
house_connect(struct house *house, int number)
{
	struct house_client *client = &house->clients[number];
	int pair[2];

	assert_int_equal(client->fd, -1);
	assert_int_equal(socketpair(AF_UNIX,
				    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				    0, pair),
			 0);
	server_welcome(house->server, pair[1], getuid(), true);
	client->fd = pair[0];
	client->closed = false;
	text_clear(&client->got);
	return client;
}

static inline void
house_hang_up(struct house_client *client)
{
	close(client->fd);
	client->fd = -1;
}

static inline void
house_read(struct house_client *client)
{
	char bytes[2048];
	ssize_t got;

	if (client->fd < 0 || client->deaf)
		return;
	while ((got = recv(client->fd, bytes, sizeof(bytes), 0)) > 0)
		text_add_bytes(&client->got, bytes, (size_t)got);
	if (got == 0 || errno == ECONNRESET)
		client->closed = true;
}

/* Runs the loop, and reads what clients are sent, until nothing moves. */
static inline void
house_settle(struct house *house)
{
	struct work_stats stats;
	bool busy = true;

	while (busy) {
		int i, r = sd_event_run(house->loop, 0);

		assert_true(r >= 0);
		for (i = 0; i < HOUSE_CLIENTS; i++)
			house_read(&house->clients[i]);
		if (r > 0)
			continue;
		work_get_stats(house->work, &stats);
		busy = stats.busy + stats.queued > 0;
		if (busy)
			assert_true(sd_event_run(house->loop, 5000000) >= 0);
		else
			busy = sd_event_run(house->loop, 0) > 0;
	}
}

/* Sends all bytes, letting the server read meanwhile. */
static inline void
house_send_bytes(struct house *house, struct house_client *client,
		 const char *bytes, size_t length)
{
	while (length > 0) {
		const ssize_t sent =
			send(client->fd, bytes, length, MSG_NOSIGNAL);

		if (sent < 0) {
			assert_true(errno == EAGAIN || errno == EPIPE ||
				    errno == ECONNRESET);
			if (errno != EAGAIN)
				break;
			assert_true(sd_event_run(house->loop, 0) >= 0);
			continue;
		}
		bytes += sent;
		length -= (size_t)sent;
	}
}

static inline void
house_send(struct house *house, struct house_client *client, const char *bytes)
{
	house_send_bytes(house, client, bytes, strlen(bytes));
}

/* Sends and gives all that comes back; valid until the next call. */
static inline const char *
house_ask(struct house *house, struct house_client *client, const char *bytes)
{
	text_clear(&client->got);
	house_send(house, client, bytes);
	house_settle(house);
	return text_string(&client->got);
}

/* A client past its greeting. */
static inline struct house_client *
house_client(struct house *house, int number)
{
	struct house_client *client = house_connect(house, number);

	house_settle(house);
	assert_string_equal(text_string(&client->got), "OK MPD 0.23.5\n");
	text_clear(&client->got);
	return client;
}

#endif

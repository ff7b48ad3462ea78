/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_commands.c - the real commands on a real queue and player: whatever is
 * asked, the queue stays whole and the answer is clean. The music folder does
 * not exist, so that nothing depends on the machine. */
#include "daemon/library/song.h"
#include "daemon/player/player.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "daemon/work/work.h"
#include "tests/unit/server/paper_engine.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

enum { SONGS = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sd_event *loop;
static struct work *work;
static struct play_queue *queue;
static struct player *player;
static struct server *server;
static struct song *songs[SONGS];
static struct engine engine;
static uint64_t last_stream;

static void
check(int condition)
{
	if (!condition)
		abort();
}

/* An engine that never gets anything ready. */
static uint64_t
open_song(void *context, const struct song *song, int64_t start_ns)
{
	(void)context;
	(void)song;
	check(start_ns >= 0);
	return ++last_stream;
}

static void
take_stream(void *context, uint64_t stream)
{
	(void)context;
	(void)stream;
}

static void
follow(void *context, uint64_t stream, uint64_t next)
{
	(void)context;
	(void)stream;
	(void)next;
}

static void
stop(void *context)
{
	(void)context;
}

static void
pause_music(void *context, bool paused)
{
	(void)context;
	(void)paused;
}

static void
set_volume(void *context, unsigned percent)
{
	(void)context;
	check(percent <= 100);
}

static int64_t
elapsed(void *context, uint64_t stream)
{
	(void)context;
	(void)stream;
	return -1;
}

static uint32_t
random_below(void *context, uint32_t below)
{
	(void)context;
	check(below > 0);
	return below / 2;
}

static void
changed(void *context, unsigned changes)
{
	(void)context;
	if (server != NULL && (changes & PLAYER_CHANGE_QUEUE) != 0)
		server_idle(server, IDLE_PLAYLIST);
}

static const struct player_ops ops = {
	.open = open_song,
	.release = take_stream,
	.play = take_stream,
	.follow = follow,
	.stop = stop,
	.pause = pause_music,
	.set_volume = set_volume,
	.elapsed = elapsed,
	.random = random_below,
	.changed = changed,
};

static int
on_work(struct sd_event_source *source, int fd, uint32_t events, void *context)
{
	(void)source;
	(void)fd;
	(void)events;
	(void)context;
	work_dispatch(work);
	return 0;
}

/* All commands but the one that ends the loop. */
static struct command_table
table_without_kill(void)
{
	static struct command commands[256];
	struct command_table table = {commands, 0};
	size_t i;

	check(command_table_all.count <= 256);
	for (i = 0; i < command_table_all.count; i++)
		if (strcmp(command_table_all.commands[i].name, "kill") != 0)
			commands[table.count++] = command_table_all.commands[i];
	return table;
}

static void
make_songs(void)
{
	int i;

	for (i = 0; i < SONGS; i++) {
		struct song_builder *builder = song_builder_create("a/b.flac");

		check(builder != NULL);
		song_builder_tag(builder, TAG_TITLE, "T", 1);
		songs[i] = song_builder_finish(builder);
		check(songs[i] != NULL);
	}
}

static void
set_up(void)
{
	static struct command_table table;
	const struct server_config config = {
		.max_clients = 4,
		.music = {"/nowhere", true},
	};
	struct server_links links = {.engine = &engine};

	table = table_without_kill();
	make_songs();
	engine.output.driver = "paper";
	engine.output.error = "";
	check(sd_event_new(&loop) >= 0);
	check(work_create(NULL, &work) == 0);
	check(sd_event_add_io(loop, NULL, work_event_fd(work), POLLIN, on_work,
			      NULL) >= 0);
	queue = play_queue_create();
	check(queue != NULL);
	player = player_create(queue, &ops, NULL);
	check(player != NULL);
	links.loop = loop;
	links.work = work;
	links.player = player;
	links.queue = queue;
	check(server_create_deaf(&config, &links, &server) == 0);
	server->table = &table;
}

/* The same beginning for each input. */
static void
start_over(void)
{
	uint32_t id;
	int i;

	player_stop(player);
	player_set_repeat(player, false);
	player_set_random(player, false);
	player_set_single(player, PLAYER_OFF);
	player_set_consume(player, PLAYER_OFF);
	player_clear_error(player);
	play_queue_clear(queue);
	for (i = 0; i < SONGS; i++)
		check(play_queue_insert(queue, (uint32_t)i, songs[i],
					(uint32_t)i + 1, &id) == 0);
	player_queue_changed(player);
}

static void
settle(void)
{
	struct work_stats stats;

	do {
		while (sd_event_run(loop, 0) > 0)
			;
		work_get_stats(work, &stats);
		if (stats.busy + stats.queued > 0)
			check(sd_event_run(loop, UINT64_MAX) >= 0);
	} while (stats.busy + stats.queued > 0);
	while (sd_event_run(loop, 0) > 0)
		;
}

static void
check_queue(void)
{
	const uint32_t length = play_queue_length(queue);
	struct player_status status;
	uint32_t i;

	for (i = 0; i < length; i++)
		check(play_queue_find(queue, play_queue_at(queue, i)->id) == i);
	player_get_status(player, &status);
	check(status.song < (int64_t)length);
	check(status.next_song < (int64_t)length);
}

static void
check_answer(const struct text *answer)
{
	const char *line = text_string(answer);
	const char *end;

	check(strlen(line) == answer->length);
	for (; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		check(end != NULL && end - line < 4096);
		check(utf8_valid(line, (size_t)(end - line)));
	}
}

static void
receive(int fd, struct text *answer)
{
	char bytes[2048];
	ssize_t got;

	while ((got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		text_add_bytes(answer, bytes, (size_t)got);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text answer = {0};
	int pair[2];

	if (server == NULL)
		set_up();
	start_over();
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
			 pair) == 0);
	server_welcome(server, pair[1], 0, true);
	while (size > 0) {
		const ssize_t sent = send(pair[0], data, size, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN)
			break;
		data += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
		settle();
		receive(pair[0], &answer);
	}
	settle();
	receive(pair[0], &answer);
	check_answer(&answer);
	check_queue();
	close(pair[0]);
	settle();
	check(server->session_count == 0);
	text_finish(&answer);
	return 0;
}

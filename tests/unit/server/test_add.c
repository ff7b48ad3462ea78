/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adding: files of the machine by who asks, and more songs than one piece. */
#include "tests/kit/folder.h"
#include "tests/unit/server/house.h"

static struct house house;
static char outside[64];

static int
set_up(void **state)
{
	(void)state;
	house_init(&house);
	strcpy(outside, "/tmp/rotary-outside-XXXXXX");
	assert_non_null(mkdtemp(outside));
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	house_finish(&house);
	folder_remove(outside);
	return 0;
}

static void
write_outside(const char *name, mode_t mode)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", outside, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* The answer to "COMMAND OUTSIDE/NAME"; scheme goes before the path. */
static const char *
ask_outside(struct house_client *client, const char *command,
	    const char *scheme, const char *name)
{
	char line[256];

	snprintf(line, sizeof(line), "%s \"%s%s/%s\"\n", command, scheme,
		 outside, name);
	return house_ask(&house, client, line);
}

static struct house_client *
connect_as(int number, uid_t uid)
{
	struct house_client *client = &house.clients[number];
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX,
				    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				    0, pair),
			 0);
	server_welcome(house.server, pair[1], uid, true);
	client->fd = pair[0];
	house_settle(&house);
	return client;
}

static void
test_files_of_the_machine(void **state)
{
	struct house_client *client = house_client(&house, 0);
	char uri[128];

	(void)state;
	write_outside("a.flac", 0600);
	write_outside("b c.flac", 0600);
	write_outside("notes.txt", 0600);
	assert_string_equal(ask_outside(client, "add", "", "a.flac"), "OK\n");
	assert_string_equal(
		ask_outside(client, "addid", "file://", "b%20c.flac"),
		"Id: 2\nOK\n");
	assert_string_equal(ask_outside(client, "add", "", "notes.txt"),
			    "ACK [50@0] {add} No such directory\n");
	assert_string_equal(ask_outside(client, "addid", "", "gone.flac"),
			    "ACK [50@0] {addid} No such song\n");
	snprintf(uri, sizeof(uri), "%s/b c.flac", outside);
	assert_string_equal(song_uri(play_queue_at(house.queue, 1)->song), uri);
	assert_non_null(strstr(ask_outside(client, "lsinfo", "", "a.flac"),
			       "Last-Modified: "));
}

/* Whoever cannot read a file may not have it read by us. */
static void
test_files_of_others(void **state)
{
	struct house_client *client = connect_as(0, getuid() + 12345);

	(void)state;
	write_outside("mine.flac", 0600);
	write_outside("open.flac", 0644);
	assert_int_equal(chmod(outside, 0755), 0);
	assert_string_equal(ask_outside(client, "add", "", "mine.flac"),
			    "ACK [4@0] {add} Access denied\n");
	assert_string_equal(ask_outside(client, "add", "file://", "mine.flac"),
			    "ACK [4@0] {add} Access denied\n");
	assert_string_equal(ask_outside(client, "add", "", "open.flac"),
			    "OK\n");
	assert_int_equal(chmod(outside, 0700), 0);
	assert_string_equal(ask_outside(client, "add", "", "open.flac"),
			    "ACK [4@0] {add} Access denied\n");
	assert_int_equal(play_queue_length(house.queue), 1);
}

/* More songs than a batch of a walk holds, in the right order, told once. */
static void
test_many_songs(void **state)
{
	struct house_client *client = house_client(&house, 0);
	char name[64];
	uint32_t i;
	int folder, song;

	(void)state;
	for (folder = 0; folder < 3; folder++) {
		snprintf(name, sizeof(name), "f%d", folder);
		house_mkdir(&house, name);
		for (song = 0; song < 150; song++) {
			snprintf(name, sizeof(name), "f%d/%03d.flac", folder,
				 song);
			house_write(&house, name, "x", 1);
		}
	}
	house_add_songs(&house, 2);
	assert_string_equal(house_ask(&house, client, "add \"\" 1\n"), "OK\n");
	assert_int_equal(play_queue_length(house.queue), 452);
	for (i = 0; i < 450; i++) {
		snprintf(name, sizeof(name), "f%u/%03u.flac", i / 150, i % 150);
		assert_string_equal(
			song_uri(play_queue_at(house.queue, i + 1)->song),
			name);
	}
	assert_string_equal(song_uri(play_queue_at(house.queue, 451)->song),
			    "song-2.flac");
}

/* What does not fit is not added in part. */
static void
test_full_queue(void **state)
{
	struct house_client *client = house_client(&house, 0);
	struct song *song;
	uint32_t id;

	(void)state;
	house_write(&house, "a.flac", "x", 1);
	house_write(&house, "b.flac", "x", 1);
	house_add_songs(&house, 1);
	song = song_ref(play_queue_at(house.queue, 0)->song);
	while (play_queue_length(house.queue) < QUEUE_SONGS_MAX - 1)
		assert_int_equal(
			play_queue_insert(house.queue,
					  play_queue_length(house.queue), song,
					  0, &id),
			0);
	song_unref(song);
	assert_string_equal(house_ask(&house, client, "add /\n"),
			    "ACK [51@0] {add} Playlist is too large\n");
	assert_int_equal(play_queue_length(house.queue), QUEUE_SONGS_MAX - 1);
	assert_string_equal(house_ask(&house, client, "add a.flac\n"), "OK\n");
	assert_string_equal(house_ask(&house, client, "add a.flac\n"),
			    "ACK [51@0] {add} Playlist is too large\n");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_files_of_the_machine),
		CASE(test_files_of_others),
		CASE(test_many_songs),
		CASE(test_full_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/server/house.h"

static struct house house;

static int
set_up(void **state)
{
	(void)state;
	house_init(&house);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	house_finish(&house);
	return 0;
}

/* The server's end of the client that came last. */
static struct session *
last_session(void)
{
	assert_false(list_empty(&house.server->sessions));
	return list_entry(house.server->sessions.prev, struct session, link);
}

/* By hand: a sanitizer looks at the whole rest in each strstr() or memmem(). */
static size_t
count_of(const char *text, const char *part)
{
	const size_t length = strlen(part);
	size_t count = 0;

	for (; *text != '\0'; text++)
		if (*text == *part && strncmp(text, part, length) == 0)
			count++;
	return count;
}

static bool
ends_with(const struct text *text, const char *end)
{
	const size_t length = strlen(end);

	return text->length >= length &&
	       strcmp(text->bytes + text->length - length, end) == 0;
}

/* A client that does not read costs little, and holds up nobody. */
static void
test_answers_are_made_as_they_are_read(void **state)
{
	struct house_client *slow = house_client(&house, 0);
	const struct session *session = last_session();
	struct house_client *other = house_client(&house, 1);

	(void)state;
	house_add_songs(&house, 20000);
	slow->deaf = true;
	house_send(&house, slow, "playlistinfo\nplaylist\nping\n");
	house_settle(&house);
	assert_in_range(session->out.length, 1, SESSION_OUT_MAX);
	assert_in_range(session->out.capacity, 1, 2 * SESSION_OUT_MAX);
	assert_string_equal(house_ask(&house, other, "ping\n"), "OK\n");
	/* What is being told was frozen when it was asked for. */
	assert_string_equal(house_ask(&house, other, "clear\n"), "OK\n");
	slow->deaf = false;
	house_settle(&house);
	assert_int_equal(count_of(slow->got.bytes, "file: song-"), 20000);
	assert_int_equal(count_of(slow->got.bytes, "Pos: 19999\n"), 1);
	assert_true(
		ends_with(&slow->got, "Pos: 19999\nId: 20000\nOK\nOK\nOK\n"));
	assert_in_range(session->out.capacity, 0, SESSION_OUT_MAX);
}

static void
test_who_does_not_read_is_let_go(void **state)
{
	struct house_client *slow = house_client(&house, 0);

	(void)state;
	house.server->stall_ns = NS_PER_MS;
	house_add_songs(&house, 20000);
	slow->deaf = true;
	house_send(&house, slow, "playlistinfo\n");
	while (house.server->session_count > 0)
		assert_true(sd_event_run(house.loop, UINT64_MAX) >= 0);
	slow->deaf = false;
	house_settle(&house);
	assert_true(slow->closed);
	/* Who has nothing to read may stay as long as it likes. */
	slow = house_client(&house, 1);
	assert_string_equal(house_ask(&house, slow, "ping\n"), "OK\n");
	assert_false(last_session()->stalled);
}

static void
test_many_requests_in_one_go(void **state)
{
	struct house_client *client = house_client(&house, 0);
	struct text bytes = {0};
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		text_add(&bytes, "ping\n");
	house_ask(&house, client, bytes.bytes);
	assert_int_equal(client->got.length, 20000 * 3);
	assert_int_equal(count_of(client->got.bytes, "OK\n"), 20000);
	text_finish(&bytes);
}

static void
test_length_of_a_line(void **state)
{
	struct house_client *client = house_client(&house, 0);
	struct text bytes = {0};

	(void)state;
	text_add(&bytes, "ping");
	while (bytes.length < LINE_BYTES_MAX - 1)
		text_add_char(&bytes, ' ');
	text_add_char(&bytes, '\n');
	assert_string_equal(house_ask(&house, client, bytes.bytes), "OK\n");
	text_clear(&bytes);
	text_add(&bytes, "ping");
	while (bytes.length < LINE_BYTES_MAX)
		text_add_char(&bytes, ' ');
	text_add_char(&bytes, '\n');
	assert_string_equal(house_ask(&house, client, bytes.bytes), "");
	assert_true(client->closed);
	text_finish(&bytes);
}

/* n commands of 8 bytes with their NULs in a list that is not ended. */
static void
send_list(struct house_client *client, size_t n)
{
	struct text bytes = {0};

	text_add(&bytes, "command_list_begin\n");
	while (n-- > 0)
		text_add(&bytes, "ping   \n");
	house_send_bytes(&house, client, bytes.bytes, bytes.length);
	text_finish(&bytes);
}

static void
test_length_of_a_list(void **state)
{
	/* "ping" is kept without its blanks. */
	const size_t most = SESSION_LIST_MAX / 5;
	struct house_client *client = house_client(&house, 0);

	(void)state;
	send_list(client, most);
	house_settle(&house);
	assert_false(client->closed);
	assert_int_equal(house.server->list_bytes, most * 5);
	assert_string_equal(house_ask(&house, client, "command_list_end\n"),
			    "OK\n");
	assert_int_equal(house.server->list_bytes, 0);
	send_list(client, most + 1);
	house_settle(&house);
	assert_true(client->closed);
	assert_int_equal(client->got.length, strlen("OK\n"));
	assert_int_equal(house.server->list_bytes, 0);
}

static void
test_length_of_all_lists(void **state)
{
	struct house_client *client = house_client(&house, 0);

	(void)state;
	house.server->list_bytes = SESSION_LISTS_MAX - 500;
	send_list(client, 101);
	house_settle(&house);
	assert_true(client->closed);
	assert_int_equal(house.server->list_bytes, SESSION_LISTS_MAX - 500);
	client = house_client(&house, 1);
	send_list(client, 100);
	house_settle(&house);
	assert_false(client->closed);
	house_hang_up(client);
	house_settle(&house);
	assert_int_equal(house.server->list_bytes, SESSION_LISTS_MAX - 500);
}

static void
test_number_of_clients(void **state)
{
	char bytes[128] = "";
	int pair[2], i;

	(void)state;
	for (i = 0; i < HOUSE_CLIENTS; i++)
		house_client(&house, i);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	server_welcome(house.server, pair[1], getuid(), true);
	assert_in_range(recv(pair[0], bytes, sizeof(bytes) - 1, 0), 1, 127);
	assert_string_equal(bytes, "ACK [52@0] {} too many clients\n");
	assert_int_equal(recv(pair[0], bytes, sizeof(bytes), 0), 0);
	close(pair[0]);
	/* A place becomes free. */
	house_hang_up(&house.clients[3]);
	house_settle(&house);
	house_client(&house, 3);
	assert_int_equal(house.server->session_count, HOUSE_CLIENTS);
}

static void
test_half_closed(void **state)
{
	struct house_client *client = house_client(&house, 0);

	(void)state;
	house_add_songs(&house, 3000);
	house_send(&house, client, "setvol 7\nplaylistinfo\nping\npi");
	assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
	house_settle(&house);
	assert_int_equal(count_of(client->got.bytes, "file: song-"), 3000);
	assert_true(ends_with(&client->got, "OK\nOK\n"));
	assert_true(client->closed);
	assert_int_equal(house.server->session_count, 0);
}

/* What was sent before the client went is done, if it has not to wait. */
static void
test_hung_up(void **state)
{
	struct house_client *client = house_client(&house, 0);
	struct player_status status;
	int i;

	(void)state;
	house_add_songs(&house, 1000);
	for (i = 0; i < 3000; i++)
		house_send(&house, client, "volume -1\n");
	house_send(&house, client, "setvol 42\n");
	house_hang_up(client);
	house_settle(&house);
	assert_int_equal(house.server->session_count, 0);
	player_get_status(house.player, &status);
	assert_int_equal(status.volume, 42);
	client = house_client(&house, 1);
	client->deaf = true;
	house_send(&house, client, "playlistinfo\nplaylistinfo\nplay 0\n");
	sd_event_run(house.loop, 0);
	house_hang_up(client);
	house_settle(&house);
	assert_int_equal(house.server->session_count, 0);
}

/* Nobody's end of a pair reads; the other direction is open. */
static void
test_deaf_ears(void **state)
{
	struct house_client *client = house_client(&house, 0);

	(void)state;
	assert_int_equal(shutdown(client->fd, SHUT_RD), 0);
	house_send(&house, client, "ping\n");
	house_settle(&house);
	assert_int_equal(house.server->session_count, 0);
}

static void
test_remote_client(void **state)
{
	struct house_client *client = &house.clients[0];
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX,
				    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				    0, pair),
			 0);
	server_welcome(house.server, pair[1], (uid_t)-1, false);
	client->fd = pair[0];
	house_settle(&house);
	assert_string_equal(house_ask(&house, client, "config\n"),
			    "ACK [4@0] {config} you don't have permission for "
			    "\"config\"\n");
	assert_string_equal(house_ask(&house, client, "notcommands\n"),
			    "command: config\ncommand: kill\nOK\n");
	assert_null(strstr(house_ask(&house, client, "commands\n"), "config"));
	assert_string_equal(house_ask(&house, client, "urlhandlers\n"), "OK\n");
	assert_string_equal(house_ask(&house, client, "add /etc/passwd\n"),
			    "ACK [4@0] {add} Access denied\n");
	assert_string_equal(
		house_ask(&house, client, "lsinfo file:///etc/passwd\n"),
		"ACK [4@0] {lsinfo} Access denied\n");
}

static void
test_kill(void **state)
{
	struct house_client *client = house_client(&house, 0);
	int code = -1;

	(void)state;
	house_send(&house, client, "kill\n");
	assert_int_equal(sd_event_loop(house.loop), 0);
	assert_int_equal(sd_event_get_exit_code(house.loop, &code), 0);
	assert_int_equal(code, 0);
}

static void
test_unread_messages(void **state)
{
	struct house_client *from = house_client(&house, 0);
	struct house_client *to = house_client(&house, 1);
	char line[32];
	int i;

	(void)state;
	for (i = 0; i < SESSION_CHANNELS_MAX; i++) {
		snprintf(line, sizeof(line), "subscribe c%d\n", i);
		assert_string_equal(house_ask(&house, to, line), "OK\n");
	}
	assert_string_equal(
		house_ask(&house, to, "subscribe more\n"),
		"ACK [56@0] {subscribe} subscription list is full\n");
	for (i = 0; i < SESSION_MESSAGES_MAX; i++) {
		snprintf(line, sizeof(line), "sendmessage c0 m%d\n", i);
		assert_string_equal(house_ask(&house, from, line), "OK\n");
	}
	assert_string_equal(
		house_ask(&house, from, "sendmessage c0 more\n"),
		"ACK [51@0] {sendmessage} too many unread messages\n");
	assert_int_equal(
		count_of(house_ask(&house, to, "readmessages\n"), "message: m"),
		SESSION_MESSAGES_MAX);
	assert_string_equal(house_ask(&house, from, "sendmessage c0 more\n"),
			    "OK\n");
}

/* All commands are found, and only by their names. */
static void
test_table(void **state)
{
	const struct command_table *table = &command_table_all;
	size_t i;

	(void)state;
	for (i = 0; i < table->count; i++) {
		const struct command *command = &table->commands[i];

		if (i > 0)
			assert_true(strcmp(command[-1].name, command->name) <
				    0);
		assert_ptr_equal(command_find(table, command->name), command);
		assert_true(command->max == -1 || command->min <= command->max);
	}
	assert_null(command_find(table, ""));
	assert_null(command_find(table, "statu"));
	assert_null(command_find(table, "statuss"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_answers_are_made_as_they_are_read),
		CASE(test_who_does_not_read_is_let_go),
		CASE(test_many_requests_in_one_go),
		CASE(test_length_of_a_line),
		CASE(test_length_of_a_list),
		CASE(test_length_of_all_lists),
		CASE(test_number_of_clients),
		CASE(test_half_closed),
		CASE(test_hung_up),
		CASE(test_deaf_ears),
		CASE(test_remote_client),
		CASE(test_kill),
		CASE(test_unread_messages),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

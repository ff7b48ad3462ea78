/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_client.c - the client against a server that follows a script: what it
 * must receive, and what it answers, in pieces of any size. */
#include "lib/client/client.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static const int64_t PATIENCE_NS = 30 * NS_PER_S;
enum { PATH_BYTES = 108, HEARD_BYTES = 64 * 1024 };

/* Said at once; then for each line that comes, the next answer. */
struct script {
	const char *greeting;
	const char *answers[8]; /* NULL ends: the server hangs up */
	size_t piece;           /* bytes per write; 0: all at once */
	bool stays; /* after the last answer, until the client goes */
};

static char folder[] = "/tmp/rotary-client-XXXXXX";
static char path[PATH_BYTES];
static int listening = -1;
static struct thread server;
static struct script script;
static char heard[HEARD_BYTES]; /* all that the client sent */
static struct text message;
static struct client *client;

static int
set_up_group(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/socket", folder);
	return 0;
}

static int
tear_down_group(void **state)
{
	(void)state;
	text_finish(&message);
	return rmdir(folder);
}

static void
say(int fd, const char *bytes)
{
	size_t length = strlen(bytes);

	while (length > 0) {
		const size_t piece = script.piece > 0 && script.piece < length
					     ? script.piece
					     : length;

		if (send(fd, bytes, piece, MSG_NOSIGNAL) != (ssize_t)piece)
			return;
		bytes += piece;
		length -= piece;
	}
}

/* One line more in heard; false at the end. */
static bool
hear_line(int fd)
{
	size_t length = strlen(heard);

	while (length < sizeof(heard) - 1) {
		if (read(fd, heard + length, 1) != 1)
			return false;
		if (heard[length++] == '\n')
			return true;
	}
	return false;
}

static void *
serve(void *argument)
{
	const int fd = accept(listening, NULL, NULL);
	size_t i;

	(void)argument;
	if (fd < 0)
		return NULL;
	say(fd, script.greeting);
	for (i = 0; script.answers[i] != NULL && hear_line(fd); i++)
		say(fd, script.answers[i]);
	while (script.stays && hear_line(fd))
		;
	close(fd);
	return NULL;
}

static void
start_server(void)
{
	const struct thread_spec spec = {.name = "server", .main = serve};

	memset(heard, 0, sizeof(heard));
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(thread_start(&server, &spec), 0);
}

static void
listen_on_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, path);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(
		bind(listening, (struct sockaddr *)&address, sizeof(address)),
		0);
}

static int
connect_to_script(struct script new_script)
{
	script = new_script;
	listen_on_socket();
	start_server();
	return client_connect(path, PATIENCE_NS, &client, &message);
}

static int
tear_down(void **state)
{
	(void)state;
	client_close(client);
	client = NULL;
	thread_join(&server);
	if (listening >= 0)
		close(listening);
	listening = -1;
	unlink(path);
	return 0;
}

static void
test_answers(void **state)
{
	static const size_t PIECES[] = {0, 1, 3, 7};
	const char *name = NULL, *value = NULL;
	size_t i;

	for (i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++) {
		assert_int_equal(
			connect_to_script((struct script){
				.greeting = "OK MPD 0.23.5\n",
				.answers = {"volume: 50\nTitle: a: b\nx: \n"
					    "list_OK\nOK\n",
					    "OK\n"},
				.piece = PIECES[i]}),
			0);
		assert_string_equal(client_version(client), "0.23.5");
		assert_string_equal(client_where(client), path);
		assert_int_equal(client_send_line(client, "status"), 0);
		assert_int_equal(client_read_pair(client, &name, &value), 1);
		assert_string_equal(name, "volume");
		assert_string_equal(value, "50");
		assert_int_equal(client_read_pair(client, &name, &value), 1);
		assert_string_equal(name, "Title");
		assert_string_equal(value, "a: b");
		assert_int_equal(client_read_pair(client, &name, &value), 1);
		assert_string_equal(value, "");
		assert_int_equal(client_read_pair(client, &name, &value), 0);
		assert_int_equal(client_send_line(client, "ping"), 0);
		assert_int_equal(client_finish(client), 0);
		tear_down(state);
		assert_string_equal(heard, "status\nping\n");
	}
}

static void
test_quotes(void **state)
{
	static const char *const ARGUMENTS[] = {"add", "a \"b\"\\c", "", "é"};
	static const char *const BAD[] = {"add", "a\nclear"};
	static const char EXPECTED[] =
		"add \"a \\\"b\\\"\\\\c\" \"\" \"é\"\nxxx";
	static char line[9000];

	assert_int_equal(
		connect_to_script((struct script){.greeting = "OK MPD 0.24.0\n",
						  .answers = {"OK\n", "OK\n"}}),
		0);
	assert_int_equal(client_send(client, BAD, 2), -EINVAL);
	memset(line, 'x', sizeof(line));
	line[8191] = '\0';
	assert_int_equal(client_send_line(client, line), -EINVAL);
	/* A refused line has not been sent, and the next one works. */
	assert_int_equal(client_send(client, ARGUMENTS, 4), 0);
	assert_int_equal(client_finish(client), 0);
	line[8190] = '\0';
	assert_int_equal(client_send_line(client, line), 0);
	assert_int_equal(client_finish(client), 0);
	tear_down(state);
	assert_int_equal(strncmp(heard, EXPECTED, sizeof(EXPECTED) - 1), 0);
	assert_int_equal(strlen(heard), sizeof(EXPECTED) - 1 - 3 + 8190 + 1);
}

static void
test_refused(void **state)
{
	(void)state;
	assert_int_equal(
		connect_to_script((struct script){
			.greeting = "OK MPD 0.24.0\n",
			.answers = {"ACK [50@0] {play} No such song\n",
				    "ACK [5@0] {} unknown command \"x\"\n",
				    "OK\n", "ACK what\n"}}),
		0);
	assert_int_equal(client_send_line(client, "play 7"), 0);
	assert_int_equal(client_finish(client), -EPROTO);
	assert_int_equal(client_ack_code(client), 50);
	assert_string_equal(client_error(client), "No such song");
	assert_int_equal(client_send_line(client, "x"), 0);
	assert_int_equal(client_finish(client), -EPROTO);
	assert_int_equal(client_ack_code(client), 5);
	assert_string_equal(client_error(client), "unknown command \"x\"");
	/* The connection is as good as before. */
	assert_int_equal(client_send_line(client, "ping"), 0);
	assert_int_equal(client_finish(client), 0);
	assert_int_equal(client_send_line(client, "ping"), 0);
	assert_int_equal(client_finish(client), -EBADMSG);
	/* After this one it is not. */
	assert_int_equal(client_send_line(client, "ping"), -EBADMSG);
}

static void
test_hangs_up(void **state)
{
	const char *name, *value;

	(void)state;
	assert_int_equal(connect_to_script((struct script){
				 .greeting = "OK MPD 0.24.0\n",
				 .answers = {"volume: 50\nTit"}}),
			 0);
	assert_int_equal(client_send_line(client, "status"), 0);
	assert_int_equal(client_read_pair(client, &name, &value), 1);
	assert_int_equal(client_read_pair(client, &name, &value), -ECONNRESET);
	assert_non_null(strstr(client_error(client), path));
	assert_int_equal(client_read_pair(client, &name, &value), -ECONNRESET);
}

static void
test_bad_greetings(void **state)
{
	static const struct {
		const char *greeting;
		int result;
		const char *why;
	} CASES[] = {
		{"HTTP/1.0 400 Bad\r\n", -EBADMSG, "does not speak"},
		{"ACK [52@0] {} too many clients\n", -EPROTO,
		 "says: too many clients"},
		{"", -ECONNRESET, "closed the connection"},
		{"OK MPD", -ECONNRESET, "closed the connection"},
	};
	size_t i;

	for (i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		assert_int_equal(connect_to_script((struct script){
					 .greeting = CASES[i].greeting}),
				 CASES[i].result);
		assert_non_null(strstr(text_string(&message), CASES[i].why));
		assert_null(client);
		tear_down(state);
	}
}

/* The server says nothing: the client must give up by itself. */
static void
test_silence(void **state)
{
	const char *name, *value;

	(void)state;
	script = (struct script){.greeting = "OK MPD 0.24.0\n", .stays = true};
	listen_on_socket();
	start_server();
	assert_int_equal(
		client_connect(path, 200 * NS_PER_MS, &client, &message), 0);
	assert_int_equal(client_send_line(client, "status"), 0);
	assert_int_equal(client_read_pair(client, &name, &value), -ETIMEDOUT);
	assert_non_null(strstr(client_error(client), "does not answer"));
}

static void
test_endless_line(void **state)
{
	static char noise[2 * 1024 * 1024];

	(void)state;
	memset(noise, 'x', sizeof(noise) - 1);
	assert_int_equal(
		connect_to_script((struct script){.greeting = "OK MPD 0.24.0\n",
						  .answers = {noise}}),
		0);
	assert_int_equal(client_send_line(client, "status"), 0);
	assert_int_equal(client_finish(client), -EBADMSG);
	client_close(client);
	client = NULL;
}

static void
test_nobody_there(void **state)
{
	char missing[PATH_BYTES];

	(void)state;
	snprintf(missing, sizeof(missing), "%s/none", folder);
	assert_int_equal(
		client_connect(missing, PATIENCE_NS, &client, &message),
		-ENOENT);
	assert_non_null(strstr(text_string(&message), missing));
	assert_non_null(strstr(text_string(&message), "start it with"));
	/* A socket file whose daemon is gone. */
	listen_on_socket();
	close(listening);
	listening = -1;
	assert_int_equal(client_connect(path, PATIENCE_NS, &client, &message),
			 -ECONNREFUSED);
	assert_non_null(strstr(text_string(&message), "start it with"));
	assert_int_equal(
		client_connect("a:b:c", PATIENCE_NS, &client, &message) < 0, 1);
	assert_int_equal(
		client_connect("host:0", PATIENCE_NS, &client, &message),
		-EINVAL);
	assert_int_equal(client_connect("[::1", PATIENCE_NS, &client, &message),
			 -EINVAL);
	assert_non_null(strstr(text_string(&message), "names no daemon"));
}

static void
test_tcp(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	char where[64];

	(void)state;
	script = (struct script){.greeting = "OK MPD 0.24.0\n",
				 .answers = {"OK\n"}};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, length),
			 0);
	assert_int_equal(
		getsockname(listening, (struct sockaddr *)&address, &length),
		0);
	start_server();
	snprintf(where, sizeof(where), "127.0.0.1:%u", ntohs(address.sin_port));
	assert_int_equal(client_connect(where, PATIENCE_NS, &client, &message),
			 0);
	assert_string_equal(client_where(client), where);
	assert_int_equal(client_send_line(client, "ping"), 0);
	assert_int_equal(client_finish(client), 0);
}

/* $ROTARY_HOST, else the user's socket; MPD's variables mean another daemon. */
static void
test_default_place(void **state)
{
	char runtime[PATH_BYTES + 8];

	(void)state;
	setenv("MPD_HOST", "/nowhere/mpd", 1);
	setenv("ROTARY_HOST", path, 1);
	script = (struct script){.greeting = "OK MPD 0.24.0\n"};
	listen_on_socket();
	start_server();
	assert_int_equal(client_connect(NULL, PATIENCE_NS, &client, &message),
			 0);
	assert_string_equal(client_where(client), path);
	tear_down(state);
	unsetenv("ROTARY_HOST");
	setenv("XDG_RUNTIME_DIR", folder, 1);
	snprintf(runtime, sizeof(runtime), "%s/rotary", folder);
	assert_int_equal(mkdir(runtime, 0700), 0);
	strcat(runtime, "/socket");
	strcpy(path, runtime);
	listen_on_socket();
	start_server();
	assert_int_equal(client_connect(NULL, PATIENCE_NS, &client, &message),
			 0);
	assert_string_equal(client_where(client), runtime);
	tear_down(state);
	snprintf(runtime, sizeof(runtime), "%s/rotary", folder);
	assert_int_equal(rmdir(runtime), 0);
	snprintf(path, sizeof(path), "%s/socket", folder);
}

/* Anyone can make a folder in /tmp. */
static void
test_folder_of_others(void **state)
{
	char old_path[PATH_BYTES];

	(void)state;
	strcpy(old_path, path);
	snprintf(path, sizeof(path), "/tmp/rotary-test-%d", (int)getpid());
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	strcat(path, "/socket");
	listen_on_socket();
	assert_int_equal(client_connect(path, PATIENCE_NS, &client, &message),
			 -EPERM);
	assert_non_null(strstr(text_string(&message), "not trusted"));
	unlink(path);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	strcpy(path, old_path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_answers, tear_down),
		cmocka_unit_test_teardown(test_quotes, tear_down),
		cmocka_unit_test_teardown(test_refused, tear_down),
		cmocka_unit_test_teardown(test_hangs_up, tear_down),
		cmocka_unit_test_teardown(test_bad_greetings, tear_down),
		cmocka_unit_test_teardown(test_silence, tear_down),
		cmocka_unit_test_teardown(test_endless_line, tear_down),
		cmocka_unit_test_teardown(test_nobody_there, tear_down),
		cmocka_unit_test_teardown(test_tcp, tear_down),
		cmocka_unit_test_teardown(test_default_place, tear_down),
		cmocka_unit_test_teardown(test_folder_of_others, tear_down),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

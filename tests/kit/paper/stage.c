/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage.c - the remote's world: its daemon, its devices, its log. */
#include "tests/kit/paper/stage.h"

#include "lib/base/clock.h"

#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <umockdev.h>
#include <unistd.h>

#include <cmocka.h>

/* How long a failure takes, not how long anything should. */
enum { PATIENCE_MS = 60000, ARGUMENTS_MAX = 8 };

static void
give_up(const struct stage *stage, const char *what)
{
	print_error("waited in vain for %s; the log:\n%.*s\n", what,
		    (int)stage->log_length, stage->log_bytes);
	fail();
}

static void
put(int fd, const char *words)
{
	(void)!send(fd, words, strlen(words), MSG_NOSIGNAL);
}

/* --- the remote */

static void
run_remote(const struct stage *stage, int log)
{
	const char *arguments[ARGUMENTS_MAX] = {ROTARY_REMOTE, "--log", "debug",
						"--socket"};
	char socket_path[64];

	snprintf(socket_path, sizeof(socket_path), "%s/s", stage->folder);
	arguments[4] = socket_path;
	setenv("XDG_CONFIG_HOME", stage->folder, 1);
	setenv("STATE_DIRECTORY", stage->folder, 1);
	/* Not to outlive a test that fails. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(log, STDERR_FILENO);
	execv(ROTARY_REMOTE, (char *const *)(const void *)arguments);
	_exit(127);
}

void
stage_begin(struct stage *stage, const struct paper_device *first)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int ends[2];

	*stage =
		(struct stage){.client = -1, .folder = "/tmp/rotary-st-XXXXXX"};
	assert_non_null(mkdtemp(stage->folder));
	stage->testbed = umockdev_testbed_new();
	if (first != NULL)
		stage_add(stage, first);
	stage->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s",
		 stage->folder);
	assert_int_equal(bind(stage->listening, (struct sockaddr *)&address,
			      sizeof(address)),
			 0);
	assert_int_equal(listen(stage->listening, 4), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	stage->log = ends[0];
	stage->pid = fork();
	if (stage->pid == 0)
		run_remote(stage, ends[1]);
	close(ends[1]);
	stage_accept(stage);
}

void
stage_end(struct stage *stage)
{
	char path[64];
	int status = 0;

	kill(stage->pid, SIGTERM);
	waitpid(stage->pid, &status, 0);
	if (status != 0)
		give_up(stage, "a clean end");
	if (stage->client >= 0)
		close(stage->client);
	close(stage->listening);
	close(stage->log);
	snprintf(path, sizeof(path), "%s/s", stage->folder);
	unlink(path);
	rmdir(stage->folder);
	g_object_unref(stage->testbed);
}

/* --- the log */

/* Keeps the second half when it is full. */
static void
read_log(struct stage *stage)
{
	ssize_t got = 0;

	if (stage->log_length > sizeof(stage->log_bytes) / 2) {
		const size_t half = stage->log_length / 2;

		memmove(stage->log_bytes, stage->log_bytes + half,
			stage->log_length - half);
		stage->log_length -= half;
	}
	got = read(stage->log, stage->log_bytes + stage->log_length,
		   sizeof(stage->log_bytes) - 1 - stage->log_length);
	if (got <= 0)
		give_up(stage, "a remote that lives");
	stage->log_length += (size_t)got;
	stage->log_bytes[stage->log_length] = '\0';
}

bool
stage_logged(const struct stage *stage, const char *words)
{
	return strstr(stage->log_bytes, words) != NULL;
}

void
stage_wait_log(struct stage *stage, const char *words)
{
	struct pollfd log = {.fd = stage->log, .events = POLLIN};
	char *found = NULL;

	while ((found = strstr(stage->log_bytes, words)) == NULL) {
		if (poll(&log, 1, PATIENCE_MS) <= 0)
			give_up(stage, words);
		read_log(stage);
	}
	found += strlen(words);
	stage->log_length -= (size_t)(found - stage->log_bytes);
	memmove(stage->log_bytes, found, stage->log_length + 1);
}

/* --- devices */

void
stage_add(struct stage *stage, const struct paper_device *device)
{
	paper_device_add(stage->testbed, device);
}

void
stage_plug(struct stage *stage, const struct paper_device *device)
{
	char words[128];

	stage_add(stage, device);
	snprintf(words, sizeof(words), "%s (/dev/input/event%d) by",
		 device->name, device->number);
	stage_wait_log(stage, words);
}

void
stage_unplug(struct stage *stage, const struct paper_device *device)
{
	paper_device_remove(stage->testbed, device);
	stage_wait_log(stage, "is gone");
}

void
stage_key(struct stage *stage, const struct paper_device *device, uint16_t code,
	  int32_t value)
{
	paper_device_send(stage->testbed, device, 1, code, value);
}

/* --- the daemon's side */

void
stage_accept(struct stage *stage)
{
	struct pollfd ready = {.fd = stage->listening, .events = POLLIN};

	if (poll(&ready, 1, PATIENCE_MS) <= 0)
		give_up(stage, "a connection");
	stage->client = accept4(stage->listening, NULL, NULL, SOCK_CLOEXEC);
	stage->input_length = 0;
	put(stage->client, "OK MPD 0.24.0\n");
	stage_wait_log(stage, "connected to");
}

void
stage_hang_up(struct stage *stage)
{
	close(stage->client);
	stage->client = -1;
	stage_wait_log(stage, "is lost");
}

/* Answers line; true when it is a command. */
static bool
answer(const struct stage *stage, const char *line)
{
	if (strncmp(line, "idle ", 5) == 0)
		return false;
	if (strcmp(line, "status") == 0)
		put(stage->client, "volume: 50\nstate: play\nOK\n");
	else if (strcmp(line, "currentsong") == 0)
		put(stage->client, "file: a b/c.flac\nOK\n");
	else if (strcmp(line, "speech") == 0)
		put(stage->client, "ACK [5@0] {} unknown command\n");
	else
		put(stage->client, "OK\n");
	return strcmp(line, "status") != 0 &&
	       strcmp(line, "currentsong") != 0 &&
	       strcmp(line, "speech") != 0 && strcmp(line, "noidle") != 0 &&
	       strncmp(line, "subscribe ", 10) != 0;
}

/* The first whole line is taken out into line. */
static bool
take_line(struct stage *stage, char *line, size_t room)
{
	char *newline = memchr(stage->input, '\n', stage->input_length);
	size_t length = 0;

	if (newline == NULL)
		return false;
	length = (size_t)(newline - stage->input);
	assert_true(length < room);
	memcpy(line, stage->input, length);
	line[length] = '\0';
	stage->input_length -= length + 1;
	memmove(stage->input, newline + 1, stage->input_length);
	return true;
}

const char *
stage_try(struct stage *stage, int timeout_ms)
{
	static char line[4096];
	struct pollfd ready = {.fd = stage->client, .events = POLLIN};

	for (;;) {
		ssize_t got = 0;

		while (take_line(stage, line, sizeof(line)))
			if (answer(stage, line))
				return line;
		if (poll(&ready, 1, timeout_ms) <= 0)
			return NULL;
		got = read(stage->client, stage->input + stage->input_length,
			   sizeof(stage->input) - stage->input_length);
		if (got <= 0)
			return NULL;
		stage->input_length += (size_t)got;
	}
}

const char *
stage_next(struct stage *stage)
{
	const char *line = stage_try(stage, PATIENCE_MS);

	if (line == NULL)
		give_up(stage, "a command");
	return line;
}

void
stage_expect(struct stage *stage, const char *line)
{
	assert_string_equal(stage_next(stage), line);
}

bool
stage_drain(struct stage *stage)
{
	bool any = false;

	while (stage_try(stage, 0) != NULL)
		any = true;
	return any;
}

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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <umockdev.h>
#include <unistd.h>

#include <cmocka.h>

/* How long a failure takes, not how long anything should. */
enum { PATIENCE_MS = 60000, ARGUMENTS_MAX = 12 };

void
stage_give_up(struct stage *stage, const char *what)
{
	struct pollfd log = {.fd = stage->log, .events = POLLIN};

	while (stage->log_length < sizeof(stage->log_bytes) - 1 &&
	       poll(&log, 1, 0) > 0) {
		const ssize_t got =
			read(stage->log, stage->log_bytes + stage->log_length,
			     sizeof(stage->log_bytes) - 1 - stage->log_length);

		if (got <= 0)
			break;
		stage->log_length += (size_t)got;
	}
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

/* Clocks of its own: no test waits for time to pass. */
static void
preload_clocks(const struct stage *stage)
{
	const char *loaded = getenv("LD_PRELOAD");
	char words[512], path[64];

	snprintf(path, sizeof(path), "%s/shift", stage->folder);
	setenv("ROTARY_SHIFT", path, 1);
	snprintf(words, sizeof(words), "%s:%s", loaded != NULL ? loaded : "",
		 ROTARY_SHIFT_LIBRARY);
	setenv("LD_PRELOAD", words, 1);
}

static void
run_remote(const struct stage *stage, const char *const options[], int log)
{
	const char *arguments[ARGUMENTS_MAX + 1] = {ROTARY_REMOTE};
	sigset_t none;
	int i = 0;

	for (i = 0; options[i] != NULL && i + 1 < ARGUMENTS_MAX; i++)
		arguments[i + 1] = options[i];
	setenv("XDG_CONFIG_HOME", stage->folder, 1);
	setenv("STATE_DIRECTORY", stage->folder, 1);
	preload_clocks(stage);
	/* Whatever umockdev, or a shell in the background, has left. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	/* Not to outlive a test that fails. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	execv(ROTARY_REMOTE, (char *const *)(const void *)arguments);
	_exit(127);
}

static void
make_shift(struct stage *stage)
{
	char path[64];
	int file = -1;

	snprintf(path, sizeof(path), "%s/shift", stage->folder);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(file, 2 * sizeof(int64_t)), 0);
	stage->shift = mmap(NULL, 2 * sizeof(int64_t), PROT_READ | PROT_WRITE,
			    MAP_SHARED, file, 0);
	assert_true(stage->shift != MAP_FAILED);
	close(file);
}

static void
make_folder(struct stage *stage, const struct paper_device *first)
{
	*stage = (struct stage){.client = -1,
				.listening = -1,
				.folder = "/tmp/rotary-st-XXXXXX"};
	assert_non_null(mkdtemp(stage->folder));
	make_shift(stage);
	stage->testbed = umockdev_testbed_new();
	if (first != NULL)
		stage_add(stage, first);
}

static void
start_remote(struct stage *stage, const char *const options[])
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	stage->log = ends[0];
	stage->pid = fork();
	if (stage->pid == 0)
		run_remote(stage, options, ends[1]);
	close(ends[1]);
}

void
stage_begin_with(struct stage *stage, const struct paper_device *first,
		 const char *const options[])
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *all[ARGUMENTS_MAX] = {"--log", "debug", "--socket",
					  address.sun_path};
	int i = 0;

	make_folder(stage, first);
	stage->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s",
		 stage->folder);
	assert_int_equal(bind(stage->listening, (struct sockaddr *)&address,
			      sizeof(address)),
			 0);
	assert_int_equal(listen(stage->listening, 4), 0);
	for (i = 0; options[i] != NULL; i++)
		all[4 + i] = options[i];
	start_remote(stage, all);
	stage_accept(stage);
}

void
stage_begin(struct stage *stage, const struct paper_device *first)
{
	stage_begin_with(stage, first, (const char *const[]){NULL});
}

void
stage_run(struct stage *stage, const struct paper_device *first,
	  const char *const options[])
{
	make_folder(stage, first);
	start_remote(stage, options);
}

static void
remove_folder(struct stage *stage)
{
	char path[64];

	if (stage->client >= 0)
		close(stage->client);
	if (stage->listening >= 0)
		close(stage->listening);
	close(stage->log);
	munmap(stage->shift, 2 * sizeof(int64_t));
	snprintf(path, sizeof(path), "%s/s", stage->folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/shift", stage->folder);
	unlink(path);
	rmdir(stage->folder);
	g_object_unref(stage->testbed);
}

void
stage_end(struct stage *stage)
{
	int status = 0;

	kill(stage->pid, SIGTERM);
	waitpid(stage->pid, &status, 0);
	if (status != 0)
		stage_give_up(stage, "a clean end");
	remove_folder(stage);
}

int
stage_wait_end(struct stage *stage)
{
	int status = 0;

	waitpid(stage->pid, &status, 0);
	remove_folder(stage);
	return status;
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
		stage_give_up(stage, "a remote that lives");
	stage->log_length += (size_t)got;
	stage->log_bytes[stage->log_length] = '\0';
}

bool
stage_logged(const struct stage *stage, const char *words)
{
	return strstr(stage->log_bytes, words) != NULL;
}

const char *
stage_log_line(struct stage *stage)
{
	static char line[1024];
	struct pollfd log = {.fd = stage->log, .events = POLLIN};
	char *newline = NULL;
	size_t length = 0;

	while ((newline = strchr(stage->log_bytes, '\n')) == NULL) {
		if (poll(&log, 1, PATIENCE_MS) <= 0)
			stage_give_up(stage, "a line of its log");
		read_log(stage);
	}
	length = (size_t)(newline - stage->log_bytes);
	assert_true(length < sizeof(line));
	memcpy(line, stage->log_bytes, length);
	line[length] = '\0';
	stage->log_length -= length + 1;
	memmove(stage->log_bytes, newline + 1, stage->log_length + 1);
	return line;
}

void
stage_wait_log(struct stage *stage, const char *words)
{
	struct pollfd log = {.fd = stage->log, .events = POLLIN};
	char *found = NULL;

	while ((found = strstr(stage->log_bytes, words)) == NULL) {
		if (poll(&log, 1, PATIENCE_MS) <= 0)
			stage_give_up(stage, words);
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
		stage_give_up(stage, "a connection");
	stage->client = accept4(stage->listening, NULL, NULL, SOCK_CLOEXEC);
	stage->input_length = 0;
	put(stage->client, "OK MPD 0.24.0\n");
	stage_wait_log(stage, "connected to");
}

void
stage_refuse(struct stage *stage)
{
	stage->refuses = true;
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
answer(struct stage *stage, const char *line)
{
	stage->at_rest = strncmp(line, "idle ", 5) == 0;
	if (stage->at_rest)
		return false;
	if (strcmp(line, "status") == 0)
		put(stage->client, "volume: 50\nstate: play\nOK\n");
	else if (strcmp(line, "currentsong") == 0)
		put(stage->client, "file: a b/c.flac\nOK\n");
	else if (strcmp(line, "speech") == 0)
		put(stage->client, "ACK [5@0] {} unknown command\n");
	else if (stage->refuses && strcmp(line, "noidle") != 0)
		put(stage->client, "ACK [5@0] {} not today\n");
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
		stage_give_up(stage, "a command");
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

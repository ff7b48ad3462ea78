/* SPDX-License-Identifier: GPL-3.0-or-later */
/* console.h - runs whole command lines of rotary against a server that knows a
 * few answers, and keeps what was sent and printed. One thread serves; the
 * test's own calls run(). */
#ifndef ROTARY_CLI_CONSOLE_H
#define ROTARY_CLI_CONSOLE_H

#include "lib/base/thread.h"
#include "remote/cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 12, LINE_BYTES = 512, HEARD_BYTES = 8192 };

struct answer {
	const char *request;
	const char *lines; /* with OK or ACK; NULL: hang up */
};

/* A test's own answers come before these. */
static const struct answer USUAL[] = {
	{"status", "volume: 45\nrepeat: 0\nrandom: 1\nsingle: oneshot\n"
		   "consume: 0\nplaylistlength: 3\nstate: play\nsong: 1\n"
		   "songid: 8\ntime: 65:250\nelapsed: 65.250\n"
		   "duration: 250.100\naudio: 44100:16:2\nbitperfect: 1\nOK\n"},
	{"currentsong", "file: a/b.flac\nTitle: Sinnerman\n"
			"Artist: Nina Simone\nPos: 1\nId: 8\nOK\n"},
	{"playlistinfo", "file: a/a.flac\nduration: 60.9\n"
			 "file: a/b.flac\nTitle: Sinnerman\n"
			 "Artist: Nina Simone\nduration: 3725.0\n"
			 "file: http://x/y\nName: Radio X\nOK\n"},
	{NULL, NULL},
};

static char folder[] = "/tmp/rotary-cli-XXXXXX";
static char path[64];
static int listening;
static struct thread server;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct answer *answers; /* of the test; protected by lock */
static char heard[HEARD_BYTES];      /* protected by lock while run() runs */
static char *out, *err;

static inline const struct answer *
find_answer(const struct answer *list, const char *request)
{
	for (; list != NULL && list->request != NULL; list++)
		if (strcmp(list->request, request) == 0)
			return list;
	return NULL;
}

/* False: the connection is over. */
static inline bool
answer_line(FILE *stream, char *line)
{
	const struct answer *answer;

	pthread_mutex_lock(&lock);
	strncat(heard, line, sizeof(heard) - strlen(heard) - 1);
	line[strcspn(line, "\n")] = '\0';
	answer = find_answer(answers, line);
	pthread_mutex_unlock(&lock);
	if (answer == NULL)
		answer = find_answer(USUAL, line);
	if (answer != NULL && answer->lines == NULL)
		return false;
	fputs(answer != NULL ? answer->lines : "OK\n", stream);
	fflush(stream);
	return true;
}

static inline void *
serve(void *argument)
{
	FILE *stream;
	char line[LINE_BYTES];
	int fd;

	(void)argument;
	for (;;) {
		fd = accept(listening, NULL, NULL);
		if (fd < 0)
			return NULL;
		stream = fdopen(fd, "r+");
		fputs("OK MPD 0.24.0\n", stream);
		fflush(stream);
		while (fgets(line, sizeof(line), stream) != NULL &&
		       answer_line(stream, line))
			fseek(stream, 0, SEEK_CUR);
		fclose(stream);
	}
}

static inline int
set_up_group(void **state)
{
	const struct thread_spec spec = {.name = "server", .main = serve};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/socket", folder);
	strcpy(address.sun_path, path);
	unsetenv("ROTARY_HOST");
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listening, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listening, 4) < 0)
		return -1;
	return thread_start(&server, &spec);
}

static inline int
tear_down_group(void **state)
{
	(void)state;
	shutdown(listening, SHUT_RDWR);
	thread_join(&server);
	close(listening);
	free(out);
	free(err);
	unlink(path);
	return rmdir(folder);
}

/* Runs "rotary --socket PATH words", words parted by a bar. */
static inline int
run(const struct answer *own_answers, const char *words)
{
	char *argv[WORDS_MAX + 1] = {0}, *save = NULL, *copy = strdup(words);
	char program[] = "rotary", option[] = "--socket";
	size_t out_length, err_length;
	FILE *out_stream, *err_stream;
	int argc = 3, code;
	char *word;

	free(out);
	free(err);
	out_stream = open_memstream(&out, &out_length);
	err_stream = open_memstream(&err, &err_length);
	argv[0] = program;
	argv[1] = option;
	argv[2] = path;
	for (word = strtok_r(copy, "|", &save); word != NULL;
	     word = strtok_r(NULL, "|", &save)) {
		assert_true(argc < WORDS_MAX);
		argv[argc++] = word;
	}
	pthread_mutex_lock(&lock);
	answers = own_answers;
	heard[0] = '\0';
	pthread_mutex_unlock(&lock);
	code = cli_main(argc, argv, out_stream, err_stream);
	/* What was answered has been noted before. */
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	fclose(out_stream);
	fclose(err_stream);
	free(copy);
	return code;
}

#endif

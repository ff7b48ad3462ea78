/* SPDX-License-Identifier: GPL-3.0-or-later */
/* talk.c - a client of the daemon's socket for tests, polite or not.
 *
 *	talk SOCKET COMMAND...	     sends each, prints its answer
 *	talk SOCKET --raw	     sends stdin as it is, prints what comes
 *	talk SOCKET --crowd N	     N clients at once, each asks `status`
 *	talk SOCKET --deaf COMMAND   asks without end and never reads, until
 *				     the daemon hangs up; prints the bytes sent
 *
 * Exit: 0 all was answered OK; 1 an ACK; 2 no connection or hung up; 3 no
 * answer in TALK_TIMEOUT_MS (default 10,000); 4 misused. */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { OK = 0, ACK = 1, CLOSED = 2, TIMED_OUT = 3, MISUSED = 4 };
enum { CROWD_MAX = 4096 };

struct client {
	int fd;
	char memory[8192];
	size_t begin, end;
};

static int
timeout_ms(void)
{
	const char *text = getenv("TALK_TIMEOUT_MS");

	return text ? atoi(text) : 10000;
}

static int
connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof address.sun_path)
		return -1;
	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
fill(struct client *client)
{
	struct pollfd fd = {.fd = client->fd, .events = POLLIN};

	memmove(client->memory, client->memory + client->begin,
		client->end - client->begin);
	client->end -= client->begin;
	client->begin = 0;
	if (client->end == sizeof client->memory)
		return MISUSED;
	int n = poll(&fd, 1, timeout_ms());
	if (n == 0)
		return TIMED_OUT;
	ssize_t got = read(client->fd, client->memory + client->end,
			   sizeof client->memory - client->end);
	if (got <= 0)
		return CLOSED;
	client->end += (size_t)got;
	return OK;
}

/* Prints lines up to the one that ends the answer. */
static int
read_answer(struct client *client, bool quiet)
{
	for (;;) {
		char *line = client->memory + client->begin;
		char *newline = memchr(line, '\n', client->end - client->begin);
		if (!newline) {
			int r = fill(client);
			if (r)
				return r;
			continue;
		}
		*newline = '\0';
		client->begin += (size_t)(newline - line) + 1;
		if (!strcmp(line, "OK") || !strncmp(line, "OK MPD ", 7))
			return OK;
		bool refused = !strncmp(line, "ACK ", 4);
		if (!quiet || refused)
			puts(line);
		if (refused)
			return ACK;
	}
}

static int
send_all(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = send(fd, bytes, count, MSG_NOSIGNAL);
		if (n < 0)
			return CLOSED;
		bytes += n;
		count -= (size_t)n;
	}
	return OK;
}

static int
greet(struct client *client, const char *path)
{
	*client = (struct client){.fd = connect_to(path)};
	return client->fd < 0 ? CLOSED : read_answer(client, false);
}

static int
talk(const char *path, char **commands, int count)
{
	static struct client client;
	int r = greet(&client, path), worst = OK;
	bool in_list = false;

	for (int i = 0; i < count && r <= ACK; i++) {
		r = send_all(client.fd, commands[i], strlen(commands[i]));
		if (!r)
			r = send_all(client.fd, "\n", 1);
		/* A list is answered as one, at its end. */
		if (!strcmp(commands[i], "command_list_end"))
			in_list = false;
		else if (!strncmp(commands[i], "command_list_", 13))
			in_list = true;
		if (!r && !in_list)
			r = read_answer(&client, false);
		if (r > worst)
			worst = r;
	}
	return r > worst ? r : worst;
}

static int
talk_raw(const char *path)
{
	static char memory[65536];
	int fd = connect_to(path);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	size_t n = 0;

	if (fd < 0)
		return CLOSED;
	while ((n = fread(memory, 1, sizeof memory, stdin)) > 0) {
		/* Hung up on: what it said before can still be read. */
		if (send_all(fd, memory, n))
			break;
	}
	shutdown(fd, SHUT_WR);
	for (;;) {
		if (poll(&poll_fd, 1, timeout_ms()) == 0)
			return TIMED_OUT;
		ssize_t got = read(fd, memory, sizeof memory);
		if (got <= 0)
			break;
		fwrite(memory, 1, (size_t)got, stdout);
	}
	return OK;
}

static int
talk_crowd(const char *path, int count)
{
	static struct client clients[CROWD_MAX];
	int worst = OK;

	if (count < 1 || count > CROWD_MAX)
		return MISUSED;
	for (int i = 0; i < count; i++) {
		int r = greet(&clients[i], path);
		if (r)
			printf("client %d: not greeted (%d)\n", i + 1, r);
		if (r > worst)
			worst = r;
	}
	for (int i = 0; i < count && worst <= ACK; i++) {
		int r = send_all(clients[i].fd, "status\n", 7);
		if (r > worst)
			worst = r;
	}
	for (int i = 0; i < count && worst <= ACK; i++) {
		int r = read_answer(&clients[i], true);
		if (r > worst)
			worst = r;
	}
	return worst;
}

static int
talk_deaf(const char *path, const char *command)
{
	int fd = connect_to(path);
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	size_t sent = 0;

	if (fd < 0)
		return CLOSED;
	for (;;) {
		/* The daemon reads no more from us: as it should. */
		if (poll(&poll_fd, 1, timeout_ms()) == 0)
			break;
		if (send_all(fd, command, strlen(command)) ||
		    send_all(fd, "\n", 1))
			break;
		sent += strlen(command) + 1;
	}
	printf("%zu\n", sent);
	return OK;
}

int
main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr,
			"usage: %s SOCKET COMMAND... | --raw | --crowd N | "
			"--deaf COMMAND\n",
			argv[0]);
		return MISUSED;
	}
	/* Whoever waits for an answer reads it from a file. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[2], "--raw"))
		return talk_raw(argv[1]);
	if (!strcmp(argv[2], "--crowd") && argc == 4)
		return talk_crowd(argv[1], atoi(argv[3]));
	if (!strcmp(argv[2], "--deaf") && argc == 4)
		return talk_deaf(argv[1], argv[3]);
	return talk(argv[1], argv + 2, argc - 2);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relay.c - stands between a client and a daemon, and writes down each line
 * that the client sends, as it is.
 *
 *	relay LISTEN DAEMON LOG
 *
 * Any number of clients, one after the other or at once; ends with SIGTERM. */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAIRS_MAX = 16 };

struct pair {
	int client;
	int daemon;
};

static int
open_socket(const char *path, bool listens)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	if (listens ? bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
			      listen(fd, 8)
		    : connect(fd, (struct sockaddr *)&address,
			      sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool
write_all(int fd, const char *bytes, size_t count)
{
	while (count > 0) {
		const ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes += sent;
		count -= (size_t)sent;
	}
	return true;
}

/* False: that side is over. */
static bool
pass(int from, int to, FILE *log)
{
	char bytes[2048];
	const ssize_t got = read(from, bytes, sizeof(bytes));

	if (got <= 0)
		return false;
	if (log != NULL) {
		fwrite(bytes, 1, (size_t)got, log);
		fflush(log);
	}
	return write_all(to, bytes, (size_t)got);
}

static void
end(struct pair *pair)
{
	close(pair->client);
	close(pair->daemon);
	pair->client = pair->daemon = -1;
}

static void
take_client(struct pair *pairs, int listening, const char *daemon)
{
	int i = 0;
	struct pair pair = {accept(listening, NULL, NULL), -1};

	pair.daemon = open_socket(daemon, false);
	for (i = 0; i < PAIRS_MAX && pairs[i].client >= 0; i++)
		;
	if (pair.client < 0 || pair.daemon < 0 || i == PAIRS_MAX)
		end(&pair);
	else
		pairs[i] = pair;
}

static void
turn(struct pair *pairs, int listening, const char *daemon, FILE *log)
{
	struct pollfd polls[1 + 2 * PAIRS_MAX];
	int i = 0;

	polls[0] = (struct pollfd){.fd = listening, .events = POLLIN};
	for (i = 0; i < PAIRS_MAX; i++) {
		polls[1 + 2 * i] = (struct pollfd){.fd = pairs[i].client,
						   .events = POLLIN};
		polls[2 + 2 * i] = (struct pollfd){.fd = pairs[i].daemon,
						   .events = POLLIN};
	}
	if (poll(polls, 1 + 2 * PAIRS_MAX, -1) < 0)
		return;
	for (i = 0; i < PAIRS_MAX; i++) {
		const bool asked = polls[1 + 2 * i].revents != 0;
		const bool answered = polls[2 + 2 * i].revents != 0;

		if (pairs[i].client < 0)
			continue;
		if ((asked && !pass(pairs[i].client, pairs[i].daemon, log)) ||
		    (answered && !pass(pairs[i].daemon, pairs[i].client, NULL)))
			end(&pairs[i]);
	}
	if (polls[0].revents != 0)
		take_client(pairs, listening, daemon);
}

int
main(int argc, char *argv[])
{
	struct pair pairs[PAIRS_MAX];
	int listening = -1, i = 0;
	FILE *log = NULL;

	for (i = 0; i < PAIRS_MAX; i++)
		pairs[i] = (struct pair){-1, -1};
	if (argc != 4)
		return 4;
	listening = open_socket(argv[1], true);
	log = fopen(argv[3], "ae");
	if (listening < 0 || log == NULL)
		return 2;
	for (;;)
		turn(pairs, listening, argv[2], log);
}

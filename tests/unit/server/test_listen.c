/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/server/house.h"

#include <sys/resource.h>
#include <sys/un.h>

static struct house house;
static char path[128];

static int
set_up(void **state)
{
	(void)state;
	house_init(&house);
	snprintf(path, sizeof(path), "%s/run/socket", house.folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	house_finish(&house);
	return 0;
}

static int
start(const char *socket_path, struct server **ret_server,
      struct text *ret_error)
{
	const struct server_config config = {
		.socket_path = socket_path,
		.max_clients = 4,
		.music = {house.folder, true},
	};

	return server_create(&config, &house.server->links, ret_server,
			     ret_error);
}

static int
new_socket(void)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static int
try_connect(int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0
		       ? -errno
		       : 0;
}

/* Lets the loop accept, and gives what the client is told. */
static const char *
greeting_of(int fd)
{
	static char bytes[128];
	ssize_t got;

	house_settle(&house);
	got = recv(fd, bytes, sizeof(bytes) - 1, MSG_DONTWAIT);
	bytes[got > 0 ? got : 0] = '\0';
	return bytes;
}

static void
test_serves_and_removes_its_file(void **state)
{
	struct text error = {0};
	struct server *server;
	struct session *session;
	struct stat status;
	const int fd = new_socket();

	(void)state;
	assert_int_equal(start(path, &server, &error), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07007, 0);
	assert_int_equal(try_connect(fd), 0);
	assert_string_equal(greeting_of(fd), "OK MPD 0.23.5\n");
	session = list_entry(server->sessions.next, struct session, link);
	assert_int_equal(session->uid, getuid());
	assert_true(session_is_local(session));
	server_destroy(server);
	assert_int_equal(stat(path, &status), -1);
	close(fd);
}

static void
test_takes_over_a_stale_file(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct text error = {0};
	struct server *server;
	int fd = new_socket();

	(void)state;
	house_mkdir(&house, "run");
	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	close(fd);
	assert_int_equal(start(path, &server, &error), 0);
	fd = new_socket();
	assert_int_equal(try_connect(fd), 0);
	assert_string_equal(greeting_of(fd), "OK MPD 0.23.5\n");
	close(fd);
	server_destroy(server);
}

static void
test_leaves_a_living_daemon_alone(void **state)
{
	struct text error = {0};
	struct server *first, *second;
	const int fd = new_socket();

	(void)state;
	assert_int_equal(start(path, &first, &error), 0);
	assert_int_equal(error.length, 0);
	assert_int_equal(start(path, &second, &error), -EADDRINUSE);
	assert_non_null(strstr(error.bytes, "a daemon already serves"));
	assert_int_equal(try_connect(fd), 0);
	house_settle(&house);
	close(fd);
	text_finish(&error);
	server_destroy(first);
}

/* Of two daemons the one that ends later must not take the other's file. */
static void
test_removes_only_its_own_file(void **state)
{
	struct text error = {0};
	struct server *first, *second;
	struct stat status;

	(void)state;
	assert_int_equal(start(path, &first, &error), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(start(path, &second, &error), 0);
	server_destroy(first);
	assert_int_equal(stat(path, &status), 0);
	server_destroy(second);
	assert_int_equal(stat(path, &status), -1);
}

static void
assert_refused(const char *socket_path, int result, const char *part)
{
	struct text error = {0};
	struct server *server;

	assert_int_equal(start(socket_path, &server, &error), result);
	assert_non_null(strstr(text_string(&error), part));
	text_finish(&error);
}

static void
test_refuses_bad_places(void **state)
{
	char long_path[256];
	char command[256];

	(void)state;
	memset(long_path, 'x', sizeof(long_path));
	long_path[0] = '/';
	long_path[108] = '\0';
	assert_refused(long_path, -ENAMETOOLONG, "108 bytes, 107 is the most");
	assert_refused("/nowhere/at/all", -ENOENT, "/nowhere/at");
	house_mkdir(&house, "run");
	house_write(&house, "run/socket", "x", 1);
	assert_refused(path, -EEXIST, "is no socket");
	snprintf(command, sizeof(command), "rm %s && chmod 777 %s/run", path,
		 house.folder);
	assert_int_equal(system(command), 0);
	assert_refused(path, -EPERM, "everyone may write");
	if (getuid() != 0)
		return;
	snprintf(command, sizeof(command),
		 "chmod 755 %s/run && chown 12345 %s/run", house.folder,
		 house.folder);
	assert_int_equal(system(command), 0);
	assert_refused(path, -EPERM, "belongs to another user");
}

/* Out of descriptors: who comes is told, and the loop does not spin. */
static void
test_out_of_descriptors(void **state)
{
	struct text error = {0};
	struct server *server;
	struct rlimit saved, limit;
	int fds[3], highest, i;

	(void)state;
	assert_int_equal(start(path, &server, &error), 0);
	for (i = 0; i < 3; i++)
		fds[i] = new_socket();
	highest = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	assert_true(highest > fds[2]);
	close(highest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &saved), 0);
	limit = saved;
	limit.rlim_cur = (rlim_t)highest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(try_connect(fds[0]), 0);
	assert_int_equal(try_connect(fds[1]), 0);
	house_settle(&house);
	for (i = 0; i < 2; i++) {
		assert_string_equal(greeting_of(fds[i]),
				    "ACK [52@0] {} too many clients\n");
		assert_string_equal(greeting_of(fds[i]), "");
	}
	assert_int_equal(sd_event_run(house.loop, 0), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &saved), 0);
	assert_int_equal(try_connect(fds[2]), 0);
	assert_string_equal(greeting_of(fds[2]), "OK MPD 0.23.5\n");
	for (i = 0; i < 3; i++)
		close(fds[i]);
	server_destroy(server);
}

static void
test_more_clients_than_allowed(void **state)
{
	struct text error = {0};
	struct server *server;
	int fds[5], i;

	(void)state;
	assert_int_equal(start(path, &server, &error), 0);
	for (i = 0; i < 5; i++) {
		fds[i] = new_socket();
		assert_int_equal(try_connect(fds[i]), 0);
		assert_string_equal(greeting_of(fds[i]),
				    i < 4 ? "OK MPD 0.23.5\n"
					  : "ACK [52@0] {} too many clients\n");
	}
	for (i = 0; i < 5; i++)
		close(fds[i]);
	server_destroy(server);
}

/* The service manager's descriptor is used, and its file stays. The last test:
 * it gives descriptor 3 away. */
static void
test_socket_activation(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct text error = {0};
	struct server *server;
	char pid[16];
	int fd = new_socket();

	(void)state;
	house_mkdir(&house, "run");
	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(dup2(fd, 3), 3);
	close(fd);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	assert_int_equal(start("/not/used", &server, &error), 0);
	assert_null(getenv("LISTEN_FDS"));
	fd = new_socket();
	assert_int_equal(try_connect(fd), 0);
	assert_string_equal(greeting_of(fd), "OK MPD 0.23.5\n");
	close(fd);
	server_destroy(server);
	assert_int_equal(access(path, F_OK), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_serves_and_removes_its_file),
		CASE(test_takes_over_a_stale_file),
		CASE(test_leaves_a_living_daemon_alone),
		CASE(test_removes_only_its_own_file),
		CASE(test_refuses_bad_places),
		CASE(test_out_of_descriptors),
		CASE(test_more_clients_than_allowed),
		CASE(test_socket_activation),
	};

	/* Keeps the first descriptor that the service manager gives. */
	assert_int_equal(dup2(STDIN_FILENO, 3), 3);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

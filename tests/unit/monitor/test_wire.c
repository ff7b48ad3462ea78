/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_wire.c - the conversation with a daemon that is this test: what is
 * written in which order, and what becomes of a daemon that is late, lies or
 * goes. Time is a number here. */
#include "lib/base/clock.h"
#include "remote/monitor/wire.h"
#include "tests/unit/monitor/listening.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int daemon_side = -1;
static struct wire *wire;
static int64_t now_ns;
static char refused[128], message[128];

static void
on_message(void *context, const char *words)
{
	(void)context;
	snprintf(message, sizeof(message), "%s", words);
}

static void
on_refused(void *context, const char *line)
{
	(void)context;
	snprintf(refused, sizeof(refused), "%s", line);
}

static const struct wire_hooks hooks = {.message = on_message,
					.refused = on_refused};

/* What the wire has written, whole. */
static void
expect(const char *words)
{
	char got[1024] = {0};
	const ssize_t count = recv(daemon_side, got, sizeof(got) - 1, 0);

	assert_true(count >= 0);
	assert_string_equal(got, words);
}

static void
tell(const char *words)
{
	assert_int_equal(send(daemon_side, words, strlen(words), 0),
			 strlen(words));
	wire_handle(wire, now_ns);
	wire_flush(wire, now_ns);
}

static void
take_connection(void)
{
	wire_tick(wire, now_ns);
	daemon_side = accept(listening, NULL, NULL);
	assert_true(daemon_side >= 0);
}

#define IDLE "idle player mixer options playlist message\n"

static int
begin(void **state)
{
	(void)state;
	now_ns = 1000 * NS_PER_S;
	refused[0] = message[0] = '\0';
	assert_int_equal(wire_create(path, &hooks, &wire), 0);
	take_connection();
	tell("OK MPD 0.24.0\n");
	expect("subscribe remote\nstatus\ncurrentsong\nspeech\n" IDLE);
	tell("OK\nvolume: 30\nstate: pause\nrandom: 1\nOK\nfile: a\nOK\n"
	     "ACK [5@0] {} unknown command\n");
	return 0;
}

static int
end(void **state)
{
	(void)state;
	wire_destroy(wire);
	close(daemon_side);
	return 0;
}

static void
test_state_is_asked(void **state)
{
	(void)state;
	assert_true(wire_state(wire)->known);
	assert_int_equal(wire_state(wire)->volume, 30);
	assert_int_equal(wire_state(wire)->play, WIRE_PAUSED);
	assert_true(wire_state(wire)->random);
	assert_string_equal(wire_state(wire)->song, "a");
	tell("changed: mixer\nOK\n");
	expect("status\ncurrentsong\n" IDLE);
	tell("volume: 31\nstate: stop\nOK\nOK\n");
	assert_int_equal(wire_state(wire)->volume, 31);
	assert_string_equal(wire_state(wire)->song, "");
	assert_int_equal(wire_deadline(wire), INT64_MAX);
}

static void
test_a_key_is_one_piece(void **state)
{
	(void)state;
	assert_int_equal(wire_send(wire, now_ns, "next"), 0);
	assert_int_equal(wire_send(wire, now_ns, "stop"), 0);
	wire_flush(wire, now_ns);
	expect("noidle\nnext\nstop\n" IDLE);
	/* idle's end, and each of the two; the second is refused. */
	tell("OK\nOK\nACK [55@0] {stop} Not now\n");
	assert_string_equal(refused, "stop");
	assert_int_equal(wire_deadline(wire), INT64_MAX);
}

static void
test_messages(void **state)
{
	(void)state;
	tell("changed: message\nOK\n");
	expect("readmessages\n" IDLE);
	tell("channel: other\nmessage: key NO\nchannel: remote\n"
	     "message: key OK\nOK\n");
	assert_string_equal(message, "key OK");
}

static void
test_nothing_late(void **state)
{
	(void)state;
	assert_int_equal(wire_send(wire, now_ns, "next"), 0);
	wire_flush(wire, now_ns);
	now_ns += NS_PER_S / 2;
	assert_int_equal(wire_send(wire, now_ns, "next"), 0);
	now_ns += NS_PER_S;
	/* A second without an answer: what is pressed now is not kept. */
	assert_int_equal(wire_send(wire, now_ns, "next"), -EBUSY);
	assert_int_equal(wire_deadline(wire), now_ns + 7 * NS_PER_S / 2);
	now_ns += 7 * NS_PER_S / 2;
	wire_tick(wire, now_ns);
	assert_int_equal(wire_fd(wire), -1);
	assert_int_equal(wire_send(wire, now_ns, "next"), -ENOTCONN);
	close(daemon_side);
	now_ns = wire_deadline(wire);
	take_connection();
	assert_int_equal(wire_send(wire, now_ns, "next"), -ENOTCONN);
	tell("OK MPD 0.24.0\n");
	expect("subscribe remote\nstatus\ncurrentsong\nspeech\n" IDLE);
}

/* 0.2, 0.4, ... up to 5 s. */
static void
test_ever_later(void **state)
{
	static const int64_t steps_ms[] = {200,  400,  800, 1600,
					   3200, 5000, 5000};
	size_t i = 0;

	(void)state;
	close(daemon_side);
	daemon_side = -1;
	assert_int_equal(unlink(path), 0);
	wire_handle(wire, now_ns);
	for (i = 0; i < sizeof(steps_ms) / sizeof(steps_ms[0]); i++) {
		assert_int_equal(wire_fd(wire), -1);
		assert_int_equal(wire_deadline(wire) - now_ns,
				 steps_ms[i] * NS_PER_MS);
		now_ns = wire_deadline(wire);
		wire_tick(wire, now_ns);
	}
}

static void
test_what_is_no_daemon(void **state)
{
	(void)state;
	tell("garbage\n");
	assert_int_equal(wire_fd(wire), -1);
}

static void
test_too_many(void **state)
{
	int i = 0, sent = 0;

	(void)state;
	for (i = 0; i < 1000; i++)
		sent += wire_send(wire, now_ns, "next") == 0;
	assert_in_range(sent, 32, 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_state_is_asked, begin,
						end),
		cmocka_unit_test_setup_teardown(test_a_key_is_one_piece, begin,
						end),
		cmocka_unit_test_setup_teardown(test_messages, begin, end),
		cmocka_unit_test_setup_teardown(test_nothing_late, begin, end),
		cmocka_unit_test_setup_teardown(test_what_is_no_daemon, begin,
						end),
		cmocka_unit_test_setup_teardown(test_too_many, begin, end),
		cmocka_unit_test_setup_teardown(test_ever_later, begin, end),
	};

	return cmocka_run_group_tests(tests, open_socket, close_socket);
}

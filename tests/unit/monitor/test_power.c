/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_power.c - what logind is asked, by a bus that is this test: no machine
 * is switched off. */
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "remote/monitor/power.h"
#include "tests/unit/monitor/listening.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cmocka.h>

static struct thread bus_thread;
static char asked[128]; /* written by the thread, read when it has ended */
static bool refuses;

static int
on_message(sd_bus_message *message, void *context, sd_bus_error *error)
{
	const char *member = sd_bus_message_get_member(message);

	(void)error;
	if (member == NULL || strcmp(member, "Hello") == 0)
		return member == NULL ? 0
				      : sd_bus_reply_method_return(message, "s",
								   ":1.1");
	snprintf(asked, sizeof(asked), "%s %s %s %s",
		 sd_bus_message_get_destination(message),
		 sd_bus_message_get_path(message),
		 sd_bus_message_get_interface(message), member);
	*(bool *)context = true;
	if (refuses)
		return sd_bus_reply_method_errorf(
			message, SD_BUS_ERROR_ACCESS_DENIED, "Not you");
	return sd_bus_reply_method_return(message, "");
}

/* One client, until it hangs up. */
static void *
serve(void *argument)
{
	static const sd_id128_t id = {.bytes = {1, 2, 3}};
	sd_bus *bus = NULL;
	bool done = false;
	const int fd =
		accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)argument;
	if (fd < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 ||
	    sd_bus_set_server(bus, 1, id) < 0 ||
	    sd_bus_set_anonymous(bus, 1) < 0 ||
	    sd_bus_add_filter(bus, NULL, on_message, &done) < 0 ||
	    sd_bus_start(bus) < 0)
		abort();
	for (;;) {
		const int result = sd_bus_process(bus, NULL);

		if (result < 0 || sd_bus_is_open(bus) <= 0)
			break;
		if (result == 0 && sd_bus_wait(bus, 10000000) <= 0)
			break;
	}
	sd_bus_flush_close_unref(bus);
	return NULL;
}

static int
ask(const char *word, struct text *error)
{
	const struct thread_spec spec = {.name = "bus", .main = serve};
	int result = 0;

	asked[0] = '\0';
	assert_int_equal(thread_start(&bus_thread, &spec), 0);
	result = power_do(word, error);
	thread_join(&bus_thread);
	return result;
}

static void
test_what_is_asked(void **state)
{
	struct text error = {0};

	(void)state;
	assert_int_equal(ask("off", &error), 0);
	assert_string_equal(asked,
			    "org.freedesktop.login1 /org/freedesktop/login1 "
			    "org.freedesktop.login1.Manager PowerOff");
	assert_int_equal(ask("restart", &error), 0);
	assert_non_null(strstr(asked, "Manager Reboot"));
	assert_int_equal(ask("sleep", &error), 0);
	assert_non_null(strstr(asked, "Manager Suspend"));
	text_finish(&error);
}

static void
test_refusals(void **state)
{
	struct text error = {0};

	(void)state;
	refuses = true;
	assert_true(ask("off", &error) < 0);
	assert_string_equal(text_string(&error),
			    "logind does not do PowerOff: Not you");
	assert_int_equal(power_do("explode", &error), -EINVAL);
	/* No bus at all. */
	setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
	assert_true(power_do("off", &error) < 0);
	assert_non_null(strstr(text_string(&error), "logind does not do"));
	text_finish(&error);
}

static int
open_bus(void **state)
{
	char variable[96];

	if (open_socket(state) != 0)
		return -1;
	snprintf(variable, sizeof(variable), "unix:path=%s", path);
	return setenv("DBUS_SYSTEM_BUS_ADDRESS", variable, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_asked),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, open_bus, close_socket);
}

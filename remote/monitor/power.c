/* SPDX-License-Identifier: GPL-3.0-or-later */
/* power.c - one call to logind over the system's bus. Whether this user may do
 * it is logind's to say; it does not ask anybody (interactive is false), since
 * there is nobody at a screen. */
#include "remote/monitor/power.h"

#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

enum { PATIENCE_US = 5 * 1000 * 1000 };

static const char *
find_method(const char *word)
{
	if (strcmp(word, "off") == 0)
		return "PowerOff";
	if (strcmp(word, "restart") == 0)
		return "Reboot";
	return strcmp(word, "sleep") == 0 ? "Suspend" : NULL;
}

int
power_do(const char *word, struct text *ret_error)
{
	const char *method = find_method(word);
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus = NULL;
	int result = 0;

	text_clear(ret_error);
	if (method == NULL)
		return -EINVAL;
	result = sd_bus_open_system(&bus);
	if (result >= 0)
		result = sd_bus_set_method_call_timeout(bus, PATIENCE_US);
	if (result >= 0)
		result = sd_bus_call_method(bus, "org.freedesktop.login1",
					    "/org/freedesktop/login1",
					    "org.freedesktop.login1.Manager",
					    method, &error, NULL, "b", 0);
	if (result < 0)
		text_printf(ret_error, "logind does not do %s: %s", method,
			    error.message != NULL ? error.message
						  : text_of_error(result));
	sd_bus_error_free(&error);
	sd_bus_flush_close_unref(bus);
	return result < 0 ? result : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_conf.c - any bytes as a configuration file: either every option has a
 * value that its kind allows, or there is a message that names the file. */
#include "lib/base/conf.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_values(const struct conf *conf)
{
	const int64_t buffer_ms = conf_int(conf, CONF_OUTPUT_BUFFER_MS);
	const int fence = conf_choice(conf, CONF_REALTIME_FENCE);
	int i;

	if (buffer_ms < 2 || buffer_ms > 10000 || fence < 0 || fence > 2)
		abort();
	if (conf_text(conf, CONF_LIBRARY_MUSIC)[0] != '/' ||
	    strlen(conf_text(conf, CONF_SERVER_SOCKET)) > 107)
		abort();
	for (i = 0; i < conf_further_count(conf); i++)
		if (i == CONF_FURTHER_MAX ||
		    conf_name(conf_further_at(conf, i))[0] == '\0' ||
		    conf_int(conf_further_at(conf, i), CONF_OUTPUT_BUFFER_MS) <
			    2)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[64], program[] = "rotaryd", option[] = "--config";
	char *argv[] = {program, option, name, NULL};
	struct conf *conf = NULL;
	struct text error = {0};
	int file, result, action;

	file = memfd_create("conf", MFD_CLOEXEC);
	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	result = conf_load(&conf_rotaryd, 3, argv, &conf, &action, &error);
	if (result == 0)
		check_values(conf);
	else if (result != -EINVAL || strstr(text_string(&error), name) == NULL)
		abort();
	if (!utf8_valid(text_string(&error), error.length))
		abort();
	conf_destroy(conf);
	text_finish(&error);
	close(file);
	return 0;
}

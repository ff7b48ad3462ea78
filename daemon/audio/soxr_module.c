/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/audio/soxr_module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct soxr_module module;
static bool loaded;

/* POSIX lets a symbol's address be a function's; ISO C wants it copied. */
static bool
bind_symbol(void *library, const char *name, void *ret_function)
{
	void *const symbol = dlsym(library, name);

	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static void
load(void)
{
	void *library = dlopen("libsoxr.so.0", RTLD_NOW | RTLD_LOCAL);

	loaded =
		library != NULL &&
		bind_symbol(library, "soxr_create", &module.create) &&
		bind_symbol(library, "soxr_process", &module.process) &&
		bind_symbol(library, "soxr_delete", &module.destroy) &&
		bind_symbol(library, "soxr_io_spec", &module.io_spec) &&
		bind_symbol(library, "soxr_quality_spec",
			    &module.quality_spec) &&
		bind_symbol(library, "soxr_runtime_spec", &module.runtime_spec);
}

const struct soxr_module *
soxr_module_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return loaded ? &module : NULL;
}

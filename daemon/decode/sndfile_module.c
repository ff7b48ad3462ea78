/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/decode/sndfile_module.h"

#include "daemon/decode/account.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct sndfile_module module;
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
load(void *unused)
{
	void *library = NULL;

	(void)unused;
	library = dlopen("libsndfile.so.1", RTLD_NOW | RTLD_LOCAL);

	loaded =
		library != NULL &&
		bind_symbol(library, "sf_open_virtual", &module.open) &&
		bind_symbol(library, "sf_close", &module.close) &&
		bind_symbol(library, "sf_command", &module.command) &&
		bind_symbol(library, "sf_seek", &module.seek) &&
		bind_symbol(library, "sf_get_string", &module.string) &&
		bind_symbol(library, "sf_get_chunk_iterator", &module.chunk) &&
		bind_symbol(library, "sf_get_chunk_size", &module.chunk_size) &&
		bind_symbol(library, "sf_get_chunk_data", &module.chunk_data);
}

/* The linker's memory outlives the decoder that was the first to ask. */
static void
load_once(void)
{
	account_step_out(load, NULL);
}

const struct sndfile_module *
sndfile_module_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_once);
	return loaded ? &module : NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* default.c - where the daemons of this user and of the system listen when
 * nobody said otherwise. */
#include "lib/base/places.h"
#include "lib/base/text.h"
#include "lib/client/client.h"

void
client_default_sockets(struct text *ret_user, struct text *ret_system)
{
	text_clear(ret_user);
	places_add_user_runtime(ret_user);
	text_add(ret_user, "/socket");
	text_clear(ret_system);
	places_add_system_runtime(ret_system);
	text_add(ret_system, "/socket");
}

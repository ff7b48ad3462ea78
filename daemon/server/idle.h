/* SPDX-License-Identifier: GPL-3.0-or-later */
/* idle.h - the idle command. Threads: control. */
#ifndef ROTARY_SERVER_IDLE_H
#define ROTARY_SERVER_IDLE_H

#include "daemon/server/command.h"

enum command_result idle_handle(struct session *session,
				const struct request *request);

#endif

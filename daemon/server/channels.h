/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channels.h - messages from client to client. Threads: control. */
#ifndef ROTARY_SERVER_CHANNELS_H
#define ROTARY_SERVER_CHANNELS_H

struct session;

/* The session ends: its subscriptions and messages go with it. */
void channels_forget(struct session *session);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.h - the conversation with the daemon: commands out, its state in.
 *
 * The one connection waits in idle. A command is written as noidle, itself and
 * idle in one piece, so a key costs one round trip. What the daemon plays is
 * asked after each (re)connection and whenever idle tells of a change.
 * Away, or when the daemon has not answered for a second, commands are dropped,
 * not kept: nothing happens late. Without an answer for 5 s the connection is
 * given up; the next is tried after 0.2 s, then ever later, up to 5 s.
 * Threads: one. RT: MAY_BLOCK as link.h says. Logs each refusal once. */
#ifndef ROTARY_MONITOR_WIRE_H
#define ROTARY_MONITOR_WIRE_H

#include "remote/monitor/wire_state.h"

struct wire;

struct wire_hooks {
	/* On the channel "remote". */
	void (*message)(void *context, const char *words);
	/* A command was refused. */
	void (*refused)(void *context, const char *line);
	void *context;
};

/* where: as for client_connect(), or "". It outlives the wire. */
NODISCARD int wire_create(const char *where, const struct wire_hooks *hooks,
			  struct wire **ret_wire);
void wire_destroy(struct wire *wire);

/* 0; -ENOTCONN, -EBUSY: dropped. It goes out with the next wire_flush(). */
int wire_send(struct wire *wire, int64_t now_ns, const char *line);
void wire_flush(struct wire *wire, int64_t now_ns);
struct wire_state *wire_state(struct wire *wire);
bool wire_is_connected(const struct wire *wire);

/* -1: there is no connection. */
int wire_fd(const struct wire *wire);
short wire_events(const struct wire *wire);
void wire_handle(struct wire *wire, int64_t now_ns);
/* Connects when it is time, gives up what is not answered. */
void wire_tick(struct wire *wire, int64_t now_ns);
int64_t wire_deadline(const struct wire *wire);

#endif

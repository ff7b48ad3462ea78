/* SPDX-License-Identifier: GPL-3.0-or-later */
/* idle.c - events for clients that wait for them.
 *
 * Each session keeps one bit for each event that it was not told yet. A report
 * takes only the bits that the client asked for; the others stay until it asks
 * for them, so that nothing is lost to a client that waits for one thing at a
 * time. Events of one round of the loop are told together. */
#include "daemon/server/idle.h"

#include "daemon/server/reply.h"
#include "daemon/server/server.h"
#include "daemon/server/session.h"

#include <string.h>
#include <strings.h>

static const char *const idle_names[IDLE_COUNT] = {
	[IDLE_DATABASE] = "database",
	[IDLE_UPDATE] = "update",
	[IDLE_STORED_PLAYLIST] = "stored_playlist",
	[IDLE_PLAYLIST] = "playlist",
	[IDLE_PLAYER] = "player",
	[IDLE_MIXER] = "mixer",
	[IDLE_OUTPUT] = "output",
	[IDLE_OPTIONS] = "options",
	[IDLE_PARTITION] = "partition",
	[IDLE_STICKER] = "sticker",
	[IDLE_SUBSCRIPTION] = "subscription",
	[IDLE_MESSAGE] = "message",
	[IDLE_NEIGHBOR] = "neighbor",
	[IDLE_MOUNT] = "mount",
};

static enum idle_event
idle_from_name(const char *name)
{
	int i = 0;

	for (i = 0; i < IDLE_COUNT; i++)
		if (strcasecmp(idle_names[i], name) == 0)
			break;
	return (enum idle_event)i;
}

enum command_result
idle_handle(struct session *session, const struct request *request)
{
	uint32_t wanted = 0;
	size_t i = 0;

	for (i = 0; i < request->count; i++) {
		const enum idle_event event = idle_from_name(request->args[i]);

		if (event == IDLE_COUNT)
			return session_ack(session, ACK_ARGUMENT,
					   "Unrecognized idle event: %s",
					   request->args[i]);
		wanted |= UINT32_C(1) << event;
	}
	if (wanted == 0)
		wanted = (UINT32_C(1) << IDLE_COUNT) - 1;
	session->idle_wanted = wanted;
	session->idling = true;
	return COMMAND_IDLE;
}

void
session_notify(struct session *session, enum idle_event event)
{
	const uint32_t bit = UINT32_C(1) << event;

	session->idle_pending |= bit;
	if (session->idling && (session->idle_wanted & bit) != 0)
		session_wake(session);
}

bool
session_report_idle(struct session *session)
{
	const uint32_t ready = session->idle_pending & session->idle_wanted;
	int i = 0;

	if (!session->idling || ready == 0)
		return false;
	for (i = 0; i < IDLE_COUNT; i++)
		if ((ready & (UINT32_C(1) << i)) != 0)
			reply_add(&session->out, "changed", idle_names[i]);
	text_add(&session->out, "OK\n");
	session->idle_pending &= ~ready;
	session->idling = false;
	return true;
}

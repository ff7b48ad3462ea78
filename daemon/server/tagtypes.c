/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tagtypes.c - which tags this connection wants to see. */
#include "daemon/server/groups.h"

#include "daemon/server/reply.h"
#include "daemon/server/session.h"

#include <string.h>

static enum command_result
list_tags(struct session *session, tag_mask tags)
{
	int tag = 0;

	for (tag = 0; tag < TAG_COUNT; tag++)
		if ((tags & (UINT64_C(1) << tag)) != 0)
			reply_add(&session->out, "tagtype",
				  tag_name((enum tag)tag));
	return COMMAND_OK;
}

/* The tags that the arguments from the second on name. */
static bool
named_tags(struct session *session, const struct request *request,
	   tag_mask *ret_tags)
{
	tag_mask tags = 0;
	size_t i = 0;

	if (request->count < 2) {
		session_ack(session, ACK_ARGUMENT, "Not enough arguments");
		return false;
	}
	for (i = 1; i < request->count; i++) {
		const enum tag tag = tag_from_name(request->args[i]);

		if (tag == TAG_COUNT) {
			session_ack(session, ACK_ARGUMENT, "Unknown tag type");
			return false;
		}
		tags |= UINT64_C(1) << tag;
	}
	*ret_tags = tags;
	return true;
}

static enum command_result
tagtypes_enable(struct session *session, const struct request *request)
{
	tag_mask tags = 0;

	if (!named_tags(session, request, &tags))
		return COMMAND_ERROR;
	session->tags |= tags;
	return COMMAND_OK;
}

static enum command_result
tagtypes_disable(struct session *session, const struct request *request)
{
	tag_mask tags = 0;

	if (!named_tags(session, request, &tags))
		return COMMAND_ERROR;
	session->tags &= ~tags;
	return COMMAND_OK;
}

static enum command_result
tagtypes_reset(struct session *session, const struct request *request)
{
	tag_mask tags = 0;

	if (!named_tags(session, request, &tags))
		return COMMAND_ERROR;
	session->tags = tags;
	return COMMAND_OK;
}

static enum command_result
tagtypes_all(struct session *session, const struct request *request)
{
	(void)request;
	session->tags = TAG_MASK_ALL;
	return COMMAND_OK;
}

static enum command_result
tagtypes_clear(struct session *session, const struct request *request)
{
	(void)request;
	session->tags = 0;
	return COMMAND_OK;
}

static enum command_result
tagtypes_available(struct session *session, const struct request *request)
{
	(void)request;
	return list_tags(session, TAG_MASK_ALL);
}

enum command_result
tagtypes_handle(struct session *session, const struct request *request)
{
	static const struct {
		const char *name;
		bool takes_tags;
		enum command_result (*handle)(struct session *session,
					      const struct request *request);
	} subcommands[] = {
		{"all", false, tagtypes_all},
		{"available", false, tagtypes_available},
		{"clear", false, tagtypes_clear},
		{"disable", true, tagtypes_disable},
		{"enable", true, tagtypes_enable},
		{"reset", true, tagtypes_reset},
	};
	size_t i = 0;

	if (request->count == 0)
		return list_tags(session, session->tags);
	for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
		if (strcmp(subcommands[i].name, request->args[0]) != 0)
			continue;
		if (!subcommands[i].takes_tags && request->count > 1)
			return session_ack(session, ACK_ARGUMENT,
					   "Too many arguments");
		return subcommands[i].handle(session, request);
	}
	return session_ack(session, ACK_ARGUMENT, "Unknown sub command");
}

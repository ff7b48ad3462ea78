/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_commands.c - the outputs, and what the real-time side says of itself.
 *
 * An output's id is its place in the configuration, [output] being 0, and its
 * name is always the same: clients remember both. What else is to be told of it
 * stands in its attributes. */
#include "daemon/server/groups.h"

#include "daemon/engine/engine.h"
#include "daemon/server/args.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"

#include <string.h>

enum wish { WISH_ON, WISH_OFF, WISH_OTHER };

static enum command_result
set_enabled(struct session *session, const struct request *request,
	    enum wish wish)
{
	struct engine *engine = session->server->links.engine;
	struct engine_output_info info;
	uint32_t id = 0;

	if (!arg_unsigned(session, request->args[0], INT32_MAX, &id))
		return COMMAND_ERROR;
	if (engine == NULL || engine_output_info(engine, id, &info) < 0 ||
	    engine_output_enable(engine, id,
				 wish == WISH_OTHER ? !info.enabled
						    : wish == WISH_ON) < 0)
		return session_ack(session, ACK_NO_EXIST,
				   "No such audio output");
	return COMMAND_OK;
}

enum command_result
output_enable(struct session *session, const struct request *request)
{
	return set_enabled(session, request, WISH_ON);
}

enum command_result
output_disable(struct session *session, const struct request *request)
{
	return set_enabled(session, request, WISH_OFF);
}

enum command_result
output_toggle(struct session *session, const struct request *request)
{
	return set_enabled(session, request, WISH_OTHER);
}

static void
add_attribute(struct text *out, const char *name, const char *value)
{
	struct text attribute = {0};

	text_printf(&attribute, "%s=%s", name, value);
	if (attribute.failed)
		out->failed = true;
	else
		reply_add(out, "attribute", text_string(&attribute));
	text_finish(&attribute);
}

static void
add_attributes(struct text *out, const struct engine_output_info *info)
{
	static const char *const states[] = {
		[OUTPUT_CLOSED] = "closed",   [OUTPUT_OPENING] = "opening",
		[OUTPUT_OPEN] = "open",       [OUTPUT_DRAINING] = "draining",
		[OUTPUT_CLOSING] = "closing", [OUTPUT_RETRY] = "retry",
	};
	static const char *const mixers[] = {
		[ENGINE_VOLUME_SOFTWARE] = "software",
		[ENGINE_VOLUME_HARDWARE] = "hardware",
		[ENGINE_VOLUME_NONE] = "none",
	};

	if (info->device != NULL)
		add_attribute(out, "device", info->device);
	add_attribute(out, "mixer", mixers[info->volume]);
	add_attribute(out, "speech", info->speech ? "1" : "0");
	add_attribute(out, "clock", info->is_clock ? "1" : "0");
	add_attribute(out, "state", states[info->state]);
	if (info->error != NULL && info->error[0] != '\0')
		add_attribute(out, "error", info->error);
	if (info->mixer_error != NULL && info->mixer_error[0] != '\0')
		add_attribute(out, "mixer_error", info->mixer_error);
	if (info->is_clock || info->card == NULL)
		return;
	text_printf(out, "attribute: drift_ppm=%.1f\n", info->drift_ppm);
	text_printf(out, "attribute: dropped_frames=%llu\n",
		    (unsigned long long)info->dropped_frames);
	text_printf(out, "attribute: dry_frames=%llu\n",
		    (unsigned long long)info->dry_frames);
}

enum command_result
output_outputs(struct session *session, const struct request *request)
{
	const struct engine *engine = session->server->links.engine;
	struct text *out = &session->out;
	struct engine_output_info info;
	unsigned i;

	(void)request;
	if (engine == NULL)
		return COMMAND_OK;
	for (i = 0; engine_output_info(engine, i, &info) == 0; i++) {
		reply_int(out, "outputid", i);
		reply_add(out, "outputname", info.name);
		reply_add(out, "plugin", info.driver);
		reply_int(out, "outputenabled", info.enabled);
		add_attributes(out, &info);
	}
	return COMMAND_OK;
}

/* Line by line: a card's name is not ours. */
static void
add_clean_lines(struct text *out, const char *lines)
{
	while (*lines != '\0') {
		const size_t length = strcspn(lines, "\n");

		text_add_clean(out, lines, length, REPLY_LINE_MAX - 1);
		text_add_char(out, '\n');
		lines += length + (lines[length] == '\n');
	}
}

enum command_result
output_rtstats(struct session *session, const struct request *request)
{
	struct text lines = {0};
	bool failed = false;

	(void)request;
	if (session->server->links.engine == NULL)
		return COMMAND_OK;
	engine_add_rtstats(session->server->links.engine, &lines);
	failed = lines.failed;
	if (!failed)
		add_clean_lines(&session->out, text_string(&lines));
	text_finish(&lines);
	return failed ? session_no_memory(session) : COMMAND_OK;
}

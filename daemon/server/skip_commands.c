/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skip_commands.c - the files that are passed over because they made the
 * player crash: what they are, and having them tried again.
 *
 * Both work on the list in memory; a worker brings its file up to date. */
#include "daemon/server/groups.h"

#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"
#include "daemon/source/skips.h"
#include "daemon/work/work.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
add_skip(void *context, const struct skip *skip)
{
	struct text *out = context;

	reply_add(out, "file", skip->name);
	reply_int(out, "crashes", skip->crashes);
	reply_int(out, "skipped", skip->passed_over);
}

enum command_result
skips_skips(struct session *session, const struct request *request)
{
	(void)request;
	skips_list(add_skip, &session->out);
	return COMMAND_OK;
}

static int
save_run(struct work_job *job)
{
	(void)job;
	return skips_save();
}

static void
save_done(struct work_job *job, int result)
{
	if (result < 0)
		log_warn("player",
			 "the list of crashes could not be written, so after a "
			 "restart it is as it was: %s",
			 text_of_error(result));
	if (result != -ETIMEDOUT)
		free(job);
}

static void
save_orphan(struct work_job *job)
{
	free(job);
}

static const struct work_job_ops save_ops = {save_run, save_done, save_orphan};

/* Saves come one after the other, under the address of what they share. */
static bool
save_soon(struct work *work)
{
	struct work_job *job = calloc(1, sizeof(*job));

	if (job == NULL)
		return false;
	job->ops = &save_ops;
	job->what = "crashes";
	job->order = (uint64_t)(uintptr_t)&save_ops;
	work_submit(work, job);
	return true;
}

enum command_result
skips_reset(struct session *session, const struct request *request)
{
	const char *name = request->count > 0 ? request->args[0] : NULL;

	if (skips_forgive(name) == 0)
		return name == NULL
			       ? COMMAND_OK
			       : session_ack(session, ACK_NO_EXIST,
					     "No crash is noted for this file");
	return save_soon(session->server->links.work)
		       ? COMMAND_OK
		       : session_no_memory(session);
}

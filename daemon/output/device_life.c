/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device_life.c - an output's beginning and end, and what it tells of itself.
 *
 * create makes no thread and opens no card: both come with the first
 * output_open(). At the end the thread goes first, then the job, then the card;
 * what a thread may still touch that cannot be ended is left to it. */
#include "daemon/output/device_parts.h"

#include "daemon/output/output_rt.h"
#include "lib/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const int64_t STARVED_NS = 2 * NS_PER_S;

int
output_create(const struct output_config *config,
	      const struct output_links *links,
	      const struct output_events *events, void *context,
	      struct output **ret_output)
{
	struct output *output = calloc(1, sizeof(*output));

	if (output == NULL)
		return -ENOMEM;
	output->config = *config;
	output->links = *links;
	output->events = *events;
	output->context = context;
	atomic_store(&output->no_figures.rung, RT_RUNG_UNTRIED);
	if (config->device != NULL) {
		output->device = strdup(config->device);
		output->config.device = output->device;
	}
	output->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (output->wake_fd < 0 ||
	    (config->device != NULL && output->device == NULL)) {
		const int error = output->wake_fd < 0 ? -errno : -ENOMEM;

		(void)close(output->wake_fd);
		free(output->device);
		free(output);
		return error;
	}
	*ret_output = output;
	return 0;
}

void
output_quit(struct output *output)
{
	if (output == NULL || output->quit_ns != 0)
		return;
	output->quit_ns = clock_now_ns();
	if (output->rt != NULL)
		output_rt_quit(output->rt);
	if (output->job != NULL)
		device_job_unwant(output->job);
}

static int64_t
left_until(int64_t end_ns)
{
	const int64_t now_ns = clock_now_ns();

	return end_ns > now_ns ? end_ns - now_ns : 0;
}

void
output_leave(struct output *output)
{
	if (output == NULL || output->leave_ns != 0)
		return;
	output_quit(output);
	output->end = device_end_thread(output, STARVED_NS);
	if (output->end != OUTPUT_RT_ENDED)
		output->card = NULL;
	if (output->job != NULL)
		output->card = device_job_leave(
			output->job,
			left_until(output->quit_ns + DEVICE_QUIT_NS));
	output->job = NULL;
	if (output->card != NULL)
		device_start_closing(output);
	output->leave_ns = clock_now_ns();
}

bool
output_destroy(struct output *output)
{
	if (output == NULL)
		return true;
	output_leave(output);
	if (output->job != NULL)
		(void)device_job_leave(
			output->job,
			left_until(output->leave_ns + DEVICE_QUIT_NS));
	if (output->end == OUTPUT_RT_STARVED) {
		log_err("output", "the output thread has no CPU to end on");
		return false;
	}
	close(output->wake_fd);
	text_finish(&output->error);
	free(output->device);
	free(output);
	return true;
}

enum output_state
output_state(const struct output *output)
{
	return output->state;
}

const struct card_info *
output_info(const struct output *output)
{
	return output->card != NULL ? &output->info : NULL;
}

const struct rt_figures *
output_figures(const struct output *output)
{
	return output->rt != NULL && atomic_load(&output->rt->has_figures)
		       ? &output->rt->figures
		       : &output->no_figures;
}

const char *
output_error(const struct output *output)
{
	return text_string(&output->error);
}

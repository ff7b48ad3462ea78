/* SPDX-License-Identifier: GPL-3.0-or-later */
/* device_parts.h - an output as control has it: between device.c, the state
 * machine, and device_life.c, its beginning and end. Threads: control. */
#ifndef ROTARY_OUTPUT_DEVICE_PARTS_H
#define ROTARY_OUTPUT_DEVICE_PARTS_H

#include "daemon/output/output.h"

#include "daemon/output/device_job.h"
#include "daemon/output/output_rt.h"
#include "daemon/output/watch.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <stdbool.h>

/* For a thread to fade out and end; for a job to be over. */
#define DEVICE_QUIT_NS (200 * NS_PER_MS)

struct output {
	/* immutable */
	struct output_config config;
	struct output_links links;
	struct output_events events;
	void *context;
	char *device; /* config.device points to it */
	int wake_fd;
	/* control */
	enum output_state state;
	bool wanted;
	struct audio_spec wanted_spec;
	struct audio_spec open_spec;
	struct card *card; /* open, and ours or the thread's */
	bool with_thread;
	bool lost; /* not to be opened again at once */
	struct card_info info;
	struct device_job *job;
	struct output_rt *rt;
	struct text error;
	int64_t retry_ns; /* when to try again */
	struct watch watch;
	struct rt_figures no_figures;
	/* at the end; 0: not yet */
	int64_t quit_ns, leave_ns;
	enum output_rt_end end; /* of the thread */
};

/* What sounds fades out; then the card is ours again, unless the thread is
 * stuck: then both are lost. One without a CPU stays what it is. */
enum output_rt_end device_end_thread(struct output *output, int64_t starved_ns);
/* Without memory for the job the card stays, and the next tick tries again. */
void device_start_closing(struct output *output);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crowd.c - streams made as control and a worker make them, each with its share
 * of ring memory: room for the whole file, so that no read-ahead is needed
 * later, and for a PCM ring. All of it is touched before. */
#include "tests/bench/scaling/bench_scaling.h"

#include "daemon/engine/pool.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	EVENTS = 1024,
	POOL_BYTES = 1 << 20, /* not used: each extent is apart */
	PCM_BYTES = 44100 * STREAM_PCM_MS / 1000 * 2 * 4,
};

static int
run_phase(struct stream *stream, enum stream_phase phase)
{
	stream->phase = phase;
	return stream_run_phase(stream);
}

/* Its byte ring gets two fifths at most (stream_job.c). */
static size_t
extent_bytes(size_t file_bytes)
{
	return file_bytes * 5 / 2 + STREAM_LEAST + PCM_BYTES;
}

static int
open_one(struct crowd *crowd, const char *name, size_t file_bytes)
{
	const struct source_ref ref = {name, getuid()};
	struct stream *stream =
		stream_create(crowd->count + 1, LANE_MUSIC, &ref);
	int result;

	if (stream == NULL)
		return -ENOMEM;
	crowd->streams[crowd->count++] = stream;
	stream->commons = commons_ref(crowd->commons);
	stream->bell = &crowd->commons->bell;
	stream->wake = &crowd->commons->wake;
	stream->extent.bytes = extent_bytes(file_bytes);
	stream->extent.memory = malloc(stream->extent.bytes);
	if (stream->extent.memory == NULL)
		return -ENOMEM;
	memset(stream->extent.memory, 0, stream->extent.bytes);
	result = run_phase(stream, STREAM_PHASE_OPEN);
	if (result == 0)
		result = run_phase(stream, STREAM_PHASE_FILL);
	if (result == 0 && !byte_ring_at_end(&stream->bytes) &&
	    !atomic_load(&stream->bytes.ended))
		result = -EFBIG;
	if (result == 0)
		crowd->primed_frames += pcm_ring_readable(&stream->pcm);
	return result;
}

int
crowd_open(struct crowd *crowd, const char *path, unsigned count)
{
	char *folder = strdup(path);
	char *name = strdup(path);
	struct path_root root = {0};
	struct stat status;
	int result = -ENOMEM;

	*crowd = (struct crowd){0};
	if (folder != NULL && name != NULL)
		result = stat(path, &status) == 0 ? 0 : -errno;
	if (result == 0) {
		root.folder = dirname(folder);
		result = commons_create(&root, EVENTS, POOL_BYTES,
					&crowd->commons);
	}
	while (result == 0 && crowd->count < count)
		result =
			open_one(crowd, basename(name), (size_t)status.st_size);
	free(folder);
	free(name);
	return result;
}

void
crowd_close(struct crowd *crowd)
{
	unsigned i;

	for (i = 0; i < crowd->count; i++) {
		void *memory = crowd->streams[i]->extent.memory;

		stream_destroy(crowd->streams[i]);
		free(memory);
	}
	commons_unref(crowd->commons);
	*crowd = (struct crowd){0};
}

static void
add_integers(float *sum, const int32_t *samples, size_t count)
{
	const float scale = 1.0F / 2147483648.0F;
	size_t i;

	for (i = 0; i < count; i++)
		sum[i] += (float)samples[i] * scale;
}

static void
add_floats(float *sum, const float *samples, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		sum[i] += samples[i];
}

void
scaling_mix(float *sum, const void *samples, size_t frames,
	    const struct audio_spec *spec)
{
	const size_t count = frames * spec->channels;
	const uint32_t *words = samples; /* either kind has 4 bytes */
	size_t done = 0;

	while (done < count) {
		const size_t left = count - done;
		const size_t part =
			left < SCALING_MIX_SAMPLES ? left : SCALING_MIX_SAMPLES;

		if (spec->kind == SAMPLE_S32)
			add_integers(sum, (const void *)(words + done), part);
		else
			add_floats(sum, (const void *)(words + done), part);
		done += part;
	}
}

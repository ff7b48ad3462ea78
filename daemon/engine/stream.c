/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.c - making and unmaking a stream.
 *
 * A stream ends in this order, each step when the one before is done: it is in
 * no lane's line; it is out of the rotary set and reclaimed; every plan that
 * names it has been passed; no job is out; a worker has closed decoder and
 * source; its memory goes back to the pool; it is freed. engine_streams.c walks
 * these steps. */
#include "daemon/engine/stream.h"

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rt/rt.h"

#include <stdlib.h>
#include <string.h>

struct stream *
stream_create(uint64_t id, enum lane_id lane, const struct source_ref *ref)
{
	struct stream *stream = allocator_new_aligned(NULL, sizeof(*stream),
						      _Alignof(struct stream));

	if (stream == NULL)
		return NULL;
	item_init(&stream->item, ITEM_STREAM);
	stream->uri = strdup(ref->uri);
	if (stream->uri == NULL) {
		allocator_delete(NULL, stream);
		return NULL;
	}
	stream->subject.name = stream->uri;
	stream->uid = ref->uid;
	stream->id = id;
	stream->root = id;
	stream->lane = lane;
	stream->state = STREAM_OPENING;
	atomic_store(&stream->overlapped_at, UINT64_MAX);
	list_init(&stream->link);
	return stream;
}

MAY_BLOCK void
stream_close(struct stream *stream)
{
	decoder_destroy(stream->decoder);
	stream->decoder = NULL;
	source_close(stream->source);
	stream->source = NULL;
}

/* What was told of the damage was the first of it. */
static void
sum_up_gaps(const struct stream *stream)
{
	if (stream->gap_frames > stream->gap_told)
		log_warn("engine", "%s: damaged, %.2f s of silence in all",
			 stream->uri,
			 (double)stream->gap_frames / stream->spec.rate_hz);
}

void
stream_destroy(struct stream *stream)
{
	if (stream == NULL)
		return;
	sum_up_gaps(stream);
	stream_close(stream);
	list_remove(&stream->link);
	/* With the engine gone nobody keeps the pool's books any more. */
	if (stream->engine != NULL) {
		pool_give(stream->commons->pool, &stream->extent);
		pool_give(stream->commons->pool, &stream->pcm_extent);
	} else if (stream->pcm_extent.apart) {
		rt_pool_unmap(stream->pcm_extent.memory,
			      stream->pcm_extent.bytes);
	}
	commons_unref(stream->commons);
	free(stream->uri);
	allocator_delete(NULL, stream);
}

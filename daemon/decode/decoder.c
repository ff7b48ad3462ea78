/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decoder.c - a decoder's calls, made on its own heap.
 *
 * The heap comes before the decoder and goes behind it. The decoder's record
 * lies in the heap too, and stays readable until then, also when the decoder
 * was left in the middle of a call. */
#include "daemon/decode/decoder.h"

#include "daemon/decode/account.h"
#include "lib/base/log.h"
#include "lib/zone/zone.h"

#include <errno.h>

const char decoder_overdrawn_reason[] =
	"it wants more than 64 MiB of memory to be decoded";

/* A call and its arguments, whichever of them it has. */
struct call {
	const struct decoder_ops *ops;
	struct decoder *decoder;
	/* open */
	struct allocator *allocator;
	struct reader *reader;
	/* decode */
	void *samples;
	size_t capacity;
	size_t frames;
	enum decode_status status;
	/* seek */
	uint64_t frame;
	/* tags */
	decoder_tag_fn *tag;
	void *context;

	int result;
};

static void
call_open(void *context)
{
	struct call *call = context;

	call->result =
		call->ops->open(call->allocator, call->reader, &call->decoder);
}

static void
call_decode(void *context)
{
	struct call *call = context;

	call->status = call->ops->decode(call->decoder, call->samples,
					 call->capacity, &call->frames);
}

static void
call_seek(void *context)
{
	struct call *call = context;

	call->result = call->ops->seek(call->decoder, call->frame);
}

static void
call_destroy(void *context)
{
	struct call *call = context;

	call->ops->destroy(call->decoder);
}

/* A tag on its way to somebody who keeps it in memory of his own. */
struct tag {
	const struct call *call;
	const char *name;
	const char *value;
	size_t length;
};

static void
hand_over(void *context)
{
	const struct tag *tag = context;

	tag->call->tag(tag->call->context, tag->name, tag->value, tag->length);
}

static void
take_tag(void *context, const char *name, const char *value, size_t length)
{
	const struct call *call = context;
	struct tag tag = {call, name, value, length};

	account_step_out(hand_over, &tag);
}

static void
call_tags(void *context)
{
	struct call *call = context;

	call->result = call->ops->tags(call->decoder, take_tag, call);
}

/* False: it is overdrawn, now or already. */
static bool
run(struct decoder *decoder, account_fn *code, struct call *call)
{
	call->ops = decoder->ops;
	call->decoder = decoder;
	if (!decoder->overdrawn)
		decoder->overdrawn = !account_run(decoder->heap, code, call);
	return !decoder->overdrawn;
}

int
decoder_open_as(const struct decoder_ops *ops, struct allocator *allocator,
		struct reader *reader, struct decoder **ret_decoder,
		const char **ret_reason)
{
	struct call call = {
		.ops = ops, .allocator = allocator, .reader = reader};
	int error = 0;
	struct zone_heap *heap = account_open(DECODER_BYTES_MAX, &error);

	if (error < 0)
		return error;
	if (!account_run(heap, call_open, &call)) {
		*ret_reason = decoder_overdrawn_reason;
		error = -E2BIG;
	} else {
		error = call.result;
	}
	if (error < 0) {
		zone_heap_destroy(heap);
		return error;
	}
	call.decoder->heap = heap;
	*ret_decoder = call.decoder;
	return 0;
}

enum decode_status
decoder_decode(struct decoder *decoder, void *ret_samples, size_t capacity,
	       size_t *ret_frames)
{
	struct call call = {.samples = ret_samples, .capacity = capacity};

	if (!run(decoder, call_decode, &call))
		return DECODE_ERROR;
	*ret_frames = call.frames;
	return call.status;
}

int
decoder_seek(struct decoder *decoder, uint64_t frame)
{
	struct call call = {.frame = frame};

	return run(decoder, call_seek, &call) ? call.result : -E2BIG;
}

int
decoder_tags(struct decoder *decoder, decoder_tag_fn *tag, void *context)
{
	struct call call = {.tag = tag, .context = context};

	return run(decoder, call_tags, &call) ? call.result : -E2BIG;
}

void
decoder_destroy(struct decoder *decoder)
{
	struct zone_heap *heap = NULL;
	struct call call = {0};

	if (decoder == NULL)
		return;
	heap = decoder->heap;
	/* without a heap its blocks go one by one, and the record with them */
	if (heap == NULL) {
		decoder->ops->destroy(decoder);
		return;
	}
	call.ops = decoder->ops;
	call.decoder = decoder;
	/* whatever is left, the heap takes with it */
	if (!decoder->overdrawn && !account_run(heap, call_destroy, &call))
		log_debug("decode", "a decoder ran out of memory at its end");
	zone_heap_destroy(heap);
}

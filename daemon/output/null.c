/* SPDX-License-Identifier: GPL-3.0-or-later */
/* null.c - nobody hears it, but time passes: where there is no sound card the
 * player still plays at the right pace. Takes any rate and any channels, in
 * the source's own bits. Nothing is stored: what was played is gone. */
#include "daemon/output/paced.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct null_card {
	struct card card;
	struct paced paced;
};

static RT_SAFE struct paced *
paced_of(struct card *card)
{
	return &((struct null_card *)(void *)card)->paced;
}

static int
null_open(const struct card_request *request, struct card **ret_card,
	  struct text *ret_reason)
{
	const bool floats = request->spec.kind == SAMPLE_F32;
	struct null_card *null = aligned_alloc(CACHE_LINE, sizeof(*null));

	if (null == NULL)
		goto no_memory;
	memset((void *)null, 0, sizeof(*null));
	null->card.ops = &card_null;
	paced_info(request, floats ? CARD_F32 : CARD_S32, 32, &null->card.info);
	strcpy(null->card.info.name, "nothing (null)");
	if (paced_init(&null->paced, &null->card.info, 0) < 0)
		goto no_memory;
	*ret_card = &null->card;
	return 0;

no_memory:
	free(null);
	text_add(ret_reason, "no memory for the null output");
	return -ENOMEM;
}

static void
null_close(struct card *card)
{
	paced_finish(paced_of(card));
	free(card);
}

/* What was played is stored by nobody: it is gone at once, and its room is
 * free only then, so that the status is taken again. */
static RT_SAFE int
null_status(struct card *card, struct card_status *ret_status)
{
	struct paced *paced = paced_of(card);
	size_t frames = 0;
	const int error = paced_status(paced, ret_status);

	do {
		(void)paced_read(paced, &frames);
		paced_stored(paced, frames);
	} while (frames > 0);
	return error < 0 ? error : paced_status(paced, ret_status);
}

static RT_SAFE int
null_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	return paced_begin(paced_of(card), ret_memory, ret_frames);
}

static RT_SAFE int
null_commit(struct card *card, size_t frames)
{
	return paced_commit(paced_of(card), frames);
}

static RT_SAFE long
null_rewind(struct card *card, size_t frames)
{
	return paced_rewind(paced_of(card), frames);
}

static RT_SAFE int
null_start(struct card *card)
{
	return paced_start(paced_of(card));
}

static RT_SAFE int
null_reset(struct card *card)
{
	return paced_reset(paced_of(card));
}

static RT_SAFE int
null_resume(struct card *card)
{
	(void)card;
	return -ENOSYS;
}

static RT_SAFE unsigned
null_poll_fds(struct card *card, struct pollfd *ret_fds, unsigned capacity)
{
	(void)card;
	(void)ret_fds;
	(void)capacity;
	return 0;
}

static RT_SAFE int
null_poll_events(struct card *card, struct pollfd *fds, unsigned count)
{
	(void)card;
	(void)fds;
	(void)count;
	return 0;
}

const struct card_ops card_null = {
	.name = "null",
	.open = null_open,
	.close = null_close,
	.status = null_status,
	.begin = null_begin,
	.commit = null_commit,
	.rewind = null_rewind,
	.start = null_start,
	.reset = null_reset,
	.resume = null_resume,
	.poll_fds = null_poll_fds,
	.poll_events = null_poll_events,
};

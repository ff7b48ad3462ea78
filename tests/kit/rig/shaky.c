/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shaky.c - the card under the plug does all but what the plug is for. */
#include "tests/kit/rig/shaky.h"

#include "lib/base/attr.h"
#include "lib/base/text.h"

#include <errno.h>

static const struct card_ops *card_under;
static struct card_ops shaky;
static ATOMIC(bool) plugged;
static ATOMIC(unsigned) opens;
static ATOMIC(unsigned) closes;

static int
shaky_open(const struct card_request *request, struct card **ret_card,
	   struct text *ret_reason)
{
	int result;

	if (!atomic_load(&plugged)) {
		text_add(ret_reason, "unplugged");
		return -ENODEV;
	}
	result = card_under->open(request, ret_card, ret_reason);
	if (result == 0) {
		(*ret_card)->ops = &shaky;
		atomic_fetch_add(&opens, 1);
	}
	return result;
}

static void
shaky_close(struct card *card)
{
	card_under->close(card);
	atomic_fetch_add(&closes, 1);
}

static int
shaky_status(struct card *card, struct card_status *ret_status)
{
	return atomic_load(&plugged) ? card_under->status(card, ret_status)
				     : -ENODEV;
}

const struct card_ops *
shaky_card(const struct card_ops *under)
{
	card_under = under;
	shaky = *under;
	shaky.open = shaky_open;
	shaky.close = shaky_close;
	shaky.status = shaky_status;
	atomic_store(&plugged, true);
	atomic_store(&opens, 0);
	atomic_store(&closes, 0);
	return &shaky;
}

void
shaky_plug(bool in)
{
	atomic_store(&plugged, in);
}

unsigned
shaky_opens(void)
{
	return atomic_load(&opens);
}

unsigned
shaky_closes(void)
{
	return atomic_load(&closes);
}

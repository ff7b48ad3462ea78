/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shaky.h - another sound card with a plug that a test pulls out and puts in
 * again, and that counts. An open card without its plug fails with -ENODEV when
 * it is asked for its status; one that is opened fails for "unplugged".
 * Threads: the card's as card.h says; shaky_card() when none is open; the rest
 * any. */
#ifndef ROTARY_KIT_SHAKY_H
#define ROTARY_KIT_SHAKY_H

#include "daemon/output/card.h"

#include <stdbool.h>

/* A plug for that card, which is in; nothing has been counted. There is one:
 * the one made before is this one now. */
const struct card_ops *shaky_card(const struct card_ops *under);

void shaky_plug(bool in);
unsigned shaky_opens(void);
unsigned shaky_closes(void);

#endif

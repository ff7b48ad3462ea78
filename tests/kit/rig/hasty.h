/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hasty.h - a sound card whose time passes when the test says so, as fast as it
 * likes, and that never runs dry. So a test of what is played does not take as
 * long as what is played, and cannot fail because the machine was busy. Takes
 * any rate and channels, as floats; nothing can be taken back.
 * Threads: cards as card.h says; hasty_pass() any; the rest when no card is
 * open. */
#ifndef ROTARY_KIT_HASTY_H
#define ROTARY_KIT_HASTY_H

#include "daemon/output/card.h"

/* All that was heard between an open and its close. */
struct hasty_take {
	struct card_spec spec;
	float *samples;
	size_t frames;
};

extern const struct card_ops card_hasty;

/* So long an open card plays on: what it holds, or less if it holds less. */
void hasty_pass(uint32_t ms);

unsigned hasty_count(void);
const struct hasty_take *hasty_take(unsigned number);
void hasty_forget(void);

#endif

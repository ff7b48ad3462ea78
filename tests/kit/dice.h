/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dice.h - repeatable chance for tests: the same seed gives the same rolls.
 * (G. Marsaglia, "Xorshift RNGs", 2003.) One thread per dice. */
#ifndef ROTARY_KIT_DICE_H
#define ROTARY_KIT_DICE_H

#include <stdint.h>

struct dice {
	uint64_t state;
};

static inline struct dice
dice_seeded(uint64_t seed)
{
	return (struct dice){(seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
}

/* 0 .. sides - 1 */
static inline uint32_t
dice_roll(struct dice *dice, uint32_t sides)
{
	dice->state ^= dice->state << 13;
	dice->state ^= dice->state >> 7;
	dice->state ^= dice->state << 17;
	return (uint32_t)(dice->state >> 32) % sides;
}

#endif

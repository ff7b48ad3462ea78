/* SPDX-License-Identifier: GPL-3.0-or-later */
/* player_ahead.c - very short songs: what follows next is opened as well.
 *
 * A stream takes some time to be opened, and the engine mixes ahead of what is
 * heard. So when all that is to follow is over within a second, one opened when
 * the one before it begins would come too late to be joined to it. Only what is
 * sure to follow is opened: in the order of the queue, in no special mode.
 *
 * What cannot be opened yet is announced by expect, so that the engine does not
 * take the last that it was told of for the end.
 *
 * Each is told by follow when the one before it was; whoever changes what is
 * before gives up all that is behind. */
#include "daemon/player/player_parts.h"

#include "lib/base/clock.h"

static const int64_t ENOUGH_NS = NS_PER_S;

static struct slot *
before(struct player *player, unsigned index)
{
	return index == 0 ? &player->next : &player->ahead[index - 1];
}

static void
release_from(struct player *player, unsigned index)
{
	while (player->ahead_count > index)
		slot_release(player, &player->ahead[--player->ahead_count]);
}

void
player_drop_ahead(struct player *player)
{
	release_from(player, 0);
}

void
player_cut_ahead(struct player *player, const struct slot *slot)
{
	const unsigned index = (unsigned)(slot - player->ahead);

	if (slot->told)
		player->ops->follow(player->context,
				    before(player, index)->stream, 0);
	release_from(player, index);
}

struct slot *
player_find_ahead(struct player *player, uint64_t stream)
{
	unsigned i = 0;

	for (i = 0; i < player->ahead_count; i++)
		if (stream != 0 && player->ahead[i].stream == stream)
			return &player->ahead[i];
	return NULL;
}

void
player_shift_ahead(struct player *player)
{
	unsigned i = 0;

	player->next = (struct slot){0};
	if (player->ahead_count == 0)
		return;
	player->next = player->ahead[0];
	player->ahead_count--;
	for (i = 0; i < player->ahead_count; i++)
		player->ahead[i] = player->ahead[i + 1];
	player->ahead[i] = (struct slot){0};
}

/* All that is known to follow is ready, and over soon. */
static bool
is_short(struct player *player)
{
	int64_t sum_ns = 0;
	unsigned i = 0;

	for (i = 0; i <= player->ahead_count; i++) {
		const struct slot *slot = before(player, i);

		if (!slot->ready || slot->duration_ns < 0)
			return false;
		sum_ns += slot->duration_ns;
	}
	return sum_ns < ENOUGH_NS;
}

static bool
open_one(struct player *player)
{
	const uint32_t id = player_choose_after(
		player, before(player, player->ahead_count)->id);
	struct slot *slot = &player->ahead[player->ahead_count];

	if (id == 0)
		return false;
	if (!slot_open(player, slot, id, 0)) {
		slot_release(player, slot);
		return false;
	}
	player->ahead_count++;
	return true;
}

void
player_plan_ahead(struct player *player)
{
	unsigned i = 0;

	for (i = 0; i < player->ahead_count; i++) {
		if (player->ahead[i].id !=
		    player_choose_after(player, before(player, i)->id)) {
			player_cut_ahead(player, &player->ahead[i]);
			break;
		}
	}
	if (!player->next.told)
		return;
	for (i = 0; i < player->ahead_count; i++) {
		struct slot *slot = &player->ahead[i];

		if (!slot->ready)
			break;
		if (!slot->told)
			player->ops->follow(player->context,
					    before(player, i)->stream,
					    slot->stream);
		slot->told = true;
	}
	if (player->ahead_count < PLAYER_AHEAD && is_short(player))
		(void)open_one(player);
}

/* What is sure to come behind the last that was told. */
static bool
has_more(const struct player *player)
{
	const struct slot *last = &player->next;

	if (player->current.song == NULL || player_stops_at_border(player))
		return false;
	if (!player->next.told)
		return player->next_id != 0;
	if (player->ahead_count > 0)
		last = &player->ahead[player->ahead_count - 1];
	return !last->told || player_choose_after(player, last->id) != 0;
}

void
player_tell_more(struct player *player)
{
	const bool more = has_more(player);

	if (more == player->engine_expects)
		return;
	player->engine_expects = more;
	if (player->ops->expect != NULL)
		player->ops->expect(player->context, more);
}

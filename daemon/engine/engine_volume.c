/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_volume.c - where the volume is made: here, or by the card's own mixer.
 *
 *   mixer there: volume == 1, or 0 for silence, which not every card can do
 *   else:        volume == wanted_volume
 *
 * Before a card that was opened plays its first sample, the mixer is set again,
 * since it may be another card, or one that has forgotten. One that does not
 * answer is waited for at most ENGINE_MIXER_WAIT_NS, with the music lowered
 * here if the mixer was away. */
#include "daemon/engine/engine_parts.h"

#include "daemon/output/mixer.h"
#include "daemon/output/output.h"
#include "lib/base/clock.h"

static void
place_volume(struct engine *engine)
{
	const float wanted = engine->wanted_volume;

	engine->volume = wanted;
	if (engine->mixer != NULL && mixer_is_there(engine->mixer))
		engine->volume = wanted > 0.0F ? 1.0F : 0.0F;
}

static void
on_settled(void *context)
{
	struct engine *engine = context;
	const bool is_there = mixer_is_there(engine->mixer);
	const bool is_away = mixer_error(engine->mixer)[0] != '\0';

	if (is_there != engine->mixer_was_there ||
	    is_away != engine->mixer_was_away)
		engine_add_news(engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	engine->mixer_was_there = is_there;
	engine->mixer_was_away = is_away;
	place_volume(engine);
	engine_settle(engine);
}

static void
on_changed(void *context, float gain)
{
	struct engine *engine = context;

	engine->wanted_volume = gain;
	place_volume(engine);
	if (engine->events->volume_changed != NULL)
		engine->events->volume_changed(engine->context, gain);
}

static const struct mixer_events mixer_events = {
	.settled = on_settled,
	.changed = on_changed,
};

int
volume_create(struct engine *engine)
{
	if (engine->config.volume != ENGINE_VOLUME_HARDWARE)
		return 0;
	return mixer_create(&engine->config.mixer, engine->work, &mixer_events,
			    engine, &engine->mixer);
}

void
volume_destroy(struct engine *engine)
{
	mixer_destroy(engine->mixer);
	engine->mixer = NULL;
}

void
volume_on_card(struct engine *engine)
{
	if (engine->mixer == NULL)
		return;
	mixer_apply(engine->mixer);
	engine->mixer_wait_ns = clock_now_ns() + ENGINE_MIXER_WAIT_NS;
}

bool
volume_is_set(struct engine *engine)
{
	const int64_t left_ns = engine->mixer_wait_ns - clock_now_ns();

	if (engine->mixer_wait_ns == 0)
		return true;
	if (mixer_is_busy(engine->mixer) && left_ns > 0) {
		engine_due(engine, left_ns);
		return false;
	}
	engine->mixer_wait_ns = 0;
	return true;
}

float
volume_of(const struct engine *engine, unsigned index)
{
	if (engine->outputs[index].config.volume == ENGINE_VOLUME_NONE)
		return 1.0F;
	return index == 0 ? engine->volume : engine->wanted_volume;
}

int
engine_mixer_fd(const struct engine *engine)
{
	return engine->mixer != NULL ? mixer_event_fd(engine->mixer) : -1;
}

void
engine_set_volume(struct engine *engine, float volume)
{
	engine->wanted_volume = volume;
	if (engine->mixer != NULL)
		mixer_set(engine->mixer, volume);
	place_volume(engine);
	engine_settle(engine);
}

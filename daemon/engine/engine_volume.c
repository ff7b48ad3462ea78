/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_volume.c - where the volume of each output is made: in its samples, or
 * by its card's own mixer.
 *
 *   mixer there: gain == 1, or 0 for silence, which not every card can do
 *   else:        gain == wanted_volume, or 1 for an output without a volume
 *
 * There is one volume, which all outputs get; what others do to a card's
 * control is the volume only where that card is the clock's. A follower that
 * was set elsewhere stays so until the next wish.
 *
 * Before a card that was opened plays its first sample, the mixer is set again,
 * since it may be another card, or one that has forgotten. One that does not
 * answer is waited for at most ENGINE_MIXER_WAIT_NS, with the music lowered
 * here if the mixer was away. */
#include "daemon/engine/engine_parts.h"

#include "daemon/output/mixer.h"
#include "daemon/output/output.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

static void
on_settled(void *context)
{
	struct output_side *side = context;
	const bool is_there = mixer_is_there(side->mixer);
	const bool is_away = mixer_error(side->mixer)[0] != '\0';

	if (is_there != side->mixer_was_there ||
	    is_away != side->mixer_was_away)
		engine_add_news(side->engine, NEWS_OUTPUT, LANE_MUSIC, 0, "");
	side->mixer_was_there = is_there;
	side->mixer_was_away = is_away;
	engine_settle(side->engine);
}

static void
set_mixers(struct engine *engine, float volume,
	   const struct output_side *without)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (engine->outputs[i].mixer != NULL &&
		    &engine->outputs[i] != without)
			mixer_set(engine->outputs[i].mixer, volume);
}

static void
on_changed(void *context, float gain)
{
	struct output_side *side = context;
	struct engine *engine = side->engine;

	if (side->index != engine->clock)
		return;
	engine->wanted_volume = gain;
	set_mixers(engine, gain, side);
	if (engine->events->volume_changed != NULL)
		engine->events->volume_changed(engine->context, gain);
}

static const struct mixer_events mixer_events = {
	.settled = on_settled,
	.changed = on_changed,
};

static int
create_mixer(struct engine *engine, struct output_side *side)
{
	struct epoll_event event = {.events = EPOLLIN};
	int result;

	if (engine->mixers_fd < 0)
		engine->mixers_fd = epoll_create1(EPOLL_CLOEXEC);
	if (engine->mixers_fd < 0)
		return -errno;
	result = mixer_create(&side->config.mixer, engine->work, &mixer_events,
			      side, &side->mixer);
	if (result < 0)
		return result;
	return epoll_ctl(engine->mixers_fd, EPOLL_CTL_ADD,
			 mixer_event_fd(side->mixer), &event) < 0
		       ? -errno
		       : 0;
}

int
volume_create(struct engine *engine)
{
	unsigned i;
	int result = 0;

	for (i = 0; i < engine->output_count && result == 0; i++)
		if (engine->outputs[i].config.volume == ENGINE_VOLUME_HARDWARE)
			result = create_mixer(engine, &engine->outputs[i]);
	return result;
}

void
volume_destroy(struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++) {
		mixer_destroy(engine->outputs[i].mixer);
		engine->outputs[i].mixer = NULL;
	}
	if (engine->mixers_fd >= 0)
		close(engine->mixers_fd);
	engine->mixers_fd = -1;
}

void
volume_dispatch(struct engine *engine)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++)
		if (engine->outputs[i].mixer != NULL)
			mixer_dispatch(engine->outputs[i].mixer);
}

void
volume_on_card(struct output_side *side)
{
	if (side->mixer == NULL)
		return;
	mixer_apply(side->mixer);
	side->mixer_wait_ns = clock_now_ns() + ENGINE_MIXER_WAIT_NS;
}

bool
volume_is_set(struct engine *engine)
{
	struct output_side *side = clock_side(engine);
	const int64_t left_ns = side->mixer_wait_ns - clock_now_ns();

	if (side->mixer_wait_ns == 0)
		return true;
	if (mixer_is_busy(side->mixer) && left_ns > 0) {
		engine_due(engine, left_ns);
		return false;
	}
	side->mixer_wait_ns = 0;
	return true;
}

float
volume_of(const struct engine *engine, unsigned index)
{
	const struct output_side *side = &engine->outputs[index];

	if (side->config.volume == ENGINE_VOLUME_NONE)
		return 1.0F;
	if (side->mixer != NULL && mixer_is_there(side->mixer))
		return engine->wanted_volume > 0.0F ? 1.0F : 0.0F;
	return engine->wanted_volume;
}

int
engine_mixer_fd(const struct engine *engine)
{
	return engine->mixers_fd;
}

void
engine_set_volume(struct engine *engine, float volume)
{
	engine->wanted_volume = volume;
	set_mixers(engine, volume, NULL);
	engine_settle(engine);
}

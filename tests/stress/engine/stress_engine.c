/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stress_engine.c - a storm of commands: play, seek, next, follow, release,
 * pause, stop and volume in any order and at any moment, on songs of all sorts,
 * with a card that goes and comes. Nothing hangs, nothing is told of what was
 * released, and when all was released all memory is back.
 *
 *   stress_engine [SEED [MILLISECONDS]] */
#include "daemon/engine/engine_parts.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "tests/kit/crew.h"
#include "tests/kit/dice.h"
#include "tests/kit/music/music.h"
#include "tests/kit/rig/rig.h"
#include "tests/kit/rig/shaky.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SONGS = 9, HELD = 7 };

struct storm {
	struct rig rig;
	struct dice dice;
	uint64_t held[HELD]; /* streams that are ours; 0: none */
	unsigned seen;       /* events that were looked at */
};

static const char *const names[SONGS] = {
	"a.flac",    "b.flac",    "mono.flac", "fast.flac", "one.flac",
	"chain.ogg", "noise.ogg", "cut.flac",  "none.flac",
};

static void
make_songs(const struct rig *rig)
{
	const struct rig_song mono = {"mono.flac", 3, 9000, RIG_RATE, 1};
	const struct rig_song fast = {"fast.flac", 4, 9000, 48000, 2};
	struct recipe recipe = {.rate_hz = RIG_RATE,
				.channels = 2,
				.bits = 16,
				.frames = 20000,
				.seed = 5};
	struct bytes file = {0};

	rig_make(rig, "a.flac", 1, 3 * RIG_RATE);
	rig_make(rig, "b.flac", 2, 7000);
	rig_make_flac(rig, &mono);
	rig_make_flac(rig, &fast);
	rig_make(rig, "one.flac", 5, 1);
	make_flac(&recipe, &file, NULL);
	rig_write(rig, "cut.flac", file.data, file.length / 2);
	bytes_finish(&file);
	recipe.frames = 5000;
	for (recipe.serial = 1; recipe.serial < 4; recipe.serial++)
		make_vorbis(&recipe, &file);
	rig_write(rig, "chain.ogg", file.data, file.length);
	memset(file.data + 60, 0x33, file.length - 60);
	rig_write(rig, "noise.ogg", file.data, file.length);
	bytes_finish(&file);
}

static bool
is_held(const struct storm *storm, uint64_t stream)
{
	unsigned i;

	for (i = 0; i < HELD; i++)
		if (storm->held[i] == stream)
			return true;
	return false;
}

/* At the time of the event its stream was ours. */
static void
check_events(struct storm *storm)
{
	struct rig *rig = &storm->rig;

	for (; storm->seen < rig->count; storm->seen++) {
		const struct rig_event *event = &rig->events[storm->seen];

		crew_check(event->kind == RIG_OUTPUT ||
			   is_held(storm, event->stream));
	}
	rig->count = 0;
	storm->seen = 0;
}

static void
release(struct storm *storm, unsigned at)
{
	if (storm->held[at] != 0)
		engine_release(storm->rig.engine, storm->held[at]);
	storm->held[at] = 0;
}

static void
open_some(struct storm *storm, unsigned at)
{
	const char *name = names[dice_roll(&storm->dice, SONGS)];
	const int64_t start_ns =
		dice_roll(&storm->dice, 2) *
		(int64_t)dice_roll(&storm->dice, 200 * 1000 * 1000);

	release(storm, at);
	storm->held[at] = rig_open(&storm->rig, name, start_ns);
}

static void
command(struct storm *storm)
{
	struct engine *engine = storm->rig.engine;
	const unsigned at = dice_roll(&storm->dice, HELD);
	const unsigned other = dice_roll(&storm->dice, HELD);
	struct engine_position position;
	int result = 0;

	switch (dice_roll(&storm->dice, 16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		open_some(storm, at);
		break;
	case 4:
	case 5:
	case 6:
		result = engine_play(engine, LANE_MUSIC, storm->held[at]);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
		result = engine_follow(engine, LANE_MUSIC, storm->held[at],
				       storm->held[other]);
		break;
	case 11:
		release(storm, at);
		break;
	case 12:
		engine_pause(engine, LANE_MUSIC,
			     dice_roll(&storm->dice, 3) == 0);
		break;
	case 13:
		if (dice_roll(&storm->dice, 4) == 0)
			engine_stop(engine, LANE_MUSIC);
		break;
	case 14:
		engine_set_volume(engine,
				  dice_roll(&storm->dice, 2) ? 1.0F : 0.5F);
		break;
	default:
		shaky_plug(dice_roll(&storm->dice, 12) != 0);
		break;
	}
	(void)result; /* any of the documented ones */
	engine_position(engine, LANE_MUSIC, &position);
	crew_check(position.elapsed_ns >= 0);
}

static void
wait_for_calm(struct storm *storm)
{
	struct rig *rig = &storm->rig;
	const int64_t until_ns = clock_now_ns() + RIG_PATIENCE_NS;
	struct pool_usage usage;

	while (rig->engine->stream_count > 0 ||
	       rig->engine->card.phase != CARD_DOWN) {
		crew_check(clock_now_ns() < until_ns);
		rig_turn(rig, clock_now_ns() + 20 * NS_PER_MS);
	}
	pool_get_usage(rig->engine->commons->pool, &usage);
	crew_check(pool_check(rig->engine->commons->pool));
	crew_check(usage.used_bytes == 0 && usage.apart_bytes == 0);
}

int
main(int argc, char **argv)
{
	static struct storm storm;
	const unsigned seed =
		argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	const int64_t lasts_ns =
		(argc > 2 ? strtol(argv[2], NULL, 10) : 2500) * NS_PER_MS;
	int64_t until_ns;
	unsigned i;

	thread_adopt(THREAD_ROLE_CONTROL, "storm");
	storm.dice = dice_seeded(seed);
	rig_init_with(&storm.rig,
		      &(struct rig_options){.driver = shaky_card(&card_null),
					    .ring_bytes = 4 << 20});
	make_songs(&storm.rig);
	until_ns = clock_now_ns() + lasts_ns;
	while (clock_now_ns() < until_ns) {
		command(&storm);
		if (dice_roll(&storm.dice, 3) != 0)
			rig_turn(&storm.rig,
				 clock_now_ns() +
					 dice_roll(&storm.dice, 8) * NS_PER_MS);
		check_events(&storm);
	}
	shaky_plug(true);
	engine_pause(storm.rig.engine, LANE_MUSIC, false);
	engine_stop(storm.rig.engine, LANE_MUSIC);
	for (i = 0; i < HELD; i++)
		release(&storm, i);
	wait_for_calm(&storm);
	rig_finish(&storm.rig);
	return 0;
}

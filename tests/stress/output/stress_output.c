/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A storm of commands on a playing output: cuts, stops, pauses, volumes,
 * speech over it, other specs, closing. Nothing may hang, be lost, or be told
 * twice, and at the end the card must be given back.
 *
 * ROTARY_STRESS_S: seconds to run (default 3). */
#include "tests/unit/output/stage.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct storm {
	struct stage stage;
	uint64_t cuts[LANE_COUNT];
	uint32_t seed;
	unsigned opened; /* as of the decks that are set up */
};

static uint32_t
dice(struct storm *storm, uint32_t sides)
{
	storm->seed = storm->seed * 1664525U + 1013904223U;
	return (storm->seed >> 8) % sides;
}

/* Songs of cuts that the lane has left behind make room for new ones. */
static void
forget_songs(struct storm *storm)
{
	struct stage *stage = &storm->stage;
	unsigned kept = 0;

	pthread_mutex_lock(&stage->lock);
	for (unsigned i = 0; i < stage->song_count; i++) {
		if (stage->songs[i].cut >= storm->cuts[stage->songs[i].lane])
			stage->songs[kept++] = stage->songs[i];
	}
	stage->song_count = kept;
	pthread_mutex_unlock(&stage->lock);
}

/* A new cut: a song, some frames of one, or nothing at all. */
static void
cut(struct storm *storm, unsigned lane)
{
	struct stage *stage = &storm->stage;
	struct mix_lane *planned = &stage->plan.lanes[lane];
	const uint64_t before = storm->cuts[lane] * 10;

	planned->cut = ++storm->cuts[lane];
	planned->start = dice(storm, 3) == 0 ? PLAN_AFTER : PLAN_NOW;
	planned->after_stream = before;
	forget_songs(storm);
	stage_add(stage,
		  &(struct stage_song){.lane = lane,
				       .cut = planned->cut,
				       .stream = planned->cut * 10,
				       .stream_frame = dice(storm, 2) * 1000,
				       .frames = dice(storm, 4) * 4000,
				       .kind = dice(storm, 2) == 0 ? SAMPLE_S32
								   : SAMPLE_F32,
				       .bits = 24,
				       .last = dice(storm, 2) == 0});
}

static void
command(struct storm *storm)
{
	static const float volumes[] = {1.0F, 0.5F, 0.1F, 0.0F};
	struct stage *stage = &storm->stage;

	switch (dice(storm, 8)) {
	case 0:
	case 1:
		cut(storm, LANE_MUSIC);
		break;
	case 2:
		cut(storm, LANE_SPEECH);
		break;
	case 3:
	case 4:
		stage->plan.lanes[LANE_MUSIC].paused ^= 1;
		break;
	case 5:
		stage->plan.volume = volumes[dice(storm, 4)];
		break;
	default:
		stage->plan.lanes[LANE_MUSIC].gain = volumes[dice(storm, 4)];
		break;
	}
	stage_publish(stage);
}

/* As the engine does when the card has been opened. */
static void
begin_anew(struct storm *storm)
{
	struct stage *stage = &storm->stage;

	if (stage->feeder.running)
		stage_stop_feeder(stage);
	stage_set_decks(stage, 200);
	stage->song_count = 0;
	for (unsigned lane = 0; lane < LANE_COUNT; lane++)
		stage->plan.lanes[lane].cut = 0;
	stage_publish(stage);
	stage_start_feeder(stage);
	storm->opened = stage->opened;
	output_run(stage->output);
}

static void
change_card(struct storm *storm)
{
	static const uint32_t rates[] = {44100, 48000, 96000};
	const struct audio_spec spec = {rates[dice(storm, 3)], 2, SAMPLE_S32,
					24};

	if (dice(storm, 3) == 0)
		output_close(storm->stage.output, dice(storm, 2) == 0);
	else
		output_open(storm->stage.output, &spec);
}

static void
turn(struct storm *storm)
{
	struct stage *stage = &storm->stage;
	const struct timespec pause = {0,
				       (long)(dice(storm, 4) * NS_PER_MS) + 1};

	nanosleep(&pause, NULL);
	(void)output_tick(stage->output, clock_now_ns());
	work_dispatch(stage->work);
	stage_take_events(stage);
	(void)snapshot_reclaim(stage->plans);
	if (stage->opened != storm->opened &&
	    output_state(stage->output) == OUTPUT_OPEN)
		begin_anew(storm);
}

/* No cut is told twice, and none that was never given. */
static void
check_events(const struct storm *storm)
{
	for (unsigned i = 0; i < storm->stage.event_count; i++) {
		const struct rt_event *event = &storm->stage.events[i];

		if (event->kind != RT_EVENT_CUT)
			continue;
		assert_true(event->id > 0 &&
			    event->id <= storm->cuts[event->lane]);
		for (unsigned j = 0; j < i; j++) {
			const struct rt_event *other = &storm->stage.events[j];

			assert_false(other->kind == RT_EVENT_CUT &&
				     other->lane == event->lane &&
				     other->id == event->id);
		}
	}
}

static void
test_storm(void **state)
{
	const char *seconds = getenv("ROTARY_STRESS_S");
	const int64_t end_ns =
		clock_now_ns() +
		(seconds != NULL ? strtol(seconds, NULL, 10) : 3) * NS_PER_S;
	const struct output_config config = {.driver = &card_null,
					     .buffer_ms = 80,
					     .period_ms = 10,
					     .rewind = -1,
					     .priority = 45};
	const size_t bytes = (sizeof(struct storm) + CACHE_LINE - 1) /
			     CACHE_LINE * CACHE_LINE;
	struct storm *storm = aligned_alloc(CACHE_LINE, bytes);
	unsigned commands = 0, changes = 0;

	(void)state;
	assert_non_null(storm);
	memset((void *)storm, 0, bytes);
	storm->seed = 2024;
	stage_init(&storm->stage, &config);
	change_card(storm);
	while (clock_now_ns() < end_ns) {
		turn(storm);
		if (storm->stage.event_count == STAGE_EVENTS) {
			check_events(storm);
			storm->stage.event_count = 0;
		}
		command(storm);
		commands++;
		if (dice(storm, 60) == 0) {
			change_card(storm);
			changes++;
		}
	}
	check_events(storm);
	output_close(storm->stage.output, false);
	while (output_state(storm->stage.output) != OUTPUT_CLOSED)
		turn(storm);
	print_message("%u commands, %u changes of the card, opened %u times\n",
		      commands, changes, storm->stage.opened);
	assert_int_equal(storm->stage.failed, 0);
	stage_finish(&storm->stage);
	free(storm);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storm),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

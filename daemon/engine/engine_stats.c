/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine_stats.c - what the engine tells about itself: the output for status,
 * and the lines of rtstats. Nothing here changes anything. */
#include "daemon/engine/engine_parts.h"

#include "daemon/engine/memory.h"
#include "daemon/output/follower.h"
#include "daemon/output/output.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <inttypes.h>

static const char *const output_states[] = {
	[OUTPUT_CLOSED] = "closed",   [OUTPUT_OPENING] = "opening",
	[OUTPUT_OPEN] = "open",       [OUTPUT_DRAINING] = "draining",
	[OUTPUT_CLOSING] = "closing", [OUTPUT_RETRY] = "retry",
};

/* Frames of this stream reach the card as its decoder made them. */
static bool
is_untouched(const struct engine *engine, const struct stream *stream)
{
	const struct card_spec *card = &engine->card.spec;

	return volume_of(engine, engine->clock) == 1.0F &&
	       replay_gain_linear(&stream->replay_gain, &engine->replay_gain) ==
		       1.0F &&
	       stream->info.spec.kind == SAMPLE_S32 &&
	       stream->info.spec.rate_hz == card->rate_hz &&
	       stream->info.spec.channels <= card->channels &&
	       card->format != CARD_F32 && stream->info.spec.bits <= card->bits;
}

/* What is heard of it is mixed with the end of the song before. */
static bool
is_overlapping(const struct engine *engine, struct line *line,
	       const struct stream *stream)
{
	struct line_point point;

	line_locate(engine, line, &point);
	return point.frame <
	       atomic_load_explicit(&stream->mixed_until, memory_order_acquire);
}

static bool
is_bit_perfect(const struct engine *engine)
{
	struct line *music = &engine->lines[LANE_MUSIC];
	unsigned i;
	int index;

	if (engine->card.phase != CARD_UP || music->heard == 0)
		return false;
	for (i = 0; i < LANE_COUNT; i++)
		if (i != LANE_MUSIC && !engine->lines[i].silent)
			return false;
	index = line_find(music, music->heard);
	return index >= 0 && is_untouched(engine, music->entries[index]) &&
	       !is_overlapping(engine, music, music->entries[index]);
}

void
engine_output(const struct engine *engine, struct engine_output *ret_output)
{
	const struct mixer *mixer = engine->outputs[engine->clock].mixer;
	const bool disabled = engine->held && !outputs_any_enabled(engine);

	*ret_output = (struct engine_output){
		.state = output_state(engine->output),
		.held = disabled,
		.card = output_info(engine->output),
		.driver = engine->outputs[engine->clock]
				  .config.output.driver->name,
		.error = disabled ? "All audio outputs are disabled"
				  : output_error(engine->output),
		.mixer_error = mixer != NULL ? mixer_error(mixer) : "",
		.bit_perfect = is_bit_perfect(engine),
	};
}

static void
add_mixer(const struct engine *engine, struct text *text)
{
	const struct mixer *mixer = engine->outputs[engine->clock].mixer;

	if (mixer == NULL)
		return;
	if (mixer_is_there(mixer))
		text_printf(text, "output_mixer: %s\n", mixer_name(mixer));
	else if (mixer_error(mixer)[0] != '\0')
		text_printf(text, "output_mixer_error: %s\n",
			    mixer_error(mixer));
}

static void
add_output(const struct engine *engine, struct text *text)
{
	const struct card_info *card = output_info(engine->output);
	const enum output_state state = output_state(engine->output);

	text_printf(text, "output_driver: %s\n",
		    engine->outputs[engine->clock].config.output.driver->name);
	text_printf(text, "output_state: %s\n", output_states[state]);
	if (output_error(engine->output)[0] != '\0')
		text_printf(text, "output_error: %s\n",
			    output_error(engine->output));
	add_mixer(engine, text);
	if (card == NULL)
		return;
	text_printf(text, "output_card: %s\n", card->name);
	text_printf(text, "output_format: %" PRIu32 ":%s:%" PRIu32 "\n",
		    card->spec.rate_hz, card_format_name(card->spec.format),
		    card->spec.channels);
	text_printf(text, "output_buffer_frames: %" PRIu32 "\n",
		    card->buffer_frames);
	text_printf(text, "output_period_frames: %" PRIu32 "\n",
		    card->period_frames);
	text_printf(text, "output_rewind: %d\n", card->can_rewind);
	text_printf(text, "output_bitperfect: %d\n", is_bit_perfect(engine));
}

static void
add_followers(const struct engine *engine, struct text *text)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++) {
		const struct output_side *side = &engine->outputs[i];
		const struct follower *follower = side->follower;

		if (follower == NULL || i == engine->clock)
			continue;
		text_printf(text, "follower: %s\n", side->config.name);
		text_printf(text, "follower_lag_us: %" PRId64 "\n",
			    atomic_load(&follower->lag_ns) / NS_PER_US);
		text_printf(text, "follower_wanted_lag_us: %" PRId64 "\n",
			    atomic_load(&follower->wanted_lag_ns) / NS_PER_US);
		text_printf(text, "follower_drift_ppm: %.1f\n",
			    (double)atomic_load(&follower->drift_ppb) / 1000);
		text_printf(text, "follower_dropped_frames: %" PRIu64 "\n",
			    atomic_load(&follower->dropped_frames));
		text_printf(text, "follower_breaks: %" PRIu64 "\n",
			    atomic_load(&follower->breaks));
		text_printf(text, "follower_dry_frames: %" PRIu64 "\n",
			    atomic_load(&follower->dry_frames));
	}
}

/* The clock's first. */
static void
add_threads(const struct engine *engine, struct text *text)
{
	unsigned i;

	for (i = 0; i < engine->output_count; i++) {
		const unsigned index =
			(engine->clock + i) % engine->output_count;
		const struct rt_figures *figures =
			output_figures(engine->outputs[index].output);

		if (figures->name[0] != '\0')
			rt_figures_add(figures, text);
	}
}

static void
add_memory(const struct engine *engine, struct text *text)
{
	struct rt_memory_report memory;
	struct pool_usage usage;

	rt_memory_locked(&memory);
	pool_get_usage(engine->commons->pool, &usage);
	text_printf(text, "pool_bytes: %zu\n", usage.bytes);
	text_printf(text, "pool_used_bytes: %zu\n", usage.used_bytes);
	text_printf(text, "pool_largest_gap_bytes: %zu\n",
		    usage.largest_gap_bytes);
	text_printf(text, "pool_apart_bytes: %zu\n", usage.apart_bytes);
	text_printf(text, "pool_locked: %d\n", usage.locked);
	text_printf(text, "memory_locked_bytes: %zu\n", memory.locked_bytes);
	text_printf(text, "memory_missing_bytes: %zu\n", memory.missing_bytes);
}

MAY_BLOCK void
engine_add_rtstats(const struct engine *engine, struct text *text)
{
	/* What follows a thread's name is about that thread. */
	add_output(engine, text);
	add_followers(engine, text);
	add_memory(engine, text);
	memory_add_figures(text);
	text_printf(text, "streams: %u\n", engine->stream_count);
	text_printf(text, "set_items: %zu\n", rotary_length(engine->set));
	text_printf(text, "events_dropped: %" PRIu64 "\n",
		    queue_dropped(engine->commons->bell.queue));
	decoders_add_figures(engine->decoders, text);
	add_threads(engine, text);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix_duck.c - music goes down while something is said over it, so far that it
 * stands mix_bus.duck_db below what is said, and by MIX_DUCK_MOST_DB at most.
 *
 *   said      ______####__##______________
 *   music     ------\____________________,,,,-----
 *                   |  |          | hold |  release
 *                attack
 *
 * Output time is cut into cells of 10 ms. At the first frame of a cell that is
 * mixed it is measured how loud its frames on the decks are; with the cells
 * before it, that tells how far down music should be, and by how much it goes
 * there over this cell. So the gain at a frame depends on decks, plan and the
 * frames before it alone, and a rewind, which undoes the cells that were begun
 * at or after its frame, gets the same again.
 *
 * A level is the loudest cell of the last second: a word is not louder music
 * because of the pause behind it. What is said is over when it was quiet, or
 * gone, for as long as the hold. */
#include "daemon/output/mix_block.h"

#include <math.h>
#include <string.h>

enum {
	CELLS_A_SECOND = 100,
	LEVEL_CELLS = 100,
	HOLD_CELLS = 30,
	ATTACK_CELLS = 3,
	RELEASE_CELLS = 30,
};

/* Mean squares; quieter than this (-60 dB of full scale) nothing is said. */
static const float heard_from = 1e-6F;

RT_SAFE uint32_t
mix_duck_cell_frames(const struct mix *mix)
{
	const uint32_t frames = mix->spec.rate_hz / CELLS_A_SECOND;

	return frames > 0 ? frames : 1;
}

static RT_SAFE struct mix_duck_cell *
cell_at(struct mix_duck *duck, uint64_t cell)
{
	return &duck->cells[cell % MIX_DUCK_CELLS];
}

/* The output frame at which it was begun. */
static RT_SAFE uint64_t
begun_at(const struct mix *mix, struct mix_duck *duck, uint64_t cell)
{
	return cell * mix_duck_cell_frames(mix) + cell_at(duck, cell)->late;
}

static RT_SAFE float
depth_before(struct mix_duck *duck, uint64_t cell)
{
	return cell > 0 && duck->next >= cell
		       ? cell_at(duck, cell - 1)->depth_db
		       : 0.0F;
}

/* The lane's last span, if it is live. */
static RT_SAFE const struct mix_span *
live_span(const struct mix *mix, unsigned lane)
{
	const struct mix_lane_state *state = &mix->lanes[lane];
	const struct mix_span *span = NULL;

	if (state->span_count == 0)
		return NULL;
	span = &state->spans[state->span_count - 1];
	return span->left == MIX_LIVE ? span : NULL;
}

/* Lanes above it, but for the chime, which is short. */
static RT_SAFE bool
is_talked_over(const struct mix *mix, unsigned lane)
{
	for (unsigned i = lane + 1; i < LANE_CHIME; i++)
		if (live_span(mix, i) != NULL)
			return true;
	return false;
}

static RT_SAFE double
sum_of_squares(const void *memory, uint32_t kind, size_t samples)
{
	const int32_t *integers = memory;
	const float *floats = memory;
	double sum = 0;

	for (size_t i = 0; i < samples; i++) {
		const double value = kind == SAMPLE_S32
					     ? (double)integers[i] * 0x1p-31
					     : (double)floats[i];

		sum += value * value;
	}
	return sum;
}

/* Mean square of what the lane will play in frames frames from now on. */
static RT_SAFE float
measure(struct mix *mix, unsigned lane, size_t frames)
{
	const struct mix_span *span = live_span(mix, lane);
	const float gain = mix_gain_at(&mix->lanes[lane].gain, mix->frame);
	struct deck *deck = NULL;
	uint64_t position = 0, end = 0;
	double sum = 0;

	if (span == NULL)
		return 0.0F;
	deck = mix_deck(mix, lane, span);
	position = mix_span_position(span, mix->frame);
	end = pcm_ring_written(&deck->ring);
	if (end > position + frames)
		end = position + frames;
	while (position < end) {
		struct deck_stretch stretch;
		uint64_t next = 0;
		size_t count = 0;
		const void *memory = mix_read_at(&deck->ring, position, &count);

		if (count > end - position)
			count = (size_t)(end - position);
		if (count == 0 ||
		    !deck_stretch_at(deck, position, &stretch, &next))
			break;
		if (count > next - position)
			count = (size_t)(next - position);
		sum += sum_of_squares(memory, stretch.kind,
				      count * mix->spec.channels);
		position += count;
	}
	return (float)(sum / (double)(frames * mix->spec.channels)) * gain *
	       gain;
}

/* How far down it should be when this cell, which was measured, ends, to stand
 * so far below. */
static RT_SAFE float
wanted_depth(struct mix_duck *duck, uint64_t cell, uint32_t below_db)
{
	float said = 0.0F, under = 0.0F, now = 0.0F, depth = 0.0F;

	for (uint64_t i = 0; i < LEVEL_CELLS && i <= cell; i++) {
		const struct mix_duck_cell *old = cell_at(duck, cell - i);

		said = fmaxf(said, old->said);
		under = fmaxf(under, old->under);
		if (i < HOLD_CELLS)
			now = fmaxf(now, old->said);
	}
	if (now < heard_from || under == 0.0F || below_db == 0)
		return 0.0F;
	depth = 10.0F * log10f(under / said) + (float)below_db;
	return fminf(fmaxf(depth, 0.0F), (float)MIX_DUCK_MOST_DB);
}

/* Cells in which nothing was mixed, or nothing was to be done. */
static RT_SAFE void
skip_to(struct mix_duck *duck, uint64_t cell)
{
	if (cell > duck->next + LEVEL_CELLS)
		duck->next = cell - LEVEL_CELLS;
	for (; duck->next < cell; duck->next++)
		*cell_at(duck, duck->next) = (struct mix_duck_cell){0};
}

static RT_SAFE void
begin_cell(struct mix *mix, unsigned lane, uint64_t cell)
{
	const uint64_t end = (cell + 1) * mix_duck_cell_frames(mix);
	const size_t frames = (size_t)(end - mix->frame);
	const float most = (float)MIX_DUCK_MOST_DB * (float)frames /
			   (float)mix_duck_cell_frames(mix);
	struct mix_duck *duck = &mix->ducks[lane];
	struct mix_duck_cell *now = NULL;
	const float before = depth_before(duck, cell);
	float depth = 0.0F;

	skip_to(duck, cell);
	now = cell_at(duck, cell);
	*now = (struct mix_duck_cell){
		.late = (uint32_t)(mix_duck_cell_frames(mix) - frames),
		.under = measure(mix, lane, frames),
	};
	for (unsigned i = lane + 1; i < LANE_CHIME; i++)
		now->said = fmaxf(now->said, measure(mix, i, frames));
	depth = wanted_depth(
		duck, cell,
		atomic_load_explicit(&mix->bus->duck_db, memory_order_relaxed));
	depth = fminf(depth, before + most / ATTACK_CELLS);
	depth = fmaxf(depth, before - most / RELEASE_CELLS);
	now->depth_db = depth;
	duck->next = cell + 1;
	/* What it was fed of this cell and later ones was with another gain. */
	if (depth != 0.0F || before != 0.0F)
		limiter_renew(&mix->limiter, mix->frame);
}

/* Over the cell that mix->frame lies in. */
static RT_SAFE struct gain_ramp
ramp_of(struct mix *mix, unsigned lane, uint64_t cell)
{
	const uint64_t frames = mix_duck_cell_frames(mix);
	struct gain_ramp ramp = {0, 0, 1.0F, 1.0F};
	struct mix_duck *duck = &mix->ducks[lane];

	if (duck->next <= cell)
		return ramp;
	ramp.start = begun_at(mix, duck, cell);
	ramp.frames = (uint32_t)((cell + 1) * frames - ramp.start);
	ramp.from = powf(10.0F, -depth_before(duck, cell) / 20.0F);
	ramp.to = powf(10.0F, -cell_at(duck, cell)->depth_db / 20.0F);
	return ramp;
}

RT_SAFE void
mix_duck_block(struct mix *mix, struct mix_block *block)
{
	const uint64_t cell_frames = mix_duck_cell_frames(mix);
	const uint64_t cell = mix->frame / cell_frames;
	const uint64_t left = (cell + 1) * cell_frames - mix->frame;

	for (unsigned lane = 0; lane < MIX_DUCKS; lane++) {
		struct mix_duck *duck = &mix->ducks[lane];

		if (duck->next <= cell && (is_talked_over(mix, lane) ||
					   depth_before(duck, duck->next) > 0))
			begin_cell(mix, lane, cell);
		if (duck->next > cell && block->frames > left)
			block->frames = (size_t)left;
	}
	for (unsigned i = 0; i < block->voice_count; i++) {
		struct mix_voice *voice = &block->voices[i];

		if (voice->lane < MIX_DUCKS)
			voice->duck = ramp_of(mix, voice->lane, cell);
	}
}

RT_SAFE void
mix_duck_rewind(struct mix *mix, uint64_t frame)
{
	for (unsigned lane = 0; lane < MIX_DUCKS; lane++) {
		struct mix_duck *duck = &mix->ducks[lane];

		while (duck->next > 0 &&
		       begun_at(mix, duck, duck->next - 1) >= frame)
			duck->next--;
	}
}

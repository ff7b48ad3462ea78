/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channels.c - each input's place goes to the outputs that have that place or,
 * where none has, to its neighbours with -3 dB, as BS.775 table 2 says (centre
 * into both fronts, a surround into its front). Mono goes to both fronts as it
 * is, since -3 dB would make a mono song softer than a stereo one. The LFE is
 * dropped where there is none.
 *
 * A matrix whose rows could add up past 1 is scaled down as a whole, so that
 * what was below full scale stays there. */
#include "daemon/audio/channels.h"

#include <string.h>

/* In the order of the mask's bits. */
enum place {
	PLACE_FL,
	PLACE_FR,
	PLACE_FC,
	PLACE_LFE,
	PLACE_BL,
	PLACE_BR,
	PLACE_FLC,
	PLACE_FRC,
	PLACE_BC,
	PLACE_SL,
	PLACE_SR,
	PLACE_COUNT,
};

static const uint8_t layouts[AUDIO_CHANNELS_MAX][AUDIO_CHANNELS_MAX] = {
	{PLACE_FC},
	{PLACE_FL, PLACE_FR},
	{PLACE_FL, PLACE_FR, PLACE_FC},
	{PLACE_FL, PLACE_FR, PLACE_BL, PLACE_BR},
	{PLACE_FL, PLACE_FR, PLACE_FC, PLACE_BL, PLACE_BR},
	{PLACE_FL, PLACE_FR, PLACE_FC, PLACE_LFE, PLACE_BL, PLACE_BR},
	{PLACE_FL, PLACE_FR, PLACE_FC, PLACE_LFE, PLACE_BC, PLACE_SL, PLACE_SR},
	{PLACE_FL, PLACE_FR, PLACE_FC, PLACE_LFE, PLACE_BL, PLACE_BR, PLACE_SL,
	 PLACE_SR},
};

/* Where a place without an output of its own goes: tried in this order, the
 * first pair of which one exists is taken. */
static const struct {
	uint8_t targets[2];
	float gain;
} stand_ins[PLACE_COUNT][3] = {
	[PLACE_FL] = {{{PLACE_FC, PLACE_FC}, 0.70710678F}},
	[PLACE_FR] = {{{PLACE_FC, PLACE_FC}, 0.70710678F}},
	[PLACE_FC] = {{{PLACE_FL, PLACE_FR}, 0.70710678F}},
	[PLACE_BL] = {{{PLACE_SL, PLACE_SL}, 1.0F},
		      {{PLACE_FL, PLACE_FL}, 0.70710678F},
		      {{PLACE_FC, PLACE_FC}, 0.5F}},
	[PLACE_BR] = {{{PLACE_SR, PLACE_SR}, 1.0F},
		      {{PLACE_FR, PLACE_FR}, 0.70710678F},
		      {{PLACE_FC, PLACE_FC}, 0.5F}},
	[PLACE_FLC] = {{{PLACE_FL, PLACE_FL}, 1.0F},
		       {{PLACE_FC, PLACE_FC}, 0.70710678F}},
	[PLACE_FRC] = {{{PLACE_FR, PLACE_FR}, 1.0F},
		       {{PLACE_FC, PLACE_FC}, 0.70710678F}},
	[PLACE_BC] = {{{PLACE_BL, PLACE_BR}, 0.70710678F},
		      {{PLACE_FL, PLACE_FR}, 0.5F},
		      {{PLACE_FC, PLACE_FC}, 0.5F}},
	[PLACE_SL] = {{{PLACE_BL, PLACE_BL}, 1.0F},
		      {{PLACE_FL, PLACE_FL}, 0.70710678F},
		      {{PLACE_FC, PLACE_FC}, 0.5F}},
	[PLACE_SR] = {{{PLACE_BR, PLACE_BR}, 1.0F},
		      {{PLACE_FR, PLACE_FR}, 0.70710678F},
		      {{PLACE_FC, PLACE_FC}, 0.5F}},
};

/* The output that has this place, or -1. */
static RT_SAFE int
output_of(uint32_t channels, uint8_t place)
{
	uint32_t i = 0;

	for (i = 0; i < channels; i++) {
		if (layouts[channels - 1][i] == place)
			return (int)i;
	}
	return -1;
}

static RT_SAFE bool
stand_in(struct channel_map *map, uint32_t in, const uint8_t targets[2],
	 float gain)
{
	const int left = output_of(map->out, targets[0]);
	const int right = output_of(map->out, targets[1]);

	if (left < 0 || right < 0)
		return false;
	map->matrix[left][in] = gain;
	map->matrix[right][in] = gain;
	return true;
}

static RT_SAFE void
place_input(struct channel_map *map, uint32_t in, uint8_t place)
{
	const int own = output_of(map->out, place);
	unsigned i = 0;

	if (own >= 0) {
		map->matrix[own][in] = 1.0F;
		return;
	}
	for (i = 0; i < 3 && stand_ins[place][i].gain > 0.0F; i++) {
		if (stand_in(map, in, stand_ins[place][i].targets,
			     stand_ins[place][i].gain))
			return;
	}
}

static RT_SAFE void
normalize(struct channel_map *map)
{
	float most = 1.0F;
	uint32_t i = 0, j = 0;

	for (i = 0; i < map->out; i++) {
		float sum = 0.0F;

		for (j = 0; j < map->in; j++)
			sum += map->matrix[i][j];
		most = sum > most ? sum : most;
	}
	for (i = 0; i < map->out; i++) {
		for (j = 0; j < map->in; j++)
			map->matrix[i][j] /= most;
	}
}

static RT_SAFE void
find_copies(struct channel_map *map)
{
	uint32_t i = 0, j = 0;

	map->copies = true;
	for (i = 0; i < map->out; i++) {
		uint32_t inputs = 0;

		map->source[i] = -1;
		for (j = 0; j < map->in; j++) {
			if (map->matrix[i][j] == 0.0F)
				continue;
			inputs++;
			map->source[i] = (int8_t)j;
			if (inputs > 1 || map->matrix[i][j] != 1.0F)
				map->copies = false;
		}
	}
}

/* The places of the inputs. */
static RT_SAFE void
find_places(uint32_t channels, uint32_t mask,
	    uint8_t ret_places[AUDIO_CHANNELS_MAX])
{
	uint32_t count = 0;
	uint32_t place = 0;

	for (place = 0; place < PLACE_COUNT; place++) {
		if ((mask >> place & 1) == 0)
			continue;
		if (count < channels)
			ret_places[count] = (uint8_t)place;
		count++;
	}
	if (count != channels || mask > CHANNELS_KNOWN)
		memcpy(ret_places, layouts[channels - 1], AUDIO_CHANNELS_MAX);
}

RT_SAFE void
channel_map_init(struct channel_map *map, uint32_t in, uint32_t out)
{
	channel_map_init_mask(map, in, 0, out);
}

RT_SAFE void
channel_map_init_mask(struct channel_map *map, uint32_t in, uint32_t mask,
		      uint32_t out)
{
	uint8_t places[AUDIO_CHANNELS_MAX];
	uint32_t i = 0;

	find_places(in, mask, places);
	memset(map, 0, sizeof(*map));
	map->in = in;
	map->out = out;
	if (in == 1 && output_of(out, PLACE_FL) >= 0) {
		map->matrix[output_of(out, PLACE_FL)][0] = 1.0F;
		map->matrix[output_of(out, PLACE_FR)][0] = 1.0F;
	} else {
		for (i = 0; i < in; i++)
			place_input(map, i, places[i]);
	}
	normalize(map);
	find_copies(map);
}

RT_SAFE void
channel_map_copy(const struct channel_map *map, void *out, const void *in,
		 size_t frames)
{
	const uint32_t *from = in;
	uint32_t *to = out;
	uint32_t channel = 0;
	size_t i = 0;

	for (i = 0; i < frames; i++, from += map->in, to += map->out) {
		for (channel = 0; channel < map->out; channel++) {
			const int8_t source = map->source[channel];

			to[channel] = source < 0 ? 0 : from[source];
		}
	}
}

RT_SAFE void
channel_map_mix(const struct channel_map *map, float *out, const float *in,
		size_t frames)
{
	uint32_t channel = 0, j = 0;
	size_t i = 0;

	for (i = 0; i < frames; i++, in += map->in, out += map->out) {
		for (channel = 0; channel < map->out; channel++) {
			float sum = 0.0F;

			for (j = 0; j < map->in; j++)
				sum += in[j] * map->matrix[channel][j];
			out[channel] = sum;
		}
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wave_places.c - which channel of a PCM file is to be heard where.
 *
 * WAVE says it by a mask (WAVEFORMATEXTENSIBLE: mmreg.h), whose channels come
 * in the order of its bits, which is ours. CAF ("chan") and AIFF ("CHAN") hold
 * an AudioChannelLayout, big endian (Apple's CoreAudioBaseTypes.h):
 *
 *   tag, bitmap, count, count times {label, flags, three coordinates}
 *
 * The tag names an arrangement by heart, or says that the bitmap or the labels
 * count. These come in any order, so that our order is a permutation: it is
 * made when samples are decoded. What is left without a word, or contradicts
 * itself, is heard as the number of channels suggests. */
#include "daemon/decode/wave.h"

#include "daemon/audio/channels.h"

#include <string.h>

enum {
	EXTENSIBLE = 0xfffe,
	MASK_AT = 20,
	TAG_BY_LABELS = 0,
	TAG_BY_BITMAP = 1 << 16,
	HEAD_BYTES = 12,
	LABEL_BYTES = 20,
};

/* The tag without the count of channels in its lower half; a letter for each
 * channel:
 *   L R C F(LFE)  l r surround  a b rear surround  m n left and right of the
 *   centre  s surround in the middle */
static const struct {
	uint16_t number;
	const char *places;
} arrangements[] = {
	{101, "LR"},       {108, "LRlr"},     {109, "LRlrC"},
	{110, "LRlrCs"},   {113, "LRC"},      {114, "CLR"},
	{115, "LRCs"},     {116, "CLRs"},     {117, "LRClr"},
	{118, "LRlrC"},    {119, "LCRlr"},    {120, "CLRlr"},
	{121, "LRCFlr"},   {122, "LRlrCF"},   {123, "LCRlrF"},
	{124, "CLRlrF"},   {125, "LRCFlrs"},  {126, "LRCFlrmn"},
	{127, "CmnLRlrF"}, {128, "LRCFlrab"}, {129, "LRlrCFmn"},
	{131, "LRs"},      {132, "LRlr"},     {133, "LRF"},
	{134, "LRFs"},     {135, "LRFlr"},    {136, "LRCF"},
	{137, "LRCFs"},    {138, "LRlrF"},    {139, "LRlrCs"},
	{140, "LRlrCab"},  {141, "CLRlrs"},   {142, "CLRlrsF"},
	{143, "CLRlrab"},  {144, "CLRlrabs"}, {148, "LRlrCmn"},
	{149, "CF"},       {150, "LCR"},      {151, "LCRs"},
	{152, "LCRF"},     {153, "LRsF"},     {154, "LCRsF"},
};

/* By label; 0: no place of ours. Surround is behind, unless there is a rear
 * one. */
static uint32_t
place_of_label(uint32_t label)
{
	static const uint16_t first[] = {
		0,           CHANNEL_FL, CHANNEL_FR, CHANNEL_FC,
		CHANNEL_LFE, CHANNEL_BL, CHANNEL_BR, CHANNEL_FLC,
		CHANNEL_FRC, CHANNEL_BC, CHANNEL_SL, CHANNEL_SR,
	};

	if (label < sizeof(first) / sizeof(first[0]))
		return first[label];
	if (label == 33)
		return CHANNEL_BL;
	return label == 34 ? CHANNEL_BR : 0;
}

static uint32_t
label_of_letter(char letter)
{
	static const char letters[] = "?LRCFlrmns";
	const char *at = strchr(letters, letter);

	if (letter == 'a' || letter == 'b')
		return letter == 'a' ? 33 : 34;
	return at != NULL ? (uint32_t)(at - letters) : 0;
}

static uint32_t
big_endian(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Takes them over if each channel has a place of its own. */
static void
take(struct wave *wave, const uint32_t places[AUDIO_CHANNELS_MAX])
{
	const uint32_t channels = wave->info.spec.channels;
	uint8_t order[AUDIO_CHANNELS_MAX] = {0};
	uint32_t mask = 0, next = 0;

	for (uint32_t i = 0; i < channels; i++) {
		if (places[i] == 0 || (mask & places[i]) != 0)
			return;
		mask |= places[i];
	}
	for (uint32_t place = 1; place <= mask; place <<= 1)
		for (uint32_t i = 0; i < channels; i++)
			if (places[i] == place)
				order[next++] = (uint8_t)i;
	wave->info.channel_mask = mask;
	memcpy(wave->order, order, sizeof(order));
	for (uint32_t i = 0; i < channels; i++)
		wave->reorder = wave->reorder || order[i] != i;
}

static void
take_mask(struct wave *wave, uint32_t mask)
{
	if ((mask & ~(uint32_t)CHANNELS_KNOWN) == 0 &&
	    (uint32_t)__builtin_popcount(mask) == wave->info.spec.channels)
		wave->info.channel_mask = mask;
}

static void
take_labels(struct wave *wave, const uint32_t labels[AUDIO_CHANNELS_MAX])
{
	const uint32_t channels = wave->info.spec.channels;
	uint32_t places[AUDIO_CHANNELS_MAX] = {0};
	bool has_rear = false;

	for (uint32_t i = 0; i < channels; i++)
		has_rear = has_rear || labels[i] == 33 || labels[i] == 34;
	for (uint32_t i = 0; i < channels; i++) {
		places[i] = place_of_label(labels[i]);
		if (has_rear && (labels[i] == 5 || labels[i] == 6))
			places[i] = labels[i] == 5 ? CHANNEL_SL : CHANNEL_SR;
	}
	take(wave, places);
}

static void
take_arrangement(struct wave *wave, uint32_t tag)
{
	const uint32_t channels = wave->info.spec.channels;
	const size_t count = sizeof(arrangements) / sizeof(arrangements[0]);
	uint32_t labels[AUDIO_CHANNELS_MAX] = {0};
	size_t i = 0;

	while (i < count && arrangements[i].number != tag >> 16)
		i++;
	if (i == count || strlen(arrangements[i].places) != channels)
		return;
	for (uint32_t k = 0; k < channels; k++)
		labels[k] = label_of_letter(arrangements[i].places[k]);
	take_labels(wave, labels);
}

void
wave_place_by_format(struct wave *wave, const uint8_t *chunk, size_t length)
{
	const bool big = wave->layout.big_endian;
	uint32_t tag = 0;

	if (length < MASK_AT + 4)
		return;
	tag = big ? (uint32_t)chunk[0] << 8 | chunk[1]
		  : (uint32_t)chunk[1] << 8 | chunk[0];
	if (tag != EXTENSIBLE)
		return;
	chunk += MASK_AT;
	take_mask(wave, big ? big_endian(chunk)
			    : __builtin_bswap32(big_endian(chunk)));
}

void
wave_place_by_layout(struct wave *wave, const uint8_t *chunk, size_t length)
{
	const uint32_t channels = wave->info.spec.channels;
	uint32_t labels[AUDIO_CHANNELS_MAX] = {0};
	uint32_t tag = 0;

	if (length < HEAD_BYTES)
		return;
	tag = big_endian(chunk);
	if (tag == TAG_BY_BITMAP) {
		take_mask(wave, big_endian(chunk + 4));
	} else if (tag != TAG_BY_LABELS) {
		take_arrangement(wave, tag);
	} else if (big_endian(chunk + 8) == channels &&
		   length >= HEAD_BYTES + channels * LABEL_BYTES) {
		for (uint32_t i = 0; i < channels; i++)
			labels[i] = big_endian(chunk + HEAD_BYTES +
					       (size_t)i * LABEL_BYTES);
		take_labels(wave, labels);
	}
}

void
wave_reorder(const struct wave *wave, uint32_t *samples, size_t frames)
{
	const uint32_t channels = wave->info.spec.channels;
	uint32_t frame[AUDIO_CHANNELS_MAX];

	for (; frames > 0; frames--, samples += channels) {
		memcpy(frame, samples, channels * sizeof(*samples));
		for (uint32_t i = 0; i < channels; i++)
			samples[i] = frame[wave->order[i]];
	}
}

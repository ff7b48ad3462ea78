/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix_render.c - a block, from the decks into the card's memory.
 *
 *   one voice, S32, every gain 1, no ramp -> convert_s32_to_card(): unchanged
 *   none                                  -> zeros, without dither
 *   else                                  -> sum of floats, limited, dithered
 *
 * The limiter must know what is to come: before a block is mixed it is fed the
 * sums of the frames behind it, as they will be if all goes on as it does. What
 * is decided at a frame later on, and is not known yet, it is told then: the
 * limiter is renewed from that frame. So what it knows when a frame is mixed
 * depends on frames, decks and plan alone. Where nothing can be too loud (the
 * decoder's own integers, or floats for a card that takes them, neither of them
 * made louder) it is told just that, and no sum is made.
 *
 * Other outputs hear the same frames from the tap, before the volume and the
 * limiter: sums of their own, made only when somebody wants them. */
#include "daemon/output/mix_block.h"

#include "daemon/audio/convert.h"
#include "daemon/output/tap.h"

#include <string.h>

static const struct mix_gain untouched = {{{0, 0, 1.0F, 1.0F}}, 1};
/* -30 dB. */
static const float speech_floor = 0.0316F;

RT_SAFE struct gain_ramp
mix_fade_in(const struct mix *mix, const struct mix_span *span)
{
	return (struct gain_ramp){
		span->first, span->fade_in ? mix->fade_frames : 0, 0.0F, 1.0F};
}

static RT_SAFE struct gain_ramp
fade_out_of(const struct mix *mix, const struct mix_span *span)
{
	(void)mix;
	return (struct gain_ramp){span->left_at,
				  (uint32_t)(span->end - span->left_at), 1.0F,
				  0.0F};
}

RT_SAFE const void *
mix_read_at(struct pcm_ring *ring, uint64_t position, size_t *ret_frames)
{
	const uint64_t now = pcm_ring_position(ring);

	if (position < now)
		(void)pcm_ring_rewind(ring, (size_t)(now - position));
	else
		pcm_ring_consume(ring, (size_t)(position - now));
	return pcm_ring_read_span(ring, ret_frames);
}

/* Every gain of the voice is 1 over the whole block. */
static RT_SAFE bool
is_untouched(const struct mix *mix, const struct mix_voice *voice)
{
	const struct mix_gain *gains[2] = {voice->gain, &mix->volume};
	const struct gain_ramp fade_in = mix_fade_in(mix, voice->span);
	unsigned i = 0;

	if (voice->span->left != MIX_LIVE || voice->duck.from != 1.0F ||
	    voice->duck.to != 1.0F || !gain_ramp_done(&fade_in, mix->frame))
		return false;
	for (i = 0; i < 2; i++) {
		const struct gain_ramp *ramp =
			&gains[i]->ramps[gains[i]->count - 1];

		if (!gain_ramp_done(ramp, mix->frame) || ramp->to != 1.0F)
			return false;
	}
	return true;
}

/* What is said is heard at any volume. */
static RT_SAFE void
keep_audible(float *gains, size_t frames)
{
	for (size_t i = 0; i < frames; i++)
		gains[i] = gains[i] < speech_floor ? speech_floor : gains[i];
}

/* Of frames frames of the voice, from the output frame `from` on, under this
 * volume. */
static RT_SAFE void
make_gains(struct mix *mix, const struct mix_voice *voice,
	   const struct mix_gain *volume, uint64_t from, size_t frames)
{
	const struct gain_ramp fade_in = mix_fade_in(mix, voice->span);
	const struct mix_gain *gain = voice->gain;

	gain_fill(mix->gains, frames, 1.0F);
	gain_multiply(mix->gains, frames, &volume->ramps[volume->count - 1],
		      from);
	if (voice->lane == LANE_SPEECH || voice->lane == LANE_CHIME)
		keep_audible(mix->gains, frames);
	gain_multiply(mix->gains, frames, &gain->ramps[gain->count - 1], from);
	gain_multiply(mix->gains, frames, &voice->duck, from);
	if (!gain_ramp_done(&fade_in, from))
		gain_multiply(mix->gains, frames, &fade_in, from);
	if (voice->span->left != MIX_LIVE) {
		const struct gain_ramp out = fade_out_of(mix, voice->span);

		gain_multiply(mix->gains, frames, &out, from);
	}
}

/* Adds frames frames of the voice to the sums, from the output frame `from`
 * on, which is this one or a later one: all in one stretch, of this kind. */
static RT_SAFE void
add_voice(struct mix *mix, const struct mix_voice *voice,
	  const struct mix_gain *volume, uint64_t from, size_t frames,
	  uint32_t kind)
{
	const uint64_t position = voice->position + (from - mix->frame);
	const uint32_t channels = mix->spec.channels;
	size_t done = 0;

	make_gains(mix, voice, volume, from, frames);
	while (done < frames) {
		float *sum = mix->sum + done * channels;
		size_t count = 0;
		const void *in = mix_read_at(&voice->deck->ring,
					     position + done, &count);

		if (count > frames - done)
			count = frames - done;
		if (count == 0)
			break;
		if (kind == SAMPLE_S32)
			gain_add_s32(sum, in, mix->gains + done, count,
				     channels);
		else
			gain_add_f32(sum, in, mix->gains + done, count,
				     channels);
		pcm_ring_consume(&voice->deck->ring, count);
		done += count;
	}
}

static RT_SAFE void
copy_voice(struct mix *mix, const struct mix_voice *voice, uint8_t *memory,
	   size_t frames)
{
	const size_t frame_bytes =
		card_format_bytes(mix->spec.format) * mix->spec.channels;
	size_t done = 0;

	while (done < frames) {
		size_t count = 0;
		const void *in = mix_read_at(&voice->deck->ring,
					     voice->position + done, &count);

		if (count > frames - done)
			count = frames - done;
		if (count == 0)
			break;
		convert_s32_to_card(&mix->spec, memory + done * frame_bytes, in,
				    count, mix->frame + done,
				    voice->stretch.bits);
		pcm_ring_consume(&voice->deck->ring, count);
		done += count;
	}
}

RT_SAFE enum limiter_watch
mix_watch(const struct mix *mix, const struct deck_stretch *stretch)
{
	if (stretch->boosted != 0)
		return LIMITER_PEAKS;
	return stretch->kind == SAMPLE_F32 && mix->spec.format != CARD_F32
		       ? LIMITER_SAMPLES
		       : LIMITER_NOTHING;
}

/* What the voice has at the output frame `from`: its stretch, and for how many
 * frames, up to *frames. False: nothing. */
static RT_SAFE bool
look_ahead(const struct mix *mix, const struct mix_voice *voice, uint64_t from,
	   struct deck_stretch *ret_stretch, size_t *frames)
{
	const uint64_t ahead = from - mix->frame;
	const uint64_t position = voice->position + ahead;
	const uint64_t written = pcm_ring_written(&voice->deck->ring);
	uint64_t next = 0;
	uint64_t left = 0;

	if (ahead >= voice->until_cut || position >= written ||
	    !deck_stretch_at(voice->deck, position, ret_stretch, &next))
		return false;
	left = next - position;
	if (left > voice->until_cut - ahead)
		left = voice->until_cut - ahead;
	if (left > written - position)
		left = written - position;
	if (*frames > left)
		*frames = (size_t)left;
	return true;
}

/* More may yet be written where the voice has nothing now. */
static RT_SAFE bool
is_unwritten(const struct mix *mix, const struct mix_voice *voice,
	     uint64_t from)
{
	return voice->span->left == MIX_LIVE &&
	       from - mix->frame < voice->until_cut && !voice->ended;
}

/* Feeds the limiter with a run of frames over which no voice changes its
 * stretch. */
static RT_SAFE void
feed_piece(struct mix *mix, const struct mix_block *block, size_t frames)
{
	const uint64_t from = mix->limiter.fed;
	enum limiter_watch watch = LIMITER_NOTHING;
	struct deck_stretch stretches[MIX_VOICES];
	bool sounds[MIX_VOICES] = {false};
	unsigned i = 0, lanes = 0;

	for (i = 0; i < block->voice_count; i++) {
		const struct mix_voice *voice = &block->voices[i];
		enum limiter_watch wanted = LIMITER_NOTHING;

		sounds[i] =
			look_ahead(mix, voice, from, &stretches[i], &frames);
		if (!sounds[i]) {
			if (is_unwritten(mix, voice, from) &&
			    mix->guessed > from)
				mix->guessed = from;
			continue;
		}
		lanes |= 1U << voice->lane;
		wanted = mix_watch(mix, &stretches[i]);
		watch = wanted > watch ? wanted : watch;
	}
	if ((lanes & (lanes - 1)) != 0)
		watch = LIMITER_PEAKS;
	if (watch != LIMITER_NOTHING)
		memset(mix->sum, 0,
		       frames * mix->spec.channels * sizeof(float));
	for (i = 0; watch != LIMITER_NOTHING && i < block->voice_count; i++) {
		if (sounds[i])
			add_voice(mix, &block->voices[i], &mix->volume, from,
				  frames, stretches[i].kind);
	}
	limiter_feed(&mix->limiter, watch, mix->sum, frames);
}

static RT_SAFE void
feed_limiter(struct mix *mix, const struct mix_block *block)
{
	const uint64_t end =
		mix->frame + block->frames + limiter_reach(&mix->limiter);

	/* Silence was made of the frames in between. */
	if (mix->limiter.fed < mix->frame)
		limiter_renew(&mix->limiter, mix->frame);
	if (mix->guessed < mix->limiter.fed)
		limiter_renew(&mix->limiter, mix->guessed > mix->frame
						     ? mix->guessed
						     : mix->frame);
	mix->guessed = UINT64_MAX;
	while (mix->limiter.fed < end) {
		uint64_t frames = end - mix->limiter.fed;

		if (frames > MIX_BLOCK_FRAMES)
			frames = MIX_BLOCK_FRAMES;
		feed_piece(mix, block, (size_t)frames);
	}
}

/* Integers as they are, as long as no gain is left on them. */
static RT_SAFE bool
can_copy(const struct mix *mix, struct mix_block *block)
{
	const size_t idle =
		limiter_idle(&mix->limiter, mix->frame, block->frames);
	const uint64_t cell = mix->limiter.cell_frames;
	const uint64_t left = cell - mix->frame % cell;

	if (block->voice_count != 1 ||
	    block->voices[0].stretch.kind != SAMPLE_S32 ||
	    !is_untouched(mix, &block->voices[0]))
		return false;
	if (idle > 0)
		block->frames = idle;
	else if (block->frames > left)
		block->frames = (size_t)left;
	return idle > 0;
}

RT_SAFE void
mix_tap_silence(struct mix *mix, size_t frames)
{
	struct tap *tap = mix->bus->tap;
	unsigned kind = 0;

	for (kind = 0; tap != NULL && kind < TAP_MIXES; kind++) {
		if (tap_wants(tap, kind))
			tap_write(tap, kind, mix->frame, NULL, frames);
		else
			tap_pass(tap, kind);
	}
}

/* The voice as who hears nothing but music hears it; false: not at all. */
static RT_SAFE bool
as_music(const struct mix_voice *voice, struct mix_voice *ret_voice)
{
	*ret_voice = *voice;
	ret_voice->gain = &untouched;
	ret_voice->duck = untouched.ramps[0];
	return voice->lane == LANE_MUSIC;
}

static RT_SAFE void
tap_mix(struct mix *mix, const struct mix_block *block, enum tap_mix kind)
{
	struct mix_voice voice;
	bool silent = true;
	unsigned i = 0;

	memset(mix->sum, 0, block->frames * mix->spec.channels * sizeof(float));
	for (i = 0; i < block->voice_count; i++) {
		voice = block->voices[i];
		if (kind == TAP_MUSIC && !as_music(&block->voices[i], &voice))
			continue;
		silent = false;
		add_voice(mix, &voice, &untouched, mix->frame, block->frames,
			  voice.stretch.kind);
	}
	tap_write(mix->bus->tap, kind, mix->frame, silent ? NULL : mix->sum,
		  block->frames);
}

static RT_SAFE void
tap_block(struct mix *mix, const struct mix_block *block)
{
	struct tap *tap = mix->bus->tap;
	unsigned kind = 0;

	for (kind = 0; tap != NULL && kind < TAP_MIXES; kind++) {
		if (tap_wants(tap, kind))
			tap_mix(mix, block, kind);
		else
			tap_pass(tap, kind);
	}
}

/* What of the block this output's own card hears. */
static RT_SAFE void
choose_voices(const struct mix *mix, const struct mix_block *block,
	      struct mix_block *ret_heard)
{
	unsigned i = 0;

	*ret_heard = *block;
	if (!mix->bus->music_only)
		return;
	ret_heard->voice_count = 0;
	for (i = 0; i < block->voice_count; i++)
		if (as_music(&block->voices[i],
			     &ret_heard->voices[ret_heard->voice_count]))
			ret_heard->voice_count++;
}

static RT_SAFE void
sum_up(struct mix *mix, const struct mix_block *block, uint8_t *memory)
{
	unsigned i = 0;

	memset(mix->sum, 0, block->frames * mix->spec.channels * sizeof(float));
	for (i = 0; i < block->voice_count; i++)
		add_voice(mix, &block->voices[i], &mix->volume, mix->frame,
			  block->frames, block->voices[i].stretch.kind);
	limiter_apply(&mix->limiter, mix->frame, mix->sum, block->frames);
	convert_f32_to_card(&mix->spec, memory, mix->sum, block->frames,
			    mix->frame);
}

RT_SAFE void
mix_render(struct mix *mix, struct mix_block *block, uint8_t *memory)
{
	const size_t frame_bytes =
		card_format_bytes(mix->spec.format) * mix->spec.channels;
	struct mix_block heard;
	bool copies = false;

	mix_duck_block(mix, block);
	choose_voices(mix, block, &heard);
	feed_limiter(mix, &heard);
	copies = can_copy(mix, &heard);
	block->frames = heard.frames;
	tap_block(mix, block);
	if (heard.voice_count == 0)
		memset(memory, 0, heard.frames * frame_bytes);
	else if (copies)
		copy_voice(mix, &heard.voices[0], memory, heard.frames);
	else
		sum_up(mix, &heard, memory);
	mix->frame += block->frames;
}

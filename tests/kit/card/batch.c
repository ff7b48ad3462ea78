/* SPDX-License-Identifier: GPL-3.0-or-later */
/* batch.c - to be loaded before all (LD_PRELOAD): with
 * ROTARY_TEST_CARD_BATCH=yes a program takes the test card for hardware whose
 * position moves in periods. alsa-lib has no way for a plug-in to say so
 * itself. */
#include <stdlib.h>
#include <string.h>

#include <alsa/asoundlib.h>

static int
is_batch(void)
{
	const char *word = getenv("ROTARY_TEST_CARD_BATCH");

	return word != NULL && strcmp(word, "yes") == 0;
}

__attribute__((visibility("default"))) int
snd_pcm_hw_params_is_batch(const snd_pcm_hw_params_t *params)
{
	(void)params;
	return is_batch();
}

__attribute__((visibility("default"))) snd_pcm_type_t
snd_pcm_type(snd_pcm_t *pcm)
{
	(void)pcm;
	return is_batch() ? SND_PCM_TYPE_HW : SND_PCM_TYPE_IOPLUG;
}

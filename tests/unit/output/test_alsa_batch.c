/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_alsa_batch.c - the test card as hardware whose position moves in periods
 * and that fetches a whole one at once: rewound by itself, never too late. What
 * alsa-lib has no way for a plug-in to say is said here in its place. */
#include "daemon/output/alsa_setup.h"
#include "lib/base/text.h"
#include "tests/unit/output/desk.h"

static const char *const params = "batch yes\n";

int
snd_pcm_hw_params_is_batch(const snd_pcm_hw_params_t *hw_params)
{
	(void)hw_params;
	return 1;
}

snd_pcm_type_t
snd_pcm_type(snd_pcm_t *pcm)
{
	(void)pcm;
	return SND_PCM_TYPE_HW;
}

static void
test_it_is_rewound_by_itself(void **state)
{
	struct desk *desk = desk_new(params, -1);
	const struct card_request request = {
		.device = desk->device,
		.spec = stereo16,
		.buffer_ms = 400,
		.period_ms = 40,
		.rewind = -1,
	};
	struct text reason = {0};
	struct card *card = NULL;

	(void)state;
	assert_int_equal(card_alsa.open(&request, &card, &reason), 0);
	assert_true(card->info.batch);
	assert_true(card->info.can_rewind);
	/* All of what was asked for, in small periods. */
	assert_int_equal(card->info.buffer_frames, RATE * 4 / 10);
	assert_int_equal(card->info.period_frames, RATE / 100);
	card_alsa.close(card);
	text_finish(&reason);
	desk_free(desk);
}

/* Volumes that change at all places of a period, while the card goes on. */
static void
test_no_frame_comes_too_late(void **state)
{
	struct desk *desk = desk_new(params, -1);
	struct mix_plan *plan = &desk->stage.plan;
	const uint64_t changes = 60;
	uint64_t frames;
	int32_t *heard;

	(void)state;
	assert_true(stage_play(&desk->stage, &stereo16));
	play_song(desk, RATE, 16);
	for (uint64_t i = 0; i < changes; i++) {
		stage_await_heard(&desk->stage, 2000 + i * 613);
		plan->volume = i % 2 == 0 ? 0.5F : 1.0F;
		stage_publish(&desk->stage);
	}
	finish_song(desk);
	heard = read_heard(desk, 1, &frames);
	assert_int_equal(frames, RATE);
	expect(heard, 0, 2000, 0);
	assert_true(count_in_log(desk, "rewind frames") > 10);
	assert_int_equal(count_in_log(desk, "late frames"), 0);
	assert_int_equal(xruns(desk), 0);
	free(heard);
	desk_free(desk);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_rewound_by_itself),
		cmocka_unit_test(test_no_frame_comes_too_late),
	};

	desk_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

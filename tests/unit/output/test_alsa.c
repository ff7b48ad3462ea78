/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an ALSA card is set to, and that what it is given is heard. */
#include "daemon/output/alsa_setup.h"
#include "lib/base/text.h"
#include "tests/unit/output/desk.h"

static void
test_integers_reach_every_format(void **state)
{
	static const struct {
		const char *params;
		enum card_format format;
		uint32_t bits;
	} cases[] = {
		{"formats S16 S24 S24_3 S32 FLOAT\n", CARD_S32, 24},
		{"formats S16 S24 FLOAT\n", CARD_S24, 24},
		{"formats S16 S24_3\n", CARD_S24_3, 24},
		{"formats S16 FLOAT\n", CARD_S16, 16},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct desk *desk = desk_new(cases[i].params, -1);
		struct audio_spec spec = stereo16;
		uint64_t frames;
		int32_t *heard;

		spec.bits = cases[i].bits;
		assert_true(stage_play(&desk->stage, &spec));
		assert_int_equal(desk->stage.info.spec.format, cases[i].format);
		assert_false(desk->stage.info.can_rewind);
		assert_true(desk->stage.info.sealable);
		/* It plays old samples after a rewind: a short buffer. */
		assert_true(desk->stage.info.buffer_frames <= RATE / 10);
		play_song(desk, 6001, cases[i].bits);
		finish_song(desk);
		heard = read_heard(desk, 1, &frames);
		assert_int_equal(frames, 6001);
		for (uint64_t f = 0; f < frames; f++)
			assert_int_equal(heard[f * 2],
					 tape_s32(1, f, 0, cases[i].bits));
		assert_int_equal(xruns(desk), 0);
		free(heard);
		desk_free(desk);
	}
}

static void
test_floats_reach_a_float_card(void **state)
{
	const struct audio_spec spec = {RATE, 2, SAMPLE_F32, 0};
	struct desk *desk = desk_new("", -1);
	uint64_t frames;
	int32_t *heard;

	(void)state;
	assert_true(stage_play(&desk->stage, &spec));
	assert_int_equal(desk->stage.info.spec.format, CARD_F32);
	stage_add(&desk->stage, &(struct stage_song){.cut = 1,
						     .stream = 1,
						     .frames = 5000,
						     .kind = SAMPLE_F32,
						     .last = true});
	desk->stage.plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(&desk->stage);
	finish_song(desk);
	heard = read_heard(desk, 1, &frames);
	assert_int_equal(frames, 5000);
	for (uint64_t i = 0; i < frames * 2; i++) {
		float value;

		memcpy(&value, &heard[i], sizeof(value));
		assert_true(value == tape_f32(1, i / 2, (uint32_t)(i % 2)));
	}
	free(heard);
	desk_free(desk);
}

static void
test_the_nearest_that_the_card_takes(void **state)
{
	const struct audio_spec mono = {44100, 1, SAMPLE_S32, 16};
	struct desk *desk = desk_new("rates 48000 96000\nchannels 2 6\n", -1);

	(void)state;
	output_open(desk->stage.output, &mono);
	assert_true(stage_await_state(&desk->stage, OUTPUT_OPEN));
	assert_int_equal(desk->stage.info.spec.rate_hz, 48000);
	assert_int_equal(desk->stage.info.spec.channels, 2);
	assert_true(stage_close(&desk->stage, false));
	desk_free(desk);
}

static void
test_pause_with_a_rewind(void **state)
{
	struct desk *desk = desk_new("", 1);
	uint64_t frames, at;
	int32_t *heard;

	(void)state;
	assert_true(stage_play(&desk->stage, &stereo16));
	assert_true(desk->stage.info.can_rewind);
	play_song(desk, 15000, 16);
	stage_await_heard(&desk->stage, 3000);
	desk->stage.plan.lanes[LANE_MUSIC].paused = 1;
	stage_publish(&desk->stage);
	at = stage_await(&desk->stage, RT_EVENT_LANE_PAUSED, 1)->value;
	/* The rewind went through: not all of the buffer was left. */
	assert_true(count_in_log(desk, "rewind frames") > 0 || at < 15000);
	stage_await_heard(&desk->stage, at + FADE);
	desk->stage.plan.lanes[LANE_MUSIC].paused = 0;
	stage_publish(&desk->stage);
	finish_song(desk);
	heard = read_heard(desk, 1, &frames);
	expect(heard, 0, at, 0);
	expect(heard, frames - (15000 - at - FADE), frames, at + FADE);
	assert_true(abs(heard[(at + FADE) * 2]) < 1 << 18);
	assert_int_equal(xruns(desk), 0);
	free(heard);
	desk_free(desk);
}

static void
test_a_card_that_takes_nothing(void **state)
{
	struct desk *desk = desk_new("channels 7\nrates 8000\n", -1);

	(void)state;
	output_open(desk->stage.output,
		    &(struct audio_spec){RATE, 8, SAMPLE_S32, 16});
	/* Fewer channels than the file's, at worst: the lane maps. */
	assert_true(stage_await_state(&desk->stage, OUTPUT_OPEN));
	assert_int_equal(desk->stage.info.spec.channels, 7);
	assert_int_equal(desk->stage.info.spec.rate_hz, 8000);
	assert_true(stage_close(&desk->stage, true));
	desk_free(desk);
}

/* A plug would take any rate and convert it; what is asked of it is what the
 * card behind it has. What stands behind it is no hardware: not rewound. */
static void
test_a_plug_does_not_resample(void **state)
{
	struct desk *desk = desk_new("rates 48000\nformats S16\n", -1);
	struct text reason = {0};
	struct card *card = NULL;
	char device[128];
	const struct card_request request = {
		.device = device,
		.spec = {44100, 2, SAMPLE_S32, 24},
		.buffer_ms = 400,
		.period_ms = 10,
		.rewind = -1,
	};

	(void)state;
	snprintf(device, sizeof(device), "plug:'%s'", desk->device);
	assert_int_equal(card_alsa.open(&request, &card, &reason), 0);
	assert_int_equal(card->info.spec.rate_hz, 48000);
	assert_false(card->info.can_rewind);
	assert_false(card->info.sealable);
	assert_true(card->info.buffer_frames <= 4800);
	card_alsa.close(card);
	text_finish(&reason);
	desk_free(desk);
}

static void
test_no_such_card(void **state)
{
	struct text reason = {0};
	struct card *card = NULL;
	const struct card_request request = {.device = "rotary-none",
					     .spec = stereo16,
					     .buffer_ms = 100,
					     .period_ms = 10};

	(void)state;
	assert_true(card_alsa.open(&request, &card, &reason) < 0);
	assert_string_equal(text_string(&reason),
			    "there is no sound card rotary-none");
	text_finish(&reason);
}

/* The kernel's files, in a folder of ours. */
static void
test_who_holds_the_card(void **state)
{
	struct desk *desk = desk_new("", -1);
	char path[512], line[64];
	struct text text = {0};

	(void)state;
	assert_false(alsa_holder_add(desk->dir, &text));
	assert_false(alsa_listed(desk->dir));
	snprintf(path, sizeof(path),
		 "mkdir -p %s/asound/card0/pcm0p/sub0 "
		 "%s/asound/card0/pcm1p/sub0 %s/4242",
		 desk->dir, desk->dir, desk->dir);
	assert_int_equal(system(path), 0);
	write_file(desk, "asound/card0/pcm0p/sub0/status", "closed\n");
	assert_false(alsa_holder_add(desk->dir, &text));
	snprintf(line, sizeof(line), "state: RUNNING\nowner_pid   : 4242\n");
	write_file(desk, "asound/card0/pcm1p/sub0/status", line);
	write_file(desk, "4242/status", "Name:\tx\nTgid:\t4200\n");
	assert_true(alsa_holder_add(desk->dir, &text));
	assert_string_equal(text_string(&text), "process 4200");
	write_file(desk, "4242/status", "Name:\tx\nTgid:\t4242\n");
	write_file(desk, "4242/comm", "mpv\n");
	text_clear(&text);
	assert_true(alsa_holder_add(desk->dir, &text));
	assert_string_equal(text_string(&text), "mpv (process 4242)");
	write_file(desk, "asound/pcm", "00-00: HDA : HDA : capture 1\n");
	assert_false(alsa_listed(desk->dir));
	write_file(desk, "asound/pcm", "00-00: HDA : HDA : playback 1\n");
	assert_true(alsa_listed(desk->dir));
	text_finish(&text);
	desk_free(desk);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_reach_every_format),
		cmocka_unit_test(test_floats_reach_a_float_card),
		cmocka_unit_test(test_the_nearest_that_the_card_takes),
		cmocka_unit_test(test_pause_with_a_rewind),
		cmocka_unit_test(test_a_card_that_takes_nothing),
		cmocka_unit_test(test_a_plug_does_not_resample),
		cmocka_unit_test(test_no_such_card),
		cmocka_unit_test(test_who_holds_the_card),
	};

	desk_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

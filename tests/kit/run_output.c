/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_output - plays a tone, or a file of raw samples, through a driver, with
 * no engine: for trying a card by ear, and for looking at the output thread's
 * figures.
 *
 *   run_output DRIVER[:DEVICE] [NAME=VALUE ...]
 *
 * rate, channels, bits (16: of the file, S16), seconds, buffer, period (ms),
 * rewind (-1, 0, 1), file, pause (s: stands still once, from then for 1 s). */
#include "tests/unit/output/stage.h"

#include "lib/base/text.h"

#include <math.h>

struct run {
	struct stage stage;
	struct output_config config;
	struct audio_spec spec;
	long seconds;
	long pause_s;
	FILE *file;
	uint64_t frames;
	uint64_t made;
	bool at_end;
};

static long
option(int argc, char **argv, const char *name, long fallback)
{
	const size_t length = strlen(name);

	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], name, length) == 0 &&
		    argv[i][length] == '=')
			return strtol(argv[i] + length + 1, NULL, 10);
	}
	return fallback;
}

static const char *
file_option(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], "file=", 5) == 0)
			return argv[i] + 5;
	}
	return NULL;
}

static bool
choose_driver(struct run *run, const char *word)
{
	static const struct card_ops *const drivers[] = {&card_alsa, &card_null,
							 &card_wav};
	const char *colon = strchr(word, ':');
	const size_t length =
		colon != NULL ? (size_t)(colon - word) : strlen(word);

	for (size_t i = 0; i < 3; i++) {
		if (strlen(drivers[i]->name) != length ||
		    strncmp(drivers[i]->name, word, length) != 0)
			continue;
		run->config.driver = drivers[i];
		run->config.device = colon != NULL ? colon + 1 : NULL;
		return true;
	}
	return false;
}

/* One frame of 440 Hz at -12 dB, or of the file. */
static bool
make_frame(struct run *run, int32_t *out)
{
	const uint32_t channels = run->stage.info.spec.channels;
	const double turn = 2 * acos(-1) * 440 / run->stage.info.spec.rate_hz;
	int16_t in[AUDIO_CHANNELS_MAX];

	if (run->file != NULL &&
	    fread(in, sizeof(in[0]) * run->spec.channels, 1, run->file) != 1)
		return false;
	for (uint32_t i = 0; i < channels; i++) {
		const double tone =
			sin(turn * (double)run->made) * 0.25 * INT16_MAX;

		if (run->file == NULL)
			out[i] = (int32_t)lrint(tone) * 65536;
		else
			out[i] = in[i % run->spec.channels] * 65536;
	}
	return run->file != NULL || run->made < run->frames;
}

static void
feed(struct run *run, struct deck *deck)
{
	while (!run->at_end) {
		size_t frames, i;
		int32_t *memory = pcm_ring_write_span(&deck->ring, &frames);

		if (frames == 0)
			return;
		for (i = 0; i < frames && !run->at_end; i++) {
			if (make_frame(run, memory + i * deck->ring.channels))
				run->made++;
			else
				run->at_end = true;
		}
		pcm_ring_commit(&deck->ring, run->at_end ? i - 1 : i);
		if (run->at_end)
			pcm_ring_end(&deck->ring);
	}
}

static void
follow_pause(struct run *run, int64_t began_ns)
{
	const int64_t now_ns = clock_now_ns() - began_ns;
	const bool paused = run->pause_s > 0 &&
			    now_ns > run->pause_s * NS_PER_S &&
			    now_ns < (run->pause_s + 1) * NS_PER_S;

	if (run->stage.plan.lanes[LANE_MUSIC].paused == paused)
		return;
	run->stage.plan.lanes[LANE_MUSIC].paused = paused;
	stage_publish(&run->stage);
}

static void
report(struct run *run)
{
	const struct card_info *info = &run->stage.info;
	struct text text = {0};

	rt_figures_add(output_figures(run->stage.output), &text);
	printf("card: %s\nformat: %s, %u bits\nrate: %u\nchannels: %u\n"
	       "buffer: %u\nperiod: %u\nrewind: %d\nsealable: %d\n%s",
	       info->name, card_format_name(info->spec.format), info->spec.bits,
	       info->spec.rate_hz, info->spec.channels, info->buffer_frames,
	       info->period_frames, info->can_rewind, info->sealable,
	       text_string(&text));
	text_finish(&text);
}

static int
play(struct run *run)
{
	struct stage *stage = &run->stage;
	const int64_t began_ns = clock_now_ns();
	struct deck *deck;

	output_open(stage->output, &run->spec);
	while (stage->opened == 0 && stage->failed == 0)
		stage_turn(stage);
	if (stage->failed > 0) {
		fprintf(stderr, "run_output: %s\n", stage->reason);
		return 1;
	}
	stage_set_decks(stage, 2000);
	run->frames = (uint64_t)run->seconds * stage->info.spec.rate_hz;
	deck = tape_begin(&stage->tape, LANE_MUSIC, 1);
	tape_stretch(deck, 1, 0, SAMPLE_S32, 16);
	feed(run, deck);
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	output_run(stage->output);
	while (stage_find(stage, RT_EVENT_LANE_DRAINED, 1) == NULL &&
	       stage->failed == 0) {
		stage_turn(stage);
		feed(run, deck);
		follow_pause(run, began_ns);
	}
	output_close(stage->output, true);
	if (!stage_await_state(stage, OUTPUT_CLOSED))
		return 1;
	report(run);
	return stage->failed > 0 ? 1 : 0;
}

int
main(int argc, char **argv)
{
	static struct run run;
	const char *file = file_option(argc, argv);
	int status;

	if (argc < 2 || !choose_driver(&run, argv[1])) {
		fprintf(stderr, "usage: run_output alsa|null|wav[:DEVICE] "
				"[NAME=VALUE ...]\n");
		return 2;
	}
	run.config.buffer_ms = (uint32_t)option(argc, argv, "buffer", 500);
	run.config.period_ms = (uint32_t)option(argc, argv, "period", 20);
	run.config.rewind = (int)option(argc, argv, "rewind", -1);
	run.config.priority = 45;
	run.config.fence = RT_FENCE_COUNT;
	run.spec.rate_hz = (uint32_t)option(argc, argv, "rate", 44100);
	run.spec.channels = (uint32_t)option(argc, argv, "channels", 2);
	run.spec.bits = 16;
	run.seconds = option(argc, argv, "seconds", 2);
	run.pause_s = option(argc, argv, "pause", 0);
	if (file != NULL)
		run.file = fopen(file, "rbe");
	if ((file != NULL && run.file == NULL) ||
	    !audio_spec_valid(&run.spec)) {
		fprintf(stderr, "run_output: bad file, rate or channels\n");
		return 2;
	}
	log_init(LOG_LEVEL_INFO);
	if (rt_fence_init() < 0)
		return 1;
	stage_init(&run.stage, &run.config);
	status = play(&run);
	stage_finish(&run.stage);
	if (run.file != NULL)
		fclose(run.file);
	return status;
}

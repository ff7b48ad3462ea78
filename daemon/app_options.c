/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app_options.c - the options of the engine and of each output, out of the
 * configuration: what each word of its choices comes to. */
#include "daemon/app_options.h"

#include "daemon/player/state.h"
#include "lib/base/conf.h"
#include "lib/base/log.h"

_Static_assert(CONF_FURTHER_MAX + 1 <= ENGINE_OUTPUTS_MAX &&
		       ENGINE_OUTPUTS_MAX + 0 <= STATE_OUTPUTS_MAX &&
		       CONF_NAME_MAX + 1 <= STATE_NAME_MAX,
	       "each output that can be configured is there, and remembered");

static const struct card_ops *
choose_driver(const struct conf *conf)
{
	static const struct card_ops *const drivers[] = {
		NULL, &card_alsa, &card_null, &card_wav, &card_pipe};
	const int choice = conf_choice(conf, CONF_OUTPUT_DRIVER);

	if (drivers[choice] != NULL)
		return drivers[choice];
	/* A device that is named may be plugged in later. */
	if (*conf_text(conf, CONF_OUTPUT_DEVICE) != '\0' || card_alsa_present())
		return &card_alsa;
	log_warn("output",
		 "no sound card found: playing silently, paced by the clock; "
		 "--output alsa:DEVICE names one, --output wav:FILE writes "
		 "what would be heard");
	return &card_null;
}

/* What reads a pipe is told its rate once. */
static uint32_t
choose_rate(const struct conf *conf, const struct card_ops *driver)
{
	enum { PIPE_RATE_HZ = 48000 };
	const uint32_t rate_hz = (uint32_t)conf_int(conf, CONF_OUTPUT_RATE);

	return rate_hz == 0 && driver == &card_pipe ? PIPE_RATE_HZ : rate_hz;
}

/* The option lists them in their order. */
bool
app_volume_is(const struct conf *conf, enum engine_volume volume)
{
	return (enum engine_volume)conf_choice(conf, CONF_OUTPUT_MIXER) ==
	       volume;
}

bool
app_has_no_volume(const struct conf *conf)
{
	int i;

	for (i = 0; i < conf_further_count(conf); i++)
		if (!app_volume_is(conf_further_at(conf, i),
				   ENGINE_VOLUME_NONE))
			return false;
	return app_volume_is(conf, ENGINE_VOLUME_NONE);
}

static const char *
text_or(const struct conf *conf, int option, const char *otherwise)
{
	const char *text = conf_text(conf, option);

	return text[0] != '\0' ? text : otherwise;
}

static struct mixer_config
mixer_options(const struct conf *conf, const struct card_ops *driver)
{
	return (struct mixer_config){
		.device = text_or(conf, CONF_OUTPUT_MIXER_DEVICE, NULL),
		.pcm = driver == &card_alsa
			       ? text_or(conf, CONF_OUTPUT_DEVICE, "default")
			       : NULL,
		.control = text_or(conf, CONF_OUTPUT_MIXER_CONTROL, NULL),
	};
}

/* Of [output], or of one [output NAME], whose real-time options are those of
 * all. */
static struct engine_output_config
output_options(const struct conf *conf, const struct conf *all)
{
	/* auto, yes, no */
	static const int rewind[] = {-1, 1, 0};
	const struct card_ops *driver = choose_driver(conf);

	return (struct engine_output_config){
		.name = conf_name(conf),
		.output =
			{
				.driver = driver,
				.device =
					text_or(conf, CONF_OUTPUT_DEVICE, NULL),
				.buffer_ms = (uint32_t)conf_int(
					conf, CONF_OUTPUT_BUFFER_MS),
				.period_ms = (uint32_t)conf_int(
					conf, CONF_OUTPUT_PERIOD_MS),
				.rewind = rewind[conf_choice(
					conf, CONF_OUTPUT_REWIND)],
				.format = (enum card_format)conf_choice(
					conf, CONF_OUTPUT_FORMAT),
				.settle_ms = (uint32_t)conf_int(
					conf, CONF_OUTPUT_SETTLE_MS),
				.keep_open =
					conf_bool(conf, CONF_OUTPUT_KEEP_OPEN),
				.priority = (int)conf_int(
					all, CONF_REALTIME_OUTPUT_PRIORITY),
				.fence = (enum rt_fence)conf_choice(
					all, CONF_REALTIME_FENCE),
				.lock_memory = conf_bool(
					all, CONF_REALTIME_LOCK_MEMORY),
			},
		.volume = (enum engine_volume)conf_choice(conf,
							  CONF_OUTPUT_MIXER),
		.mixer = mixer_options(conf, driver),
		.rate_hz = choose_rate(conf, driver),
		/* The option lists them in their order. */
		.resample_quality = (enum resample_quality)conf_choice(
			conf, CONF_OUTPUT_RESAMPLER),
		.speech = conf_bool(conf, CONF_OUTPUT_SPEECH),
	};
}

struct engine_config
app_engine_options(const struct conf *conf,
		   struct engine_output_config others[CONF_FURTHER_MAX])
{
	const struct engine_output_config first = output_options(conf, conf);
	int i;

	for (i = 0; i < conf_further_count(conf); i++)
		others[i] = output_options(conf_further_at(conf, i), conf);
	return (struct engine_config){
		.output = first.output,
		.volume = first.volume,
		.mixer = first.mixer,
		.music_only = !first.speech,
		.others = others,
		.other_count = (unsigned)conf_further_count(conf),
		.music =
			{
				.folder = conf_text(conf, CONF_LIBRARY_MUSIC),
				.follow_links = conf_bool(
					conf, CONF_LIBRARY_FOLLOW_LINKS),
			},
		.decoders = (int)conf_int(conf, CONF_REALTIME_DECODERS),
		.decoder_priority =
			(int)conf_int(conf, CONF_REALTIME_DECODER_PRIORITY),
		.fence = first.output.fence,
		.lock_memory = first.output.lock_memory,
		.ring_bytes = (size_t)conf_int(conf, CONF_REALTIME_RING_MB)
			      << 20,
		.reserve_bytes =
			(size_t)conf_int(conf, CONF_REALTIME_RESERVE_MB) << 20,
		.rate_hz = first.rate_hz,
		.resample_quality = first.resample_quality,
	};
}

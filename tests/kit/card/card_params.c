/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card_params.c - what the test card is and takes.
 *
 * A parameter has one name and one text value, wherever it is set. The ALSA
 * configuration comes first, the environment over it (ROTARY_TEST_CARD_RATES
 * for "rates"), and a file "params" in the card's folder over both, so that a
 * test can change the card between two opens of one process. */
#include "card.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	snd_pcm_format_t format;
} formats[] = {
	{"S16", SND_PCM_FORMAT_S16_LE},     {"S24", SND_PCM_FORMAT_S24_LE},
	{"S24_3", SND_PCM_FORMAT_S24_3LE},  {"S32", SND_PCM_FORMAT_S32_LE},
	{"FLOAT", SND_PCM_FORMAT_FLOAT_LE}, {"U8", SND_PCM_FORMAT_U8},
};

/* U8 only when it is asked for: the player has nothing to give to it. */
enum { FORMATS = sizeof formats / sizeof formats[0], USUAL = FORMATS - 1 };

static int
parse_number(const char *text, char **ret_end, unsigned *ret_value)
{
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	unsigned long value = strtoul(text, ret_end, 10);
	if (errno || value > INT_MAX)
		return -EINVAL;
	*ret_value = (unsigned)value;
	return 0;
}

static int
parse_list(const char *text, struct card_list *ret_list)
{
	struct card_list list = {.count = 0};
	char *at = NULL;

	for (text += strspn(text, " "); *text; text = at + strspn(at, " ")) {
		if (list.count == CARD_LIST_MAX || list.range)
			return -EINVAL;
		if (parse_number(text, &at, &list.values[list.count]))
			return -EINVAL;
		list.count++;
		if (*at == '-' && list.count == 1) {
			if (parse_number(at + 1, &at, &list.values[1]) ||
			    list.values[1] < list.values[0])
				return -EINVAL;
			list.count = 2;
			list.range = true;
		}
		if (*at && *at != ' ')
			return -EINVAL;
	}
	if (!list.count)
		return -EINVAL;
	*ret_list = list;
	return 0;
}

static int
parse_formats(const char *text, struct card_list *ret_list)
{
	struct card_list list = {.count = 0};

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t length = strcspn(text, " ");
		size_t i = 0;
		while (i < FORMATS && (strlen(formats[i].name) != length ||
				       memcmp(formats[i].name, text, length)))
			i++;
		if (i == FORMATS || list.count == CARD_LIST_MAX)
			return -EINVAL;
		list.values[list.count++] = (unsigned)formats[i].format;
		text += length;
	}
	if (!list.count)
		return -EINVAL;
	*ret_list = list;
	return 0;
}

static int
parse_flag(const char *text, bool *ret_flag)
{
	if (!strcmp(text, "yes") || !strcmp(text, "1"))
		*ret_flag = true;
	else if (!strcmp(text, "no") || !strcmp(text, "0"))
		*ret_flag = false;
	else
		return -EINVAL;
	return 0;
}

static int
parse_unsigned(const char *text, unsigned max, unsigned *ret_value)
{
	char *end = NULL;
	unsigned value = 0;

	if (parse_number(text, &end, &value) || *end || value > max)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static int
parse_ppm(const char *text, long *ret_ppm)
{
	char *end = NULL;

	errno = 0;
	long ppm = strtol(text, &end, 10);
	if (errno || end == text || *end || ppm < -900000 || ppm > 99000000)
		return -EINVAL;
	*ret_ppm = ppm;
	return 0;
}

void
card_params_init(struct card_params *params)
{
	*params = (struct card_params){
		.formats = {.count = USUAL},
		.rates = {.range = true, .count = 2, .values = {8000, 384000}},
		.channels = {.range = true, .count = 2, .values = {1, 8}},
		.buffer_bytes = {.range = true,
				 .count = 2,
				 .values = {256, 16777216}},
		.period_bytes = {.range = true,
				 .count = 2,
				 .values = {64, 8388608}},
		.tick_us = 1000,
		.rewind = true,
		.resume = true,
	};
	for (unsigned i = 0; i < FORMATS; i++)
		params->formats.values[i] = (unsigned)formats[i].format;
}

int
card_params_set(struct card_params *params, const char *name, const char *value)
{
	if (!strcmp(name, "formats"))
		return parse_formats(value, &params->formats);
	if (!strcmp(name, "rates"))
		return parse_list(value, &params->rates);
	if (!strcmp(name, "channels"))
		return parse_list(value, &params->channels);
	if (!strcmp(name, "buffer_bytes"))
		return parse_list(value, &params->buffer_bytes);
	if (!strcmp(name, "period_bytes"))
		return parse_list(value, &params->period_bytes);
	if (!strcmp(name, "batch"))
		return parse_flag(value, &params->batch);
	if (!strcmp(name, "rewind"))
		return parse_flag(value, &params->rewind);
	if (!strcmp(name, "resume"))
		return parse_flag(value, &params->resume);
	if (!strcmp(name, "ppm"))
		return parse_ppm(value, &params->ppm);
	if (!strcmp(name, "fifo_frames"))
		return parse_unsigned(value, 1U << 20, &params->fifo_frames);
	if (!strcmp(name, "tick_us"))
		return parse_unsigned(value, 1000000, &params->tick_us);
	if (!strcmp(name, "dir")) {
		if (strlen(value) >= sizeof params->dir)
			return -EINVAL;
		strcpy(params->dir, value);
		return 0;
	}
	return -EINVAL;
}

static int
override_from_environment(struct card_params *params)
{
	static const char *const names[] = {
		"formats",      "rates",       "channels", "buffer_bytes",
		"period_bytes", "batch",       "rewind",   "resume",
		"ppm",          "fifo_frames", "tick_us",
	};
	const char *dir = getenv("ROTARY_TEST_CARD_DIR");

	/* A folder named in the configuration is that card's own. */
	if (dir && !params->dir[0] && card_params_set(params, "dir", dir))
		return -EINVAL;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char variable[64] = "ROTARY_TEST_CARD_";
		size_t at = strlen(variable);
		for (const char *c = names[i]; *c; c++)
			variable[at++] = (char)toupper((unsigned char)*c);
		variable[at] = '\0';
		const char *value = getenv(variable);
		if (value && card_params_set(params, names[i], value)) {
			fprintf(stderr, "rotarytest: %s: bad value \"%s\"\n",
				variable, value);
			return -EINVAL;
		}
	}
	return 0;
}

int
card_params_override(struct card_params *params)
{
	char text[CARD_PATH_MAX + 16];
	int r = override_from_environment(params);
	FILE *file = NULL;

	if (r || !params->dir[0])
		return r;
	snprintf(text, sizeof text, "%s/params", params->dir);
	file = fopen(text, "re");
	while (file && fgets(text, sizeof text, file)) {
		text[strcspn(text, "\n")] = '\0';
		char *value = strchr(text, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		if (card_params_set(params, text, value)) {
			fprintf(stderr, "rotarytest: params: bad \"%s %s\"\n",
				text, value);
			r = -EINVAL;
		}
	}
	if (file)
		fclose(file);
	return r;
}

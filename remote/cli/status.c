/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.c - the verb status. */
#include "lib/base/clock.h"
#include "remote/cli/cli.h"
#include "remote/cli/song.h"
#include "remote/cli/verbs.h"

#include <string.h>

static void
print_json(struct cli *cli, const struct pairs *status,
	   const struct pairs *song)
{
	struct text text = {0};

	pairs_add_json(status, 0, status->count, &text);
	/* The song as one more member, before the closing brace. */
	if (text.length > 0)
		text.bytes[--text.length] = '\0';
	text_add(&text,
		 status->count > 0 ? ",\"song_info\":" : "\"song_info\":");
	if (song->count > 0)
		pairs_add_json(song, 0, song->count, &text);
	else
		text_add(&text, "null");
	fprintf(cli->out, "%s}\n", text_string(&text));
	text_finish(&text);
}

/* "44100:16:2" as "44.1 kHz, 16 bit, stereo". Anything else as it is. */
static void
add_audio(struct text *text, const char *audio)
{
	unsigned rate_hz = 0, channels = 0;
	char bits[8];

	if (sscanf(audio, "%u:%7[0-9f]:%u", &rate_hz, bits, &channels) != 3) {
		text_add_clean(text, audio, strlen(audio), 64);
		return;
	}
	text_printf(text, "%u", rate_hz / 1000);
	if (rate_hz % 1000 != 0)
		text_printf(text, ".%u", rate_hz % 1000 / 100);
	text_printf(text, " kHz, %s%s, ",
		    strcmp(bits, "f") == 0 ? "float" : bits,
		    strcmp(bits, "f") == 0 ? "" : " bit");
	if (channels <= 2)
		text_add(text, channels == 1 ? "mono" : "stereo");
	else
		text_printf(text, "%u channels", channels);
}

static const char *
state_word(const char *state)
{
	if (strcmp(state, "play") == 0)
		return "playing";
	if (strcmp(state, "pause") == 0)
		return "paused";
	return "stopped";
}

/* "playing  3/12  1:05/4:10 (25%)". */
static void
add_progress(struct text *text, const struct pairs *status)
{
	const int64_t elapsed_ns = song_seconds(status, "elapsed");
	const int64_t duration_ns = song_seconds(status, "duration");
	int64_t song = 0;

	text_add(text, state_word(pairs_get(status, "state")));
	if (text_parse_int(pairs_get(status, "song"), 0, INT32_MAX, &song) == 0)
		text_printf(text, "  %lld/%s", (long long)song + 1,
			    pairs_get(status, "playlistlength"));
	if (elapsed_ns >= 0) {
		text_add(text, "  ");
		text_add_time(text, elapsed_ns);
	}
	if (elapsed_ns >= 0 && duration_ns > 0) {
		text_add_char(text, '/');
		text_add_time(text, duration_ns);
		text_printf(text, " (%d%%)",
			    (int)(elapsed_ns / (duration_ns / 100 + 1)));
	}
	text_add_char(text, '\n');
}

static void
add_mode(struct text *text, const struct pairs *status, const char *name)
{
	const char *value = pairs_get(status, name);

	if (strcmp(value, "0") == 0)
		value = "off";
	else if (strcmp(value, "1") == 0)
		value = "on";
	if (value[0] != '\0')
		text_printf(text, "  %s %s", name, value);
}

static void
add_crossfade(struct text *text, const struct pairs *status)
{
	const char *seconds = pairs_get(status, "xfade");

	if (seconds[0] == '\0' || strcmp(seconds, "0") == 0)
		return;
	text_add(text, "  crossfade ");
	text_add_clean(text, seconds, strlen(seconds), 16);
	text_add(text, " s");
}

static void
add_sound(struct text *text, const struct pairs *status)
{
	const char *audio = pairs_find(status, 0, "audio");
	const char *output = pairs_find(status, 0, "output_audio");

	if (audio == NULL || strcmp(audio, "0:0:0") == 0)
		return;
	add_audio(text, audio);
	if (strcmp(pairs_get(status, "bitperfect"), "1") == 0) {
		text_add(text, ", bit-perfect");
	} else if (output != NULL && strcmp(output, audio) != 0) {
		text_add(text, "; the card: ");
		add_audio(text, output);
	}
	text_add_char(text, '\n');
}

static void
print_lines(struct cli *cli, const struct pairs *status,
	    const struct pairs *song)
{
	const char *volume = pairs_get(status, "volume");
	struct text text = {0};

	if (song->count > 0) {
		song_add_title(song, 0, song->count, &text);
		text_add_char(&text, '\n');
	}
	add_progress(&text, status);
	if (volume[0] == '\0' || strcmp(volume, "-1") == 0)
		text_add(&text, "volume not adjustable");
	else
		text_printf(&text, "volume %s%%", volume);
	add_mode(&text, status, "repeat");
	add_mode(&text, status, "random");
	add_mode(&text, status, "single");
	add_mode(&text, status, "consume");
	add_crossfade(&text, status);
	text_add_char(&text, '\n');
	add_sound(&text, status);
	if (pairs_find(status, 0, "updating_db") != NULL)
		text_add(&text, "the library is being updated\n");
	fputs(text_string(&text), cli->out);
	if (pairs_find(status, 0, "error") != NULL) {
		fputs("error: ", cli->out);
		cli_put(cli->out, pairs_get(status, "error"));
		fputc('\n', cli->out);
	}
	text_finish(&text);
}

int
status_run(struct cli *cli, int argc, char *const argv[])
{
	struct pairs status = {0}, song = {0};
	int result = cli_ask(cli, &status, "status");

	(void)argc;
	(void)argv;
	if (result == 0)
		result = cli_ask(cli, &song, "currentsong");
	if (result == 0 && cli->json)
		print_json(cli, &status, &song);
	else if (result == 0)
		print_lines(cli, &status, &song);
	pairs_finish(&song);
	pairs_finish(&status);
	return cli_explain(cli, result);
}

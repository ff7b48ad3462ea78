/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c - the verb watch: status, drawn again whenever idle tells of a
 * change, and on a terminal each second while something plays.
 *
 * Between two changes the position runs on by our own clock, so that nothing
 * is asked of the daemon. SIGINT and SIGTERM are only let through while
 * waiting: a line is never left half drawn. */
#include "lib/base/clock.h"
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/columns.h"
#include "remote/cli/song.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_PRESET = 80, BAR_MIN = 10, BAR_MAX = 30, BAR_FROM = 50 };

struct watch {
	struct cli *cli;
	bool live; /* one line, drawn over and over */
	struct pairs status;
	struct pairs song;
	int64_t asked_ns;
	struct text last; /* line that was printed */
};

static volatile sig_atomic_t interrupted;

static void
note_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void
ignore_resize(int number)
{
	(void)number;
}

static bool
is_playing(const struct watch *watch)
{
	return strcmp(pairs_get(&watch->status, "state"), "play") == 0;
}

static int64_t
elapsed_now_ns(const struct watch *watch)
{
	const int64_t duration_ns = song_seconds(&watch->status, "duration");
	int64_t elapsed_ns = song_seconds(&watch->status, "elapsed");

	if (elapsed_ns >= 0 && is_playing(watch))
		elapsed_ns += clock_now_ns() - watch->asked_ns;
	return duration_ns > 0 && elapsed_ns > duration_ns ? duration_ns
							   : elapsed_ns;
}

static int
refresh(struct watch *watch)
{
	int result = 0;

	pairs_clear(&watch->status);
	pairs_clear(&watch->song);
	result = cli_ask(watch->cli, &watch->status, "status");
	watch->asked_ns = clock_now_ns();
	if (result == 0)
		result = cli_ask(watch->cli, &watch->song, "currentsong");
	return result;
}

static void
add_times(const struct watch *watch, struct text *text)
{
	const int64_t elapsed_ns = elapsed_now_ns(watch);
	const int64_t duration_ns = song_seconds(&watch->status, "duration");

	if (elapsed_ns < 0)
		return;
	text_add_time(text, elapsed_ns);
	if (duration_ns > 0) {
		text_add_char(text, '/');
		text_add_time(text, duration_ns);
	}
}

static void
add_volume(const struct watch *watch, struct text *text)
{
	const char *volume = pairs_get(&watch->status, "volume");

	if (volume[0] != '\0' && volume[0] != '-')
		text_printf(text, "  vol %s%%", volume);
}

static void
add_bar(const struct watch *watch, int width, struct text *text)
{
	const int64_t duration_ns = song_seconds(&watch->status, "duration");
	const int64_t elapsed_ns = elapsed_now_ns(watch);
	int i = 0, full = 0;

	if (duration_ns <= 0 || elapsed_ns < 0)
		return;
	full = (int)((double)elapsed_ns / (double)duration_ns * width);
	text_add(text, "  [");
	for (i = 0; i < width; i++)
		text_add(text, i < full ? "=" : i == full ? ">" : " ");
	text_add_char(text, ']');
}

static int
terminal_columns(FILE *out)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return COLUMNS_PRESET;
}

static const char *
state_word(const struct watch *watch)
{
	const char *state = pairs_get(&watch->status, "state");

	if (strcmp(state, "play") == 0)
		return "playing";
	return strcmp(state, "pause") == 0 ? "paused" : "stopped";
}

/* The last column stays free, or some terminals begin a new line. */
static void
draw_live(const struct watch *watch)
{
	const int columns = terminal_columns(watch->cli->out) - 1;
	struct text title = {0}, right = {0}, line = {0};
	int bar = columns / 4;

	bar = bar > BAR_MAX ? BAR_MAX : bar < BAR_MIN ? BAR_MIN : bar;
	if (columns >= BAR_FROM)
		add_bar(watch, bar, &right);
	text_add(&right, "  ");
	add_times(watch, &right);
	add_volume(watch, &right);
	text_printf(&title, "%s  ", state_word(watch));
	song_add_title(&watch->song, 0, watch->song.count, &title);
	text_add(&line, "\r\033[K");
	if ((int)right.length < columns) {
		columns_add(&line, text_string(&title),
			    columns - (int)right.length);
		text_add(&line, text_string(&right));
	} else {
		columns_add(&line, text_string(&title), columns);
	}
	fputs(text_string(&line), watch->cli->out);
	fflush(watch->cli->out);
	text_finish(&title);
	text_finish(&right);
	text_finish(&line);
}

/* Two changes may look the same, and are said once. */
static void
print_line(struct watch *watch)
{
	struct text line = {0};

	text_printf(&line, "%s  ", state_word(watch));
	song_add_title(&watch->song, 0, watch->song.count, &line);
	text_add(&line, "  ");
	add_times(watch, &line);
	add_volume(watch, &line);
	if (strcmp(text_string(&line), text_string(&watch->last)) != 0)
		fprintf(watch->cli->out, "%s\n", text_string(&line));
	fflush(watch->cli->out);
	text_finish(&watch->last);
	watch->last = line;
}

static void
print_json(const struct watch *watch)
{
	struct text line = {0};

	text_add(&line, "{\"status\":");
	pairs_add_json(&watch->status, 0, watch->status.count, &line);
	text_add(&line, ",\"song\":");
	pairs_add_json(&watch->song, 0, watch->song.count, &line);
	fprintf(watch->cli->out, "%s}\n", text_string(&line));
	fflush(watch->cli->out);
	text_finish(&line);
}

static void
show(struct watch *watch)
{
	if (watch->cli->json)
		print_json(watch);
	else if (watch->live)
		draw_live(watch);
	else
		print_line(watch);
}

/* Waits for idle's answer, drawing on. False: interrupted. */
static bool
wait_for_change(struct watch *watch, const sigset_t *open_mask)
{
	struct pollfd ready = {.fd = client_fd(watch->cli->client),
			       .events = POLLIN};
	struct timespec wait = {0};
	int got = 0;

	for (;;) {
		const bool ticks = watch->live && is_playing(watch);
		const int64_t elapsed_ns = elapsed_now_ns(watch);

		/* Up to when the shown second ends. */
		wait.tv_nsec = elapsed_ns < 0
				       ? NS_PER_S - 1
				       : NS_PER_S - 1 - elapsed_ns % NS_PER_S;
		got = ppoll(&ready, 1, ticks ? &wait : NULL, open_mask);
		if (interrupted)
			return false;
		if (got > 0)
			return true;
		show(watch);
	}
}

static int
follow(struct watch *watch, const sigset_t *open_mask)
{
	int result = 0;

	for (;;) {
		result = refresh(watch);
		if (result < 0)
			return result;
		show(watch);
		result = client_send_line(watch->cli->client,
					  "idle player mixer playlist output");
		if (result < 0)
			return result;
		if (!wait_for_change(watch, open_mask))
			return 0;
		result = client_finish(watch->cli->client);
		if (result < 0)
			return result;
	}
}

int
watch_run(struct cli *cli, int argc, char *const argv[])
{
	struct watch watch = {
		.cli = cli,
		.live = !cli->json && isatty(fileno(cli->out)) == 1,
	};
	const struct sigaction on_interrupt = {.sa_handler = note_interrupt};
	const struct sigaction on_resize = {.sa_handler = ignore_resize};
	sigset_t closed_mask, open_mask;
	int result = 0;

	(void)argc;
	(void)argv;
	interrupted = 0;
	sigemptyset(&closed_mask);
	sigaddset(&closed_mask, SIGINT);
	sigaddset(&closed_mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &closed_mask, &open_mask);
	sigaction(SIGINT, &on_interrupt, NULL);
	sigaction(SIGTERM, &on_interrupt, NULL);
	sigaction(SIGWINCH, &on_resize, NULL);
	result = follow(&watch, &open_mask);
	if (watch.live)
		fputc('\n', cli->out);
	sigprocmask(SIG_SETMASK, &open_mask, NULL);
	pairs_finish(&watch.status);
	pairs_finish(&watch.song);
	text_finish(&watch.last);
	return cli_explain(cli, result);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The player by scripts. A line is a command, an arrow, and all wishes that it
 * must lead to, or what a question must be answered with. Streams are named
 * after song and opening: a1 is the first stream of song a. */
#include "tests/unit/player/fake_engine.h"

#include "lib/base/log.h"

static const char *const *running; /* the script, for messages */

static uint64_t
stream_named(struct fake_engine *fake, const char *name)
{
	for (size_t i = 0; i < fake->count; i++)
		if (strcmp(fake->streams[i].name, name) == 0)
			return i + 1;
	fail_msg("%s: no stream %s", running[0], name);
	return 0;
}

static const char *
song_at(struct fake_engine *fake, int64_t position)
{
	if (position < 0)
		return "-";
	return song_uri(play_queue_at(fake->queue, (uint32_t)position)->song);
}

static void
answer_status(struct fake_engine *fake, const char *unused)
{
	static const char *const states[] = {"stop", "play", "pause"};
	struct player_status status;

	(void)unused;
	player_get_status(fake->player, &status);
	text_printf(&fake->wishes, "%s %s", states[status.state],
		    song_at(fake, status.song));
	if (status.elapsed_ns >= 0)
		text_printf(&fake->wishes, " at %lld",
			    (long long)(status.elapsed_ns / NS_PER_S));
	text_printf(&fake->wishes, " next %s", song_at(fake, status.next_song));
}

static void
answer_error(struct fake_engine *fake, const char *unused)
{
	struct player_status status;

	(void)unused;
	player_get_status(fake->player, &status);
	text_add(&fake->wishes, status.error == NULL ? "-" : status.error);
}

static void
answer_modes(struct fake_engine *fake, const char *unused)
{
	static const char *const modes[] = {"0", "1", "oneshot"};
	struct player_status status;

	(void)unused;
	player_get_status(fake->player, &status);
	text_printf(&fake->wishes, "single %s consume %s", modes[status.single],
		    modes[status.consume]);
}

static void
answer_queue(struct fake_engine *fake, const char *unused)
{
	(void)unused;
	for (uint32_t i = 0; i < play_queue_length(fake->queue); i++)
		text_add(&fake->wishes, song_at(fake, i));
}

static void
answer_changes(struct fake_engine *fake, const char *unused)
{
	static const char *const names[] = {"player", "queue", "options",
					    "mixer"};

	(void)unused;
	for (unsigned i = 0; i < 4; i++)
		if ((fake->changes & 1U << i) != 0)
			text_printf(&fake->wishes, "%s%s",
				    fake->wishes.length > 0 ? " " : "",
				    names[i]);
	fake->changes = 0;
}

/* What the engine was told of what follows the last that it knows. */
static void
answer_more(struct fake_engine *fake, const char *unused)
{
	(void)unused;
	text_add(&fake->wishes, fake->more ? "yes" : "no");
}

static void
do_add(struct fake_engine *fake, const char *letters)
{
	for (; *letters != '\0'; letters++)
		fake_insert(fake, *letters, play_queue_length(fake->queue));
	player_queue_changed(fake->player);
}

static void
do_insert(struct fake_engine *fake, const char *what)
{
	fake_insert(fake, what[0], (uint32_t)atoi(what + 2));
	player_queue_changed(fake->player);
}

static void
do_delete(struct fake_engine *fake, const char *range)
{
	unsigned from;
	unsigned to;

	assert_int_equal(sscanf(range, "%u:%u", &from, &to), 2);
	assert_int_equal(play_queue_delete(fake->queue, from, to), 0);
	player_queue_changed(fake->player);
}

static void
do_move(struct fake_engine *fake, const char *what)
{
	unsigned from;
	unsigned to;

	assert_int_equal(sscanf(what, "%u %u", &from, &to), 2);
	assert_int_equal(play_queue_move(fake->queue, from, from + 1, to), 0);
	player_queue_changed(fake->player);
}

static void
do_prio(struct fake_engine *fake, const char *what)
{
	unsigned position;
	unsigned priority;

	assert_int_equal(sscanf(what, "%u %u", &position, &priority), 2);
	assert_int_equal(play_queue_set_priority(fake->queue, position,
						 position + 1,
						 (uint8_t)priority),
			 0);
	player_queue_changed(fake->player);
}

static void
do_clear(struct fake_engine *fake, const char *unused)
{
	(void)unused;
	play_queue_clear(fake->queue);
	player_queue_changed(fake->player);
}

static void
result(struct fake_engine *fake, int error)
{
	if (error < 0)
		text_add(&fake->wishes, strerrorname_np(-error));
}

static void
do_play(struct fake_engine *fake, const char *position)
{
	result(fake, player_play(fake->player,
				 *position == '\0' ? -1 : atoi(position)));
}

static void
do_seek(struct fake_engine *fake, const char *what)
{
	unsigned position;
	int seconds;

	assert_int_equal(sscanf(what, "%u %d", &position, &seconds), 2);
	result(fake, player_seek(fake->player, position, seconds * NS_PER_S));
}

static void
do_seekcur(struct fake_engine *fake, const char *seconds)
{
	result(fake,
	       player_seek_current(fake->player, atoi(seconds) * NS_PER_S,
				   seconds[0] == '+' || seconds[0] == '-'));
}

static enum player_mode
mode_named(const char *name)
{
	return name[0] == 'o'   ? PLAYER_ONESHOT
	       : name[0] == '1' ? PLAYER_ON
				: PLAYER_OFF;
}

static void
do_single(struct fake_engine *fake, const char *mode)
{
	player_set_single(fake->player, mode_named(mode));
}

static void
do_consume(struct fake_engine *fake, const char *mode)
{
	player_set_consume(fake->player, mode_named(mode));
}

static void
do_repeat(struct fake_engine *fake, const char *on)
{
	player_set_repeat(fake->player, on[0] == '1');
}

static void
do_random(struct fake_engine *fake, const char *on)
{
	player_set_random(fake->player, on[0] == '1');
}

static void
do_volume(struct fake_engine *fake, const char *percent)
{
	assert_int_equal(
		player_set_volume(fake->player, (unsigned)atoi(percent)), 0);
}

static void
do_heard_volume(struct fake_engine *fake, const char *percent)
{
	player_on_volume(fake->player, (unsigned)atoi(percent));
}

/* There is none, and it cannot be set. */
static void
do_forgo(struct fake_engine *fake, const char *percent)
{
	struct player_status status;

	player_forgo_volume(fake->player);
	assert_int_equal(
		player_set_volume(fake->player, (unsigned)atoi(percent)),
		-ENOTSUP);
	player_get_status(fake->player, &status);
	assert_int_equal(status.volume, -1);
}

/* What is kept for the next start. */
static void
do_saved_volume(struct fake_engine *fake, const char *percent)
{
	struct player_saved saved;

	player_get_saved(fake->player, &saved);
	assert_int_equal(saved.volume, atoi(percent));
}

static void
do_pause(struct fake_engine *fake, const char *on)
{
	if (*on == '\0')
		player_toggle(fake->player);
	else
		player_pause(fake->player, on[0] == '1');
}

static void
do_simple(struct fake_engine *fake, const char *what)
{
	if (strcmp(what, "stop") == 0)
		player_stop(fake->player);
	else if (strcmp(what, "next") == 0)
		player_next(fake->player);
	else if (strcmp(what, "previous") == 0)
		player_previous(fake->player);
	else if (strcmp(what, "clearerror") == 0)
		player_clear_error(fake->player);
	else if (strcmp(what, "back") == 0)
		player_on_output_back(fake->player);
	else if (strcmp(what, "refuse") == 0)
		fake->refuse = true;
	else if (strcmp(what, "accept") == 0)
		fake->refuse = false;
	else
		fail_msg("%s: no command %s", running[0], what);
}

static void
do_ready(struct fake_engine *fake, const char *name)
{
	fake_ready(fake, stream_named(fake, name));
}

static void
do_failed(struct fake_engine *fake, const char *name)
{
	fake_failed(fake, stream_named(fake, name));
}

static void
do_started(struct fake_engine *fake, const char *name)
{
	fake_started(fake, stream_named(fake, name));
}

static void
do_ended(struct fake_engine *fake, const char *name)
{
	fake_ended(fake, stream_named(fake, name));
}

/* Of the songs that get ready from now on, in milliseconds. */
static void
do_length(struct fake_engine *fake, const char *length_ms)
{
	fake->length_ns = atoi(length_ms) * NS_PER_MS;
}

static void
do_elapsed(struct fake_engine *fake, const char *seconds)
{
	fake->elapsed_ns = atoi(seconds) * NS_PER_S;
}

static void
do_lost(struct fake_engine *fake, const char *reason)
{
	player_on_output_lost(fake->player, reason);
}

static void
do_restore(struct fake_engine *fake, const char *what)
{
	struct player_saved saved = {.volume = 50};
	int state;
	int song;
	int elapsed;

	assert_int_equal(sscanf(what, "%d %d %d", &state, &song, &elapsed), 3);
	saved.state = (enum player_state)state;
	saved.song = song;
	saved.elapsed_ns = elapsed * NS_PER_S;
	player_restore(fake->player, &saved);
}

static const struct {
	const char *name;
	void (*run)(struct fake_engine *fake, const char *argument);
} commands[] = {
	{"add", do_add},
	{"insert", do_insert},
	{"delete", do_delete},
	{"move", do_move},
	{"prio", do_prio},
	{"clear", do_clear},
	{"play", do_play},
	{"pause", do_pause},
	{"seek", do_seek},
	{"seekcur", do_seekcur},
	{"single", do_single},
	{"consume", do_consume},
	{"repeat", do_repeat},
	{"random", do_random},
	{"volume", do_volume},
	{"ready", do_ready},
	{"heard", do_heard_volume},
	{"forgo", do_forgo},
	{"saved", do_saved_volume},
	{"failed", do_failed},
	{"started", do_started},
	{"ended", do_ended},
	{"elapsed", do_elapsed},
	{"length", do_length},
	{"lost", do_lost},
	{"restore", do_restore},
	{"status", answer_status},
	{"error", answer_error},
	{"modes", answer_modes},
	{"queue", answer_queue},
	{"changes", answer_changes},
	{"more", answer_more},
};

static void
run_line(struct fake_engine *fake, const char *line)
{
	const char *arrow = strstr(line, " =>");
	char command[128];
	char *argument;

	assert_non_null(arrow);
	snprintf(command, sizeof(command), "%.*s", (int)(arrow - line), line);
	argument = strchr(command, ' ');
	if (argument == NULL)
		argument = command + strlen(command);
	else
		*argument++ = '\0';
	text_clear(&fake->wishes);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, command) != 0)
			continue;
		commands[i].run(fake, argument);
		command[0] = '\0';
	}
	if (command[0] != '\0')
		do_simple(fake, command);
	arrow += 3;
	arrow += *arrow == ' ';
	if (strcmp(text_string(&fake->wishes), arrow) != 0)
		fail_msg("%s: \"%s\" gave \"%s\"", running[0], line,
			 text_string(&fake->wishes));
}

static void
run_script(void **state)
{
	struct fake_engine *fake = fake_create();

	running = *state;
	for (const char *const *line = running + 1; *line != NULL; line++)
		run_line(fake, *line);
	fake_destroy(fake);
}

static const char *const scripts[][48] = {
#include "tests/unit/player/scripts.inc"
};

int
main(void)
{
	enum { COUNT = sizeof(scripts) / sizeof(scripts[0]) };
	struct CMUnitTest tests[COUNT];

	log_init(LOG_LEVEL_ERROR);
	for (size_t i = 0; i < COUNT; i++)
		tests[i] = (struct CMUnitTest){
			.name = scripts[i][0],
			.test_func = run_script,
			.initial_state = (void *)(uintptr_t)scripts[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

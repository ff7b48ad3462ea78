/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_engine_damage.c - files cut short and damaged: what is heard, and how
 * many lines the log gets for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/thread.h"
#include "tests/kit/music/music.h"
#include "tests/kit/rig/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHORT = 6000, BLOCK = 1152, LOG_BYTES = 1 << 16 };

struct bench {
	struct rig rig;
	FILE *log;
	int screen;
	char text[LOG_BYTES];
};

static int
set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (bench == NULL)
		return -1;
	rig_init(&bench->rig, &card_wav);
	bench->log = tmpfile();
	bench->screen = dup(STDERR_FILENO);
	if (bench->log == NULL || bench->screen < 0)
		return -1;
	*state = bench;
	return dup2(fileno(bench->log), STDERR_FILENO) < 0 ? -1 : 0;
}

/* The engine is gone after that. */
static const char *
read_log(struct bench *bench)
{
	size_t length;

	rig_stop(&bench->rig);
	log_rt_drain();
	dup2(bench->screen, STDERR_FILENO);
	rewind(bench->log);
	length = fread(bench->text, 1, LOG_BYTES - 1, bench->log);
	bench->text[length] = '\0';
	return bench->text;
}

static int
tear_down(void **state)
{
	struct bench *bench = *state;

	dup2(bench->screen, STDERR_FILENO);
	close(bench->screen);
	fclose(bench->log);
	rig_finish(&bench->rig);
	free(bench);
	return 0;
}

static unsigned
count(const char *text, const char *part)
{
	unsigned found = 0;

	while ((text = strstr(text, part)) != NULL) {
		found++;
		text += strlen(part);
	}
	return found;
}

/* Warnings that say so: a machine that is busy has others. */
static unsigned
warnings(const char *log, const char *part)
{
	unsigned found = 0;

	while (*log != '\0') {
		const size_t length = strcspn(log, "\n");

		found += memmem(log, length, " warning ", 9) != NULL &&
			 memmem(log, length, part, strlen(part)) != NULL;
		log += length + (log[length] == '\n');
	}
	return found;
}

static void
make(struct bytes *file)
{
	const struct recipe recipe = {.rate_hz = RIG_RATE,
				      .channels = 2,
				      .bits = 16,
				      .frames = RIG_RATE,
				      .block = BLOCK,
				      .seed = 5};

	make_flac(&recipe, file, NULL);
}

static void
a_file_cut_short_says_so_once(void **state)
{
	struct bench *bench = *state;
	struct rig *rig = &bench->rig;
	struct bytes file = {0};
	const char *log;
	uint64_t cut, next;

	make(&file);
	rig_write(rig, "cut.flac", file.data, file.length / 3);
	bytes_finish(&file);
	rig_make(rig, "b.flac", 2, SHORT);
	cut = rig_open_ready(rig, "cut.flac", 0);
	next = rig_open_ready(rig, "b.flac", 0);
	rig_play(rig, cut);
	rig_follow(rig, cut, next);
	rig_wait(rig, RIG_ENDED, next);
	assert_int_equal(rig_count(rig, RIG_FAILED), 0);
	assert_true(rig_find(rig, RIG_STARTED, next) >= 0);
	log = read_log(bench);
	assert_int_equal(count(log, "cut.flac ends after 0.3 of 1.0 s: the "
				    "file is cut short\n"),
			 1);
	assert_int_equal(warnings(log, ".flac"), 1);
}

/* An Ogg file does not say how long it should be, but has a last page. */
static void
an_ogg_file_cut_short_says_so_once(void **state)
{
	struct bench *bench = *state;
	struct rig *rig = &bench->rig;
	const struct recipe recipe = {.rate_hz = RIG_RATE,
				      .channels = 2,
				      .frames = RIG_RATE,
				      .seed = 6,
				      .serial = 1};
	struct bytes file = {0};
	const char *log;
	uint64_t whole, cut;

	make_vorbis(&recipe, &file);
	rig_write(rig, "whole.ogg", file.data, file.length);
	rig_write(rig, "cut.ogg", file.data, file.length * 2 / 3);
	bytes_finish(&file);
	whole = rig_open_ready(rig, "whole.ogg", 0);
	cut = rig_open_ready(rig, "cut.ogg", 0);
	rig_play(rig, whole);
	rig_follow(rig, whole, cut);
	rig_wait(rig, RIG_ENDED, cut);
	log = read_log(bench);
	assert_int_equal(count(log, "cut.ogg ends after 0."), 1);
	assert_int_equal(count(log, " s: the file is cut short\n"), 1);
	assert_int_equal(warnings(log, ".ogg"), 1);
}

/* Past the end of the song it is none: that ends at once. */
static void
a_start_beyond_the_cut_fails(void **state)
{
	struct bench *bench = *state;
	struct rig *rig = &bench->rig;
	struct bytes file = {0};
	uint64_t beyond, past;
	int at;

	make(&file);
	rig_write(rig, "cut.flac", file.data, file.length / 3);
	bytes_finish(&file);
	beyond = rig_open(rig, "cut.flac", 800 * NS_PER_MS);
	at = rig_wait(rig, RIG_FAILED, beyond);
	assert_string_equal(rig->events[at].reason,
			    "the file is cut short before that");
	past = rig_open_ready(rig, "cut.flac", 2 * NS_PER_S);
	rig_play(rig, past);
	rig_wait(rig, RIG_ENDED, past);
}

static void
damage_is_told_first_and_in_all(void **state)
{
	struct bench *bench = *state;
	struct rig *rig = &bench->rig;
	struct bytes file = {0};
	const char *log;
	uint64_t song;
	size_t i, place;

	make(&file);
	for (i = 1; i < 10; i++) {
		place = file.length / 10 * i;
		memset((char *)file.data + place, 0, 40);
	}
	rig_write(rig, "bad.flac", file.data, file.length);
	bytes_finish(&file);
	song = rig_open_ready(rig, "bad.flac", 0);
	rig_play(rig, song);
	rig_wait(rig, RIG_ENDED, song);
	engine_release(rig->engine, song);
	log = read_log(bench);
	assert_int_equal(count(log, "of silence instead\n"), 1);
	assert_int_equal(count(log, "bad.flac: damaged, "), 1);
	assert_int_equal(count(log, "s of silence in all\n"), 1);
	assert_int_equal(warnings(log, ": damaged, "), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_cut_short_says_so_once,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_ogg_file_cut_short_says_so_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_start_beyond_the_cut_fails,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(damage_is_told_first_and_in_all,
						set_up, tear_down),
	};

	thread_adopt(THREAD_ROLE_CONTROL, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

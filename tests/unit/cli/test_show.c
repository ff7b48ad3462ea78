/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_show.c - the verbs that show something, for people and as JSON. */
#include "tests/unit/cli/console.h"

#include <pty.h>
#include <sys/ioctl.h>

static void
test_status(void **state)
{
	static const struct answer OTHER_CARD[] = {
		{"status", "volume: 45\nstate: pause\nelapsed: 1.0\n"
			   "audio: 96000:f:1\noutput_audio: 44100:16:2\n"
			   "bitperfect: 0\nerror: card \x1b gone\nOK\n"},
		{NULL, NULL}};
	static const struct answer CROSSFADE[] = {
		{"status", "volume: 45\nsingle: 0\nstate: pause\nxfade: 5\n"
			   "elapsed: 1.0\nOK\n"},
		{NULL, NULL}};

	(void)state;
	assert_int_equal(run(NULL, "status"), CLI_OK);
	assert_string_equal(
		out, "Nina Simone - Sinnerman\n"
		     "playing  2/3  1:05/4:10 (26%)\n"
		     "volume 45%  repeat off  random on  single oneshot  "
		     "consume off\n"
		     "44.1 kHz, 16 bit, stereo, bit-perfect\n");
	assert_int_equal(run(NULL, "--json|status"), CLI_OK);
	assert_string_equal(
		out, "{\"volume\":45,\"repeat\":0,\"random\":1,\"single\":"
		     "\"oneshot\",\"consume\":\"0\",\"playlistlength\":3,"
		     "\"state\":\"play\",\"song\":1,\"songid\":8,\"time\":"
		     "\"65:250\",\"elapsed\":65.250,\"duration\":250.100,"
		     "\"audio\":\"44100:16:2\",\"bitperfect\":1,\"song_info\":"
		     "{\"file\":\"a/b.flac\",\"Title\":\"Sinnerman\","
		     "\"Artist\":\"Nina Simone\",\"Pos\":1,\"Id\":8}}\n");
	assert_int_equal(run(OTHER_CARD, "status"), CLI_OK);
	assert_string_equal(out,
			    "Nina Simone - Sinnerman\n"
			    "paused  0:01\n"
			    "volume 45%\n"
			    "96 kHz, float, mono; the card: 44.1 kHz, 16 bit, "
			    "stereo\n"
			    "error: card   gone\n");
	assert_int_equal(run(NULL, "vol|--json"), CLI_OK);
	assert_string_equal(out, "{\"volume\":45}\n");
	assert_int_equal(run(NULL, "crossfade"), CLI_OK);
	assert_string_equal(out, "0\n");
	assert_int_equal(run(CROSSFADE, "crossfade"), CLI_OK);
	assert_string_equal(out, "5\n");
	assert_int_equal(run(CROSSFADE, "crossfade|--json"), CLI_OK);
	assert_string_equal(out, "{\"xfade\":5}\n");
	assert_int_equal(run(CROSSFADE, "status"), CLI_OK);
	assert_non_null(strstr(out, "volume 45%  single off  crossfade 5 s\n"));
}

static void
test_queue(void **state)
{
	static const struct answer TAGS[] = {
		{"playlistinfo", "file: a\nArtist: \"x\"\nArtist: y\n"
				 "Id: 07\nTime: 5\nOK\n"},
		{NULL, NULL}};

	(void)state;
	assert_int_equal(run(NULL, "queue"), CLI_OK);
	assert_string_equal(out, "     1  a.flac  1:00\n"
				 ">    2  Nina Simone - Sinnerman  1:02:05\n"
				 "     3  Radio X\n");
	/* Repeated tags are all there; a number must be one for JSON. */
	assert_int_equal(run(TAGS, "queue|--json"), CLI_OK);
	assert_string_equal(out, "[{\"file\":\"a\",\"Artist\":[\"\\\"x\\\"\","
				 "\"y\"],\"Id\":\"07\",\"Time\":5}]\n");
}

static void
test_raw_and_stats(void **state)
{
	static const struct answer ANSWERS[] = {
		{"x", "a: 1\na: \x1b[2J\nOK\n"},
		{"picture", "size: 3\nbinary: 3\nabc\nOK\n"},
		{"stats", "songs: 12\nuptime: 5\nOK\n"},
		{"rtstats", "zone: 1\nthread: decoder-0\nrung: fifo\n"
			    "forbidden: open 1\nforbidden: read 2\n"
			    "thread: output\nxruns: 0\nOK\n"},
		{NULL, NULL}};
	static const struct answer NO_RTSTATS[] = {
		{"stats", "songs: 12\nOK\n"},
		{"rtstats", "ACK [5@0] {} unknown command \"rtstats\"\n"},
		{NULL, NULL}};

	(void)state;
	assert_int_equal(run(ANSWERS, "raw|x"), CLI_OK);
	assert_string_equal(out, "a: 1\na:  [2J\n");
	assert_int_equal(run(ANSWERS, "raw|x|--json"), CLI_OK);
	assert_string_equal(out, "[[\"a\",\"1\"],[\"a\",\"\\u001b[2J\"]]\n");
	assert_int_equal(run(ANSWERS, "raw|picture"), CLI_USAGE);
	assert_int_equal(run(ANSWERS, "stats"), CLI_OK);
	assert_string_equal(out, "songs: 12\nuptime: 5\nzone: 1\n\n"
				 "thread: decoder-0\nrung: fifo\n"
				 "forbidden: open 1\nforbidden: read 2\n\n"
				 "thread: output\nxruns: 0\n");
	assert_int_equal(run(ANSWERS, "stats|--json"), CLI_OK);
	assert_string_equal(
		out, "{\"library\":{\"songs\":12,\"uptime\":5},\"realtime\":"
		     "{\"zone\":\"1\"},\"threads\":[{\"thread\":\"decoder-0\","
		     "\"rung\":\"fifo\",\"forbidden\":[\"open 1\",\"read 2\"]},"
		     "{\"thread\":\"output\",\"xruns\":0}]}\n");
	assert_int_equal(run(NO_RTSTATS, "stats"), CLI_OK);
	assert_string_equal(out, "songs: 12\n");
}

/* Each change is a line; the daemon going away ends it. */
static void
test_watch(void **state)
{
	static const struct answer IDLE[] = {
		{"idle player mixer playlist output", NULL}, {NULL, NULL}};

	(void)state;
	assert_int_equal(run(IDLE, "watch"), CLI_NO_DAEMON);
	assert_string_equal(out, "playing  Nina Simone - Sinnerman  "
				 "1:05/4:10  vol 45%\n");
	assert_int_equal(run(IDLE, "watch|--json"), CLI_NO_DAEMON);
	assert_int_equal(strncmp(out, "{\"status\":{\"volume\":45,", 23), 0);
	assert_non_null(strstr(out, "\"song\":{\"file\":\"a/b.flac\""));
}

/* A terminal of this width: one line that fits it, drawn over itself. */
static const char *
watch_on_terminal(unsigned short columns)
{
	static const struct answer idle[] = {
		{"idle player mixer playlist output", NULL}, {NULL, NULL}};
	static char shown[1024];
	const struct winsize size = {.ws_row = 24, .ws_col = columns};
	char program[] = "rotary", option[] = "--socket", verb[] = "watch";
	char *const argv[] = {program, option, path, verb, NULL};
	int master = -1, slave = -1;
	ssize_t got = 0;
	FILE *terminal = NULL, *nothing = fopen("/dev/null", "w");

	assert_non_null(nothing);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	terminal = fdopen(slave, "w");
	assert_non_null(terminal);
	pthread_mutex_lock(&lock);
	answers = idle;
	pthread_mutex_unlock(&lock);
	assert_int_equal(cli_main(4, argv, terminal, nothing), CLI_NO_DAEMON);
	got = read(master, shown, sizeof(shown) - 1);
	assert_true(got > 0);
	shown[got] = '\0';
	fclose(nothing);
	fclose(terminal);
	close(master);
	assert_int_equal(strncmp(shown, "\r\033[K", 4), 0);
	shown[strcspn(shown + 1, "\r\n") + 1] = '\0';
	assert_true(strlen(shown + 4) < columns);
	return shown + 4;
}

static void
test_watch_on_terminal(void **state)
{
	(void)state;
	assert_string_equal(watch_on_terminal(80),
			    "playing  Nina Simone - Sinnerman  "
			    "[====>              ]  1:05/4:10  vol 45%");
	/* No room for a bar; then for nothing but the beginning. */
	assert_string_equal(watch_on_terminal(40),
			    "playing  Nina Simon  1:05/4:10  vol 45%");
	assert_string_equal(watch_on_terminal(12), "playing  Ni");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_raw_and_stats),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_watch_on_terminal),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

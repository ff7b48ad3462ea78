/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_cli.c - whole command lines against a server that knows a few answers:
 * what is sent, what is printed, and the exit code. */
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "remote/cli/cli.h"
#include "remote/cli/verbs.h"

#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 12, LINE_BYTES = 512, HEARD_BYTES = 8192 };

struct answer {
	const char *request;
	const char *lines; /* with OK or ACK; NULL: hang up */
};

/* The last match counts, so that a test's own stand before these. */
static const struct answer USUAL[] = {
	{"status", "volume: 45\nrepeat: 0\nrandom: 1\nsingle: oneshot\n"
		   "consume: 0\nplaylistlength: 3\nstate: play\nsong: 1\n"
		   "songid: 8\ntime: 65:250\nelapsed: 65.250\n"
		   "duration: 250.100\naudio: 44100:16:2\nbitperfect: 1\nOK\n"},
	{"currentsong", "file: a/b.flac\nTitle: Sinnerman\n"
			"Artist: Nina Simone\nPos: 1\nId: 8\nOK\n"},
	{"playlistinfo", "file: a/a.flac\nduration: 60.9\n"
			 "file: a/b.flac\nTitle: Sinnerman\n"
			 "Artist: Nina Simone\nduration: 3725.0\n"
			 "file: http://x/y\nName: Radio X\nOK\n"},
	{NULL, NULL},
};

static char folder[] = "/tmp/rotary-cli-XXXXXX";
static char path[64];
static int listening;
static struct thread server;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct answer *answers; /* of the test; protected by lock */
static char heard[HEARD_BYTES];      /* protected by lock while run() runs */
static char *out, *err;

static const struct answer *
find_answer(const struct answer *list, const char *request)
{
	for (; list != NULL && list->request != NULL; list++)
		if (strcmp(list->request, request) == 0)
			return list;
	return NULL;
}

/* False: the connection is over. */
static bool
answer_line(FILE *stream, char *line)
{
	const struct answer *answer;

	pthread_mutex_lock(&lock);
	strncat(heard, line, sizeof(heard) - strlen(heard) - 1);
	line[strcspn(line, "\n")] = '\0';
	answer = find_answer(answers, line);
	pthread_mutex_unlock(&lock);
	if (answer == NULL)
		answer = find_answer(USUAL, line);
	if (answer != NULL && answer->lines == NULL)
		return false;
	fputs(answer != NULL ? answer->lines : "OK\n", stream);
	fflush(stream);
	return true;
}

static void *
serve(void *argument)
{
	FILE *stream;
	char line[LINE_BYTES];
	int fd;

	(void)argument;
	for (;;) {
		fd = accept(listening, NULL, NULL);
		if (fd < 0)
			return NULL;
		stream = fdopen(fd, "r+");
		fputs("OK MPD 0.24.0\n", stream);
		fflush(stream);
		while (fgets(line, sizeof(line), stream) != NULL &&
		       answer_line(stream, line))
			fseek(stream, 0, SEEK_CUR);
		fclose(stream);
	}
}

static int
set_up_group(void **state)
{
	const struct thread_spec spec = {.name = "server", .main = serve};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/socket", folder);
	strcpy(address.sun_path, path);
	unsetenv("ROTARY_HOST");
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listening, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listening, 4) < 0)
		return -1;
	return thread_start(&server, &spec);
}

static int
tear_down_group(void **state)
{
	(void)state;
	shutdown(listening, SHUT_RDWR);
	thread_join(&server);
	close(listening);
	free(out);
	free(err);
	unlink(path);
	return rmdir(folder);
}

/* Runs "rotary --socket PATH words", words parted by a bar. */
static int
run(const struct answer *own_answers, const char *words)
{
	char *argv[WORDS_MAX + 1] = {0}, *save = NULL, *copy = strdup(words);
	char program[] = "rotary", option[] = "--socket";
	size_t out_length, err_length;
	FILE *out_stream, *err_stream;
	int argc = 3, code;
	char *word;

	free(out);
	free(err);
	out_stream = open_memstream(&out, &out_length);
	err_stream = open_memstream(&err, &err_length);
	argv[0] = program;
	argv[1] = option;
	argv[2] = path;
	for (word = strtok_r(copy, "|", &save); word != NULL;
	     word = strtok_r(NULL, "|", &save)) {
		assert_true(argc < WORDS_MAX);
		argv[argc++] = word;
	}
	pthread_mutex_lock(&lock);
	answers = own_answers;
	heard[0] = '\0';
	pthread_mutex_unlock(&lock);
	code = cli_main(argc, argv, out_stream, err_stream);
	/* What was answered has been noted before. */
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	fclose(out_stream);
	fclose(err_stream);
	free(copy);
	return code;
}

static void
test_commands(void **state)
{
	static const struct {
		const char *words;
		const char *request;
	} CASES[] = {
		{"play|3", "play 2\n"},
		{"pause", "pause 1\n"},
		{"stop", "stop\n"},
		{"next", "next\n"},
		{"prev", "previous\n"},
		{"clear", "clear\n"},
		{"seek|90", "seekcur 90.000\n"},
		{"seek|1:30", "seekcur 90.000\n"},
		{"seek|+10", "seekcur +10.000\n"},
		{"seek|-1:00.5", "seekcur -60.500\n"},
		{"vol|40", "setvol 40\n"},
		{"vol|+5", "volume 5\n"},
		{"vol|-5", "volume -5\n"},
		{"toggle", "status\npause 1\n"},
		{"add|a b|c", "add \"a b\"\nadd \"c\"\n"},
		{"add|--|--x", "add \"--x\"\n"},
		{"raw|a  b", "a  b\n"},
		{"raw|find|a \"b\"", "find \"a \\\"b\\\"\"\n"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		assert_int_equal(run(NULL, CASES[i].words), CLI_OK);
		assert_string_equal(heard, CASES[i].request);
		assert_string_equal(out, "");
		assert_string_equal(err, "");
	}
}

static void
test_bad_lines(void **state)
{
	static const char *const LINES[] = {
		"",           "bogus",    "seek",         "seek|x",
		"seek|1:2:x", "vol|101",  "vol|loud",     "play|0",
		"play|x",     "play|1|2", "--bogus|play", "add",
		"help|bogus", "--socket", "raw|a\nb",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
		assert_int_equal(run(NULL, LINES[i]), CLI_USAGE);
		assert_string_equal(out, "");
		assert_true(strlen(err) > 10);
		assert_string_equal(heard, "");
	}
}

static void
test_refused(void **state)
{
	static const struct answer REFUSE[] = {
		{"play", "ACK [50@0] {play} Bad \x1b[31msong index\n"},
		{NULL, NULL}};
	static const struct answer HANG_UP[] = {{"play", NULL}, {NULL, NULL}};

	(void)state;
	assert_int_equal(run(REFUSE, "play"), CLI_REFUSED);
	/* What comes from elsewhere does not command the terminal. */
	assert_string_equal(err, "rotary: the daemon refuses: Bad  [31msong "
				 "index\n");
	assert_int_equal(run(HANG_UP, "play"), CLI_NO_DAEMON);
	assert_non_null(strstr(err, "closed the connection"));
	assert_int_equal(run(NULL, "--socket=/nowhere/socket|play"),
			 CLI_NO_DAEMON);
	assert_non_null(strstr(err, "no daemon answers on /nowhere/socket: "
				    "start it with"));
}

static void
test_empty_queue(void **state)
{
	static const struct answer EMPTY[] = {
		{"status", "playlistlength: 0\nstate: stop\nOK\n"},
		{"currentsong", "OK\n"},
		{"playlistinfo", "OK\n"},
		{NULL, NULL}};

	(void)state;
	assert_int_equal(run(EMPTY, "play"), CLI_REFUSED);
	assert_non_null(strstr(err, "fill it with"));
	assert_int_equal(run(EMPTY, "toggle"), CLI_REFUSED);
	assert_string_equal(heard, "status\nplay\nstatus\n");
	assert_int_equal(run(EMPTY, "queue"), CLI_OK);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "fill it with"));
	assert_int_equal(run(EMPTY, "queue|--json"), CLI_OK);
	assert_string_equal(out, "[]\n");
	assert_int_equal(run(EMPTY, "status"), CLI_OK);
	assert_string_equal(out, "stopped\nvolume not adjustable\n");
	assert_int_equal(run(EMPTY, "vol"), CLI_OK);
	assert_string_equal(out, "not adjustable\n");
	assert_int_equal(run(EMPTY, "status|--json"), CLI_OK);
	assert_string_equal(out, "{\"playlistlength\":0,\"state\":\"stop\","
				 "\"song_info\":null}\n");
}

/* A file of this machine: the daemon hears its absolute path. */
static void
test_add_local_file(void **state)
{
	static const struct answer UNKNOWN[] = {
		{"add \"socket\"", "ACK [50@0] {add} No such directory\n"},
		{"add \"none\"", "ACK [50@0] {add} No such directory\n"},
		{"add \"denied\"", "ACK [4@0] {add} Access denied\n"},
		{NULL, NULL}};
	char here[256], expected[256];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(run(UNKNOWN, "add|socket"), CLI_OK);
	snprintf(expected, sizeof(expected), "add \"socket\"\nadd \"%s\"\n",
		 path);
	assert_string_equal(heard, expected);
	/* One that is nowhere does not keep the next from being added. */
	assert_int_equal(run(UNKNOWN, "add|none|other"), CLI_REFUSED);
	assert_string_equal(heard, "add \"none\"\nadd \"other\"\n");
	assert_non_null(strstr(err, "\"none\" is neither"));
	assert_int_equal(run(UNKNOWN, "add|denied"), CLI_REFUSED);
	assert_non_null(strstr(err, "refuses \"denied\": Access denied"));
	assert_int_equal(chdir(here), 0);
}

static void
test_status(void **state)
{
	static const struct answer OTHER_CARD[] = {
		{"status", "volume: 45\nstate: pause\nelapsed: 1.0\n"
			   "audio: 96000:f:1\noutput_audio: 44100:16:2\n"
			   "bitperfect: 0\nerror: card \x1b gone\nOK\n"},
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

static void
test_help_and_version(void **state)
{
	const struct verb *verb;
	char words[64], usage[64];
	int i;

	(void)state;
	assert_int_equal(run(NULL, "--version"), CLI_OK);
	assert_int_equal(strncmp(out, "rotary ", 7), 0);
	assert_int_equal(run(NULL, "--help"), CLI_OK);
	for (i = 0; (verb = verbs_at(i)) != NULL; i++) {
		snprintf(words, sizeof(words), "\n  %s ", verb->name);
		assert_non_null(strstr(out, words));
	}
	for (i = 0; (verb = verbs_at(i)) != NULL; i++) {
		snprintf(usage, sizeof(usage), "Usage: rotary %s", verb->name);
		snprintf(words, sizeof(words), "help|%s", verb->name);
		assert_int_equal(run(NULL, words), CLI_OK);
		assert_int_equal(strncmp(out, usage, strlen(usage)), 0);
		snprintf(words, sizeof(words), "%s|--help", verb->name);
		assert_int_equal(run(NULL, words), CLI_OK);
		assert_int_equal(strncmp(out, usage, strlen(usage)), 0);
	}
	assert_string_equal(heard, "");
}

static void
read_file(const char *name, struct text *contents)
{
	FILE *file = fopen(name, "r");
	int character;

	assert_non_null(file);
	text_clear(contents);
	while ((character = getc(file)) != EOF)
		text_add_char(contents, (char)character);
	fclose(file);
}

/* No verb is missing in the manual page and in the completion. */
static void
test_documents(void **state)
{
	const struct verb *verb;
	struct text page = {0}, completion = {0}, list = {0};
	char first[32], with[32], plain[32];
	const char *begin, *at;
	int i;

	(void)state;
	read_file(ROTARY_SOURCE "/docs/man/rotary.1", &page);
	read_file(ROTARY_SOURCE "/remote/cli/rotary.bash", &completion);
	begin = strstr(completion.bytes, "verbs=\"");
	assert_non_null(begin);
	text_add_char(&list, ' ');
	for (at = begin + 7; *at != '"'; at++)
		text_add_char(&list, *at == '\n' || *at == '\t' ? ' ' : *at);
	text_add_char(&list, ' ');
	for (i = 0; (verb = verbs_at(i)) != NULL; i++) {
		snprintf(plain, sizeof(plain), "\n.B %s\n", verb->name);
		snprintf(with, sizeof(with), "\n.BR %s ", verb->name);
		snprintf(first, sizeof(first), "\n.BI %s ", verb->name);
		if (strstr(page.bytes, plain) == NULL &&
		    strstr(page.bytes, with) == NULL &&
		    strstr(page.bytes, first) == NULL)
			fail_msg("rotary.1 lacks %s", verb->name);
		snprintf(plain, sizeof(plain), " %s ", verb->name);
		if (strstr(list.bytes, plain) == NULL)
			fail_msg("rotary.bash lacks %s", verb->name);
	}
	text_finish(&list);
	text_finish(&page);
	text_finish(&completion);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_empty_queue),
		cmocka_unit_test(test_add_local_file),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_raw_and_stats),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_watch_on_terminal),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_dialogue.c - plays each script of dialogues/ with a server of its own.
 *
 *   > LINE    the client sends it            2> LINE   client 2 does
 *   < LINE    exactly this line comes next   2< LINE
 *   < *       anything up to the next line that the script names
 *   <|        nothing has come               2<|
 *   <.        the connection is closed       2<.
 *   ! WORD    something happens: see happen()
 *   # ...     a remark
 * \n \r \0 \t \\ and \xNN stand for bytes in what is sent. */
#include "tests/kit/flac_file.h"
#include "tests/unit/server/house.h"

#include <ctype.h>
#include <dirent.h>

struct script {
	struct house *house;
	const char *name;
	unsigned line;
};

#define CHECK(script, condition, ...)                                          \
	do {                                                                   \
		if (!(condition)) {                                            \
			print_error("%s:%u: ", (script)->name,                 \
				    (script)->line);                           \
			print_error(__VA_ARGS__);                              \
			print_error("\n");                                     \
			fail();                                                \
		}                                                              \
	} while (0)

static void
unescape(const char *text, struct text *ret_bytes)
{
	for (; *text != '\0'; text++) {
		unsigned byte;
		int used;

		if (*text != '\\') {
			text_add_char(ret_bytes, *text);
			continue;
		}
		text++;
		if (*text == 'n')
			text_add_char(ret_bytes, '\n');
		else if (*text == 'r')
			text_add_char(ret_bytes, '\r');
		else if (*text == 't')
			text_add_char(ret_bytes, '\t');
		else if (*text == '0')
			text_add_char(ret_bytes, '\0');
		else if (sscanf(text, "x%2x%n", &byte, &used) == 1) {
			text_add_char(ret_bytes, (char)byte);
			text += used - 1;
		} else {
			text_add_char(ret_bytes, *text);
		}
	}
}

/* Takes the first line that has come, without its newline. */
static bool
take_line(struct house_client *client, struct text *ret_line)
{
	const char *bytes = text_string(&client->got);
	const char *end = strchr(bytes, '\n');

	text_clear(ret_line);
	if (end == NULL)
		return false;
	text_add_bytes(ret_line, bytes, (size_t)(end - bytes));
	text_drop(&client->got, (size_t)(end - bytes) + 1);
	return true;
}

static void
expect(struct script *script, struct house_client *client, const char *text,
       bool *skip)
{
	struct text line = {0};
	bool found;

	house_settle(script->house);
	if (strcmp(text, "*") == 0) {
		*skip = true;
		return;
	}
	do
		found = take_line(client, &line);
	while (found && *skip && strcmp(text_string(&line), text) != 0);
	*skip = false;
	CHECK(script, found && strcmp(text_string(&line), text) == 0,
	      "\"%s\" expected, \"%s\" came%s", text, text_string(&line),
	      client->closed ? ", and the end" : "");
	text_finish(&line);
}

static void
open_card(struct house *house)
{
	house->engine.card = (struct card_info){
		.spec = {44100, 2, CARD_S16, 16},
		.name = "Paper card",
	};
	house->engine.output.card = &house->engine.card;
	house->engine.output.state = OUTPUT_OPEN;
	house->engine.output.error = "";
	house->engine.output.bit_perfect = true;
}

/* Things in the music folder; true when text is one of these words. */
static bool
make(struct house *house, const char *text)
{
	char name[64], title[64], path[192], command[256], comment[80];
	const char *const comments[] = {comment, NULL};

	if (sscanf(text, "flac %63s %63[^\n]", name, title) == 2) {
		snprintf(path, sizeof(path), "%s/%s", house->folder, name);
		snprintf(comment, sizeof(comment), "TITLE=%s", title);
		flac_file_write(path, comments, FLAC_FILE_RATE_HZ / 2);
	} else if (sscanf(text, "file %63s", name) == 1) {
		house_write(house, name, "nothing", 7);
	} else if (sscanf(text, "folder %63s", name) == 1) {
		house_mkdir(house, name);
	} else if (sscanf(text, "link %63s %63s", name, title) == 2) {
		snprintf(path, sizeof(path), "%s/%s", house->folder, name);
		assert_int_equal(symlink(title, path), 0);
	} else if (strcmp(text, "dates") == 0) {
		snprintf(command, sizeof(command),
			 "find %s -exec touch -h -d @1700000000 {} +",
			 house->folder);
		assert_int_equal(system(command), 0);
	} else {
		return false;
	}
	return true;
}

static void
happen(struct script *script, const char *text)
{
	struct house *house = script->house;
	const struct audio_spec spec = {44100, 2, SAMPLE_S32, 16};
	unsigned number = 0;

	if (make(house, text))
		return;
	if (sscanf(text, "songs %u", &number) == 1)
		house_add_songs(house, number);
	else if (strcmp(text, "ready") == 0)
		player_on_ready(house->player, house->last_stream, &spec,
				INT64_C(240500) * NS_PER_MS, 900000);
	else if (strcmp(text, "started") == 0)
		player_on_started(house->player, house->playing);
	else if (strcmp(text, "ended") == 0)
		player_on_ended(house->player, house->playing);
	else if (strcmp(text, "failed") == 0)
		player_on_failed(house->player, house->last_stream,
				 "no such thing");
	else if (sscanf(text, "elapsed %u", &number) == 1)
		house->elapsed_ns = number * NS_PER_MS;
	else if (strcmp(text, "card") == 0)
		open_card(house);
	else if (strcmp(text, "card gone") == 0) {
		house->engine.output.card = NULL;
		house->engine.output.error = "the card is gone";
	} else if (sscanf(text, "hang up %u", &number) == 1)
		house_hang_up(&house->clients[number]);
	else
		CHECK(script, false, "cannot make \"%s\" happen", text);
}

static void
play_line(struct script *script, const char *line, bool *skip)
{
	struct house *house = script->house;
	struct house_client *client = &house->clients[0];
	struct text bytes = {0};

	if (*line == '#' || *line == '\0')
		return;
	if (*line == '!') {
		house_settle(house);
		happen(script, line + 2);
		return;
	}
	if (isdigit((unsigned char)*line))
		client = &house->clients[*line++ - '0'];
	if (client->fd < 0)
		client = house_client(house, (int)(client - house->clients));
	if (strcmp(line, "<|") == 0) {
		house_settle(house);
		CHECK(script, client->got.length == 0 && !client->closed,
		      "nothing expected, \"%s\" came", client->got.bytes);
	} else if (strcmp(line, "<.") == 0) {
		house_settle(house);
		CHECK(script, client->closed, "the end expected");
		CHECK(script, client->got.length == 0,
		      "the end expected, \"%s\" came", client->got.bytes);
	} else if (*line == '<') {
		expect(script, client, line + 2, skip);
	} else {
		CHECK(script, *line == '>', "what is \"%s\"?", line);
		unescape(line[1] == ' ' ? line + 2 : line + 1, &bytes);
		text_add_char(&bytes, '\n');
		house_send_bytes(house, client, bytes.bytes, bytes.length);
		text_finish(&bytes);
	}
}

static void
play_script(const char *folder, const char *name)
{
	static struct house house;
	static char path[512], line[2048];
	struct script script = {&house, name, 0};
	bool skip = false;
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	house_init(&house);
	while (fgets(line, sizeof(line), file) != NULL) {
		script.line++;
		line[strcspn(line, "\n")] = '\0';
		play_line(&script, line, &skip);
	}
	house_settle(&house);
	for (i = 0; i < HOUSE_CLIENTS; i++)
		CHECK(&script, skip || house.clients[i].got.length == 0,
		      "\"%s\" came, which nobody expected",
		      house.clients[i].got.bytes);
	fclose(file);
	house_finish(&house);
}

static void
test_dialogues(void **state)
{
	static const char folder[] =
		ROTARY_SOURCE "/tests/unit/server/dialogues";
	struct dirent **names;
	int count, i;

	(void)state;
	count = scandir(folder, &names, NULL, alphasort);
	assert_true(count > 2);
	for (i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.')
			play_script(folder, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dialogues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

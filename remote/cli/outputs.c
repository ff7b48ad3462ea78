/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outputs.c - the verbs outputs, enable and disable, toggle with an output,
 * and the doctor's look at each of them.
 *
 * An output is named by its name or by its number, from 1 as other clients
 * count; a name that looks like a number wins. What the daemon tells of an
 * output beside that are attributes, "attribute: NAME=VALUE"; another daemon of
 * the protocol has others, or none. */
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/doctor.h"
#include "remote/cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The pairs [from, end) are one output. */
struct one {
	const struct pairs *all;
	size_t from;
	size_t end;
	unsigned number;
};

/* From {.all = answer} on; false after the last. */
static bool
next_output(struct one *one)
{
	if (one->end >= one->all->count)
		return false;
	one->from = one->end;
	one->end = pairs_next(one->all, one->from, "outputid");
	one->number++;
	return true;
}

static const char *
value_of(const struct one *one, const char *name)
{
	size_t i = 0;

	for (i = one->from; i < one->end; i++)
		if (strcmp(pairs_name(one->all, i), name) == 0)
			return pairs_value(one->all, i);
	return "";
}

static const char *
attribute_of(const struct one *one, const char *name)
{
	const size_t length = strlen(name);
	size_t i = 0;

	for (i = one->from; i < one->end; i++) {
		const char *value = pairs_value(one->all, i);

		if (strcmp(pairs_name(one->all, i), "attribute") == 0 &&
		    strncmp(value, name, length) == 0 && value[length] == '=')
			return value + length + 1;
	}
	return "";
}

static bool
is_on(const struct one *one)
{
	return strcmp(value_of(one, "outputenabled"), "1") == 0;
}

static bool
is_set(const struct one *one, const char *attribute)
{
	return strcmp(attribute_of(one, attribute), "1") == 0;
}

/* ---- listing ---- */

/* An attribute is a member of its own. */
static int
add_members(const struct one *one, struct pairs *ret_members)
{
	char name[64];
	size_t i = 0;
	int result = 0;

	for (i = one->from; i < one->end && result == 0; i++) {
		const char *value = pairs_value(one->all, i);
		const char *equals = strchr(value, '=');

		if (strcmp(pairs_name(one->all, i), "attribute") != 0 ||
		    equals == NULL ||
		    (size_t)(equals - value) >= sizeof(name)) {
			result = pairs_add(ret_members, pairs_name(one->all, i),
					   value);
			continue;
		}
		memcpy(name, value, (size_t)(equals - value));
		name[equals - value] = '\0';
		result = pairs_add(ret_members, name, equals + 1);
	}
	return result;
}

static int
print_json(const struct cli *cli, const struct pairs *outputs)
{
	struct one one = {.all = outputs};
	struct pairs members = {0};
	struct text text = {0};
	int result = 0;

	text_add_char(&text, '[');
	while (result == 0 && next_output(&one)) {
		pairs_clear(&members);
		result = add_members(&one, &members);
		text_add(&text, one.number > 1 ? ",\n" : "");
		pairs_add_json(&members, 0, members.count, &text);
	}
	text_add(&text, "]\n");
	if (result == 0 && text.failed)
		result = -ENOMEM;
	if (result == 0)
		fputs(text_string(&text), cli->out);
	text_finish(&text);
	pairs_finish(&members);
	return result;
}

/* What it does now, or what is wrong with it. */
static const char *
state_of(const struct one *one)
{
	const char *error = attribute_of(one, "error");

	if (error[0] != '\0')
		return error;
	if (strcmp(attribute_of(one, "state"), "open") != 0)
		return "";
	return is_set(one, "clock") ? "sets the pace" : "follows";
}

static void
print_lines(const struct cli *cli, const struct pairs *outputs)
{
	struct one one = {.all = outputs};

	while (next_output(&one)) {
		const char *name = value_of(&one, "outputname");
		const char *driver = value_of(&one, "plugin");
		const char *device = attribute_of(&one, "device");
		const char *state = state_of(&one);

		fprintf(cli->out, "%3u  %-3s  ", one.number,
			is_on(&one) ? "on" : "off");
		cli_put(cli->out, name);
		if (device[0] != '\0' || strcmp(name, driver) != 0) {
			fputs("  ", cli->out);
			cli_put(cli->out, driver);
		}
		if (device[0] != '\0') {
			fputc(':', cli->out);
			cli_put(cli->out, device);
		}
		if (state[0] != '\0') {
			fputs("  ", cli->out);
			cli_put(cli->out, state);
		}
		fputc('\n', cli->out);
	}
}

int
outputs_run(struct cli *cli, int argc, char *const argv[])
{
	struct pairs outputs = {0};
	int result = cli_ask(cli, &outputs, "outputs");

	(void)argc;
	(void)argv;
	if (result == 0 && cli->json)
		result = print_json(cli, &outputs);
	else if (result == 0)
		print_lines(cli, &outputs);
	pairs_finish(&outputs);
	return cli_explain(cli, result);
}

/* ---- on and off ---- */

/* The id, or NULL. */
static const char *
find_id(const struct pairs *outputs, const char *wanted)
{
	const char *by_number = NULL;
	struct one one = {.all = outputs};
	int64_t number = 0;

	if (text_parse_int(wanted, 1, INT32_MAX, &number) < 0)
		number = 0;
	while (next_output(&one)) {
		if (strcmp(value_of(&one, "outputname"), wanted) == 0)
			return value_of(&one, "outputid");
		if (one.number == number)
			by_number = value_of(&one, "outputid");
	}
	return by_number;
}

/* All are looked up before any is changed. */
static int
change(struct cli *cli, const char *command, int argc, char *const argv[])
{
	struct pairs outputs = {0};
	int code = cli_explain(cli, cli_ask(cli, &outputs, "outputs"));
	int i = 0;

	for (i = 0; i < argc && code == CLI_OK; i++)
		if (find_id(&outputs, argv[i]) == NULL)
			code = cli_fail(cli, CLI_REFUSED,
					"there is no output \"%s\"; \"rotary "
					"outputs\" lists them",
					argv[i]);
	for (i = 0; i < argc && code == CLI_OK; i++) {
		const char *const words[] = {command,
					     find_id(&outputs, argv[i])};

		code = cli_explain(cli, cli_ask_words(cli, NULL, words, 2));
	}
	pairs_finish(&outputs);
	return code;
}

int
enable_run(struct cli *cli, int argc, char *const argv[])
{
	return change(cli, "enableoutput", argc, argv);
}

int
disable_run(struct cli *cli, int argc, char *const argv[])
{
	return change(cli, "disableoutput", argc, argv);
}

int
outputs_toggle(struct cli *cli, int argc, char *const argv[])
{
	return change(cli, "toggleoutput", argc, argv);
}

/* ---- the doctor ---- */

/* 0 where it is not told. */
static int64_t
frames_of(const struct one *one, const char *attribute)
{
	int64_t frames = 0;

	if (text_parse_int(attribute_of(one, attribute), 0, INT64_MAX,
			   &frames) < 0)
		return 0;
	return frames;
}

static void
say_open(struct doctor *doctor, const struct one *one)
{
	const char *drift = attribute_of(one, "drift_ppm");
	const int64_t lost = frames_of(one, "dropped_frames");
	const int64_t missed = frames_of(one, "dry_frames");

	if (lost > 0 || missed > 0)
		doctor_say(doctor, DOCTOR_WARN, "output",
			   "it does not keep up with the output that sets the "
			   "pace: a longer buffer_ms, or look at its device",
			   "%s: %lld frames were dropped, %lld were missing",
			   value_of(one, "outputname"), (long long)lost,
			   (long long)missed);
	else if (drift[0] != '\0')
		doctor_say(doctor, DOCTOR_OK, "output", NULL,
			   "%s follows, its clock differs by %s ppm",
			   value_of(one, "outputname"), drift);
	else
		doctor_say(doctor, DOCTOR_OK, "output", NULL, "%s plays",
			   value_of(one, "outputname"));
}

static void
say_output(struct doctor *doctor, const struct one *one)
{
	const char *name = value_of(one, "outputname");
	const char *error = attribute_of(one, "error");
	const char *state = attribute_of(one, "state");

	if (!is_on(one))
		doctor_say(doctor, DOCTOR_OK, "output", NULL,
			   "%s is off, as a client left it; \"rotary enable\" "
			   "switches it on",
			   name);
	else if (error[0] != '\0')
		doctor_say(doctor, DOCTOR_WARN, "output",
			   "it is tried again by itself; \"rotary disable\" "
			   "gives it up",
			   "%s: %s", name, error);
	else if (strcmp(state, "open") == 0)
		say_open(doctor, one);
	else
		doctor_say(doctor, DOCTOR_OK, "output", NULL, "%s is on", name);
}

void
doctor_check_outputs(struct doctor *doctor)
{
	struct pairs outputs = {0};
	struct one one = {.all = &outputs};
	unsigned on = 0;

	if (doctor->cli->client == NULL ||
	    cli_ask(doctor->cli, &outputs, "outputs") < 0) {
		pairs_finish(&outputs);
		return;
	}
	while (next_output(&one)) {
		say_output(doctor, &one);
		on += is_on(&one);
	}
	if (on == 0)
		doctor_say(doctor, DOCTOR_FAIL, "output",
			   "\"rotary outputs\" lists them, \"rotary enable "
			   "NAME\" switches one on",
			   "no output is on, so nothing is heard");
	pairs_finish(&outputs);
}

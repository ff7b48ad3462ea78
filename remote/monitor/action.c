/* SPDX-License-Identifier: GPL-3.0-or-later */
/* action.c - parses what a key does.
 *
 * The text is cut into words, a comma outside of quotes ends a step; then each
 * step is looked up. Commands are those that a key could mean: what would end
 * or confuse the remote's own connection (idle, close, command lists) is none.
 * Whether this daemon knows a command is only seen when it is sent. */
#include "remote/monitor/action.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {
	"add",           "addid",
	"chime",         "clear",
	"clearerror",    "consume",
	"crossfade",     "delete",
	"deleteid",      "disableoutput",
	"enableoutput",  "findadd",
	"hush",          "load",
	"menumode",      "mixrampdb",
	"mixrampdelay",  "move",
	"moveid",        "next",
	"pause",         "play",
	"playid",        "playlistadd",
	"playlistclear", "playlistdelete",
	"playlistmove",  "preview",
	"previous",      "prio",
	"prioid",        "random",
	"repeat",        "replay_gain_mode",
	"rescan",        "rm",
	"save",          "say",
	"sayrepeat",     "saysong",
	"searchadd",     "seek",
	"seekcur",       "seekid",
	"sendmessage",   "setvol",
	"shuffle",       "single",
	"sleep",         "speech",
	"sticker",       "stop",
	"swap",          "swapid",
	"toggleoutput",  "update",
	"volume",
};

/* words: what may follow, parted by blanks; "" nothing; after those in the
 * table below one number may follow. */
struct own {
	const char *name;
	enum action_own own;
	const char *words;
	bool may_stand_alone;
};

static const struct own owns[] = {
	{"noop", ACTION_OWN_NOOP, "", true},
	{"menu", ACTION_OWN_MENU,
	 "enter leave up down left right ok back pageup pagedown home info "
	 "options help digit move",
	 false},
	{"mode", ACTION_OWN_MODE, "play menu text describe", false},
	{"text", ACTION_OWN_TEXT,
	 "up down left right ok back case space accept abort read digit",
	 false},
	{"speech", ACTION_OWN_SPEECH, "toggle", false},
	{"favourite", ACTION_OWN_FAVOURITE, "", true},
	{"toggle", ACTION_OWN_TOGGLE, "random repeat single consume", true},
	{"mute", ACTION_OWN_MUTE, "", true},
	{"power", ACTION_OWN_POWER, "off restart sleep", false},
};

static int
compare_names(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

static bool
is_command(const char *name)
{
	return bsearch(name, commands, sizeof(commands) / sizeof(commands[0]),
		       sizeof(commands[0]), compare_names) != NULL;
}

static bool
is_listed(const char *words, const char *word)
{
	const size_t length = strlen(word);

	while (*words != '\0') {
		const size_t next = strcspn(words, " ");

		if (next == length && strncmp(words, word, length) == 0)
			return true;
		words += next;
		words += strspn(words, " ");
	}
	return false;
}

int
action_refuse(struct text *ret_error, const char *what, const char *why)
{
	text_clear(ret_error);
	text_add_char(ret_error, '"');
	text_add_clean(ret_error, what, strlen(what), 60);
	text_add(ret_error, "\" ");
	text_add(ret_error, why);
	return -EINVAL;
}

/* --- words */

/* The next word of *rest into ret_word: 1; 0: the step ends here; -EINVAL: a
 * quote stays open. */
static int
next_word(const char **rest, struct text *ret_word)
{
	const char *i = *rest;
	bool quoted = false;

	i += strspn(i, " \t");
	text_clear(ret_word);
	*rest = i;
	if (*i == '\0' || *i == ',')
		return 0;
	for (; *i != '\0'; i++) {
		if (quoted && *i == '\\' && i[1] != '\0')
			text_add_char(ret_word, *++i);
		else if (*i == '"')
			quoted = !quoted;
		else if (!quoted && strchr(" \t,", *i) != NULL)
			break;
		else
			text_add_char(ret_word, *i);
	}
	*rest = i;
	return quoted ? -EINVAL : 1;
}

/* "+5*grow", "2*value", "*value". */
static int
take_factor(struct action_step *step, int index, struct text *ret_error)
{
	const char *word = step->words[index];
	const char *star = strrchr(word, '*');
	const bool change = word[0] == '+' || word[0] == '-';
	enum action_factor factor = ACTION_FACTOR_NONE;
	char number[16] = "1";
	int64_t scale = 1;

	if (star != NULL && strcmp(star, "*value") == 0)
		factor = ACTION_FACTOR_VALUE;
	else if (star != NULL && strcmp(star, "*grow") == 0)
		factor = ACTION_FACTOR_GROW;
	if (factor == ACTION_FACTOR_NONE)
		return 0;
	if (step->factor != ACTION_FACTOR_NONE)
		return action_refuse(ret_error, word,
				     "is a second number that is multiplied");
	if (star > word + change) {
		if ((size_t)(star - word) >= sizeof(number))
			return action_refuse(ret_error, word, "is no number");
		memcpy(number, word, (size_t)(star - word));
		number[star - word] = '\0';
		if (text_parse_int(number + (number[0] == '+'), -10000, 10000,
				   &scale) < 0 ||
		    scale == 0)
			return action_refuse(ret_error, word,
					     "needs a number from 1 to 10000");
	} else if (word[0] == '-') {
		scale = -1;
	}
	step->factor = factor;
	step->scaled_word = index;
	step->scale = scale;
	step->is_change = change;
	return 0;
}

static int
read_words(const char **rest, struct action_step *step, struct text *ret_error)
{
	struct text word = {0};
	int result = 0;

	for (;;) {
		result = next_word(rest, &word);
		if (result <= 0)
			break;
		if (step->word_count == ACTION_WORDS_MAX) {
			result = action_refuse(
				ret_error, text_string(&word),
				"is a word too many (16 are allowed)");
			break;
		}
		step->words[step->word_count] = strdup(text_string(&word));
		if (step->words[step->word_count] == NULL || word.failed) {
			result = -ENOMEM;
			break;
		}
		step->word_count++;
		result = take_factor(step, step->word_count - 1, ret_error);
		if (result < 0)
			break;
	}
	if (result == -EINVAL && ret_error->length == 0)
		action_refuse(ret_error, text_string(&word),
			      "has no closing quote");
	text_finish(&word);
	return result;
}

/* --- meaning */

static int
take_own(struct action_step *step, const struct own *own,
	 struct text *ret_error)
{
	const char *word = step->word_count > 1 ? step->words[1] : NULL;
	int64_t digit = 0;

	step->kind = ACTION_OWN;
	step->own = own->own;
	if (word == NULL && !own->may_stand_alone)
		return action_refuse(ret_error, step->words[0],
				     "needs to know what");
	if (word == NULL)
		return 0;
	if (!is_listed(own->words, word))
		return action_refuse(ret_error, word, "is not known here");
	if (strcmp(word, "digit") == 0)
		return step->word_count == 3 &&
				       text_parse_int(step->words[2], 0, 9,
						      &digit) == 0
			       ? 0
			       : action_refuse(ret_error, word,
					       "needs one digit");
	if (strcmp(word, "move") == 0)
		return step->word_count == 3 &&
				       step->factor == ACTION_FACTOR_VALUE
			       ? 0
			       : action_refuse(ret_error, word,
					       "needs 1*value");
	if (step->word_count > 2)
		return action_refuse(ret_error, step->words[2],
				     "is a word too many");
	return 0;
}

static int
take_meaning(struct action_step *step, struct text *ret_error)
{
	const char *verb = step->words[0];
	size_t i = 0;

	if (step->word_count == 0)
		return action_refuse(ret_error, "", "says not what to do");
	if (step->factor != ACTION_FACTOR_NONE && step->scaled_word == 0)
		return action_refuse(ret_error, verb, "is no command");
	for (i = 0; i < sizeof(owns) / sizeof(owns[0]); i++) {
		if (strcmp(owns[i].name, verb) != 0)
			continue;
		/* "speech toggle" is ours, "speech rate 150" the daemon's. */
		if (is_command(verb) &&
		    (step->word_count != 2 ||
		     !is_listed(owns[i].words, step->words[1])))
			continue;
		return take_own(step, &owns[i], ret_error);
	}
	if (strcmp(verb, "exec") == 0) {
		step->kind = ACTION_EXEC;
		if (step->word_count < 2 || step->words[1][0] != '/')
			return action_refuse(
				ret_error, verb,
				"needs the full path of a program");
		return 0;
	}
	step->kind = ACTION_COMMAND;
	if (!is_command(verb))
		return action_refuse(ret_error, verb,
				     "is no command that a key can "
				     "give");
	return 0;
}

static int
parse_steps(const char *text, struct action *action, struct text *ret_error)
{
	const char *rest = text;
	int result = 0;

	for (;;) {
		struct action_step *step = NULL;

		if (action->step_count == ACTION_STEPS_MAX)
			return action_refuse(
				ret_error, rest,
				"is a step too many (8 are allowed)");
		step = &action->steps[action->step_count++];
		result = read_words(&rest, step, ret_error);
		if (result == 0)
			result = take_meaning(step, ret_error);
		if (result < 0 || *rest == '\0')
			return result;
		rest++;
	}
}

int
action_parse(const char *text, struct action **ret_action,
	     struct text *ret_error)
{
	struct action *action = calloc(1, sizeof(*action));
	int result = 0;

	text_clear(ret_error);
	if (action == NULL)
		return -ENOMEM;
	action->text = strdup(text);
	result = action->text == NULL ? -ENOMEM
				      : parse_steps(text, action, ret_error);
	if (result < 0) {
		action_destroy(action);
		return result;
	}
	*ret_action = action;
	return 0;
}

void
action_destroy(struct action *action)
{
	int i = 0, word = 0;

	if (action == NULL)
		return;
	for (i = 0; i < action->step_count; i++)
		for (word = 0; word < action->steps[i].word_count; word++)
			free(action->steps[i].words[word]);
	free(action->text);
	free(action);
}

bool
action_has_kind(const struct action *action, enum action_kind kind)
{
	int i = 0;

	for (i = 0; i < action->step_count; i++)
		if (action->steps[i].kind == kind)
			return true;
	return false;
}

bool
action_has_own(const struct action *action, enum action_own own)
{
	int i = 0;

	for (i = 0; i < action->step_count; i++)
		if (action->steps[i].kind == ACTION_OWN &&
		    action->steps[i].own == own)
			return true;
	return false;
}

bool
action_has_factor(const struct action *action, enum action_factor factor)
{
	int i = 0;

	for (i = 0; i < action->step_count; i++)
		if (action->steps[i].factor == factor)
			return true;
	return false;
}

bool
action_is_command(const struct action *action, const char *name)
{
	return action->steps[0].kind == ACTION_COMMAND &&
	       strcmp(action->steps[0].words[0], name) == 0;
}

void
action_add_word(struct text *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789+-_.:/";

	if (*word != '\0' && word[strspn(word, plain)] == '\0')
		text_add(text, word);
	else
		text_add_quoted(text, word);
}

void
action_add_line(struct text *text, const struct action_step *step,
		int64_t factor)
{
	int i = 0;

	for (i = 0; i < step->word_count; i++) {
		if (i > 0)
			text_add_char(text, ' ');
		if (step->factor == ACTION_FACTOR_NONE ||
		    i != step->scaled_word)
			action_add_word(text, step->words[i]);
		else
			text_printf(text, step->is_change ? "%+lld" : "%lld",
				    (long long)step->scale * factor);
	}
}

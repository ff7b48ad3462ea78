/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.c - the protocol's grammar of one line.
 *
 *   line     = word *(blanks argument)
 *   word     = letter *(letter | digit | "_")
 *   argument = plain | '"' *(byte | "\" byte) '"'
 *   plain    = bytes above the blank, without " and '
 *
 * A blank is any byte from 1 to 32. After a closing quote must come a blank or
 * the end. Bytes above 127 are ordinary: names of files need not be UTF-8.
 * An argument is unquoted where it stands: it never grows, so the write place
 * is never ahead of the read place. */
#include "daemon/server/line.h"

#include <stdbool.h>
#include <string.h>

static bool
is_blank(char c)
{
	return c > 0 && c <= ' ';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_word(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

static bool
is_plain(char c)
{
	return (unsigned char)c > ' ' && c != '"' && c != '\'';
}

static char *
skip_blanks(char *at)
{
	while (is_blank(*at))
		at++;
	return at;
}

void
line_strip(char *bytes)
{
	size_t length = strlen(bytes);

	while (length > 0 && is_blank(bytes[length - 1]))
		bytes[--length] = '\0';
}

/* Ends the word and returns where the arguments begin; NULL: no word. */
static char *
take_word(char *at, const char **ret_error)
{
	if (!is_letter(*at)) {
		*ret_error = "Letter expected";
		return NULL;
	}
	while (is_word(*at))
		at++;
	if (*at != '\0' && !is_blank(*at)) {
		*ret_error = "Invalid word character";
		return NULL;
	}
	if (*at != '\0')
		*at++ = '\0';
	return skip_blanks(at);
}

static char *
take_plain(char *at, const char **ret_error)
{
	while (is_plain(*at))
		at++;
	if (*at != '\0' && !is_blank(*at)) {
		*ret_error = "Invalid unquoted character";
		return NULL;
	}
	if (*at != '\0')
		*at++ = '\0';
	return at;
}

static char *
take_quoted(char *at, char **ret_argument, const char **ret_error)
{
	char *to = at;

	*ret_argument = ++at;
	to = at;
	while (*at != '"') {
		if (*at == '\\')
			at++;
		if (*at == '\0') {
			*ret_error = "Missing closing '\"'";
			return NULL;
		}
		*to++ = *at++;
	}
	at++;
	if (*at != '\0' && !is_blank(*at)) {
		*ret_error = "Space expected after closing '\"'";
		return NULL;
	}
	*to = '\0';
	return at;
}

enum line_result
line_split(char *bytes, struct line *ret_line, const char **ret_error)
{
	char *at = NULL;

	ret_line->word = bytes;
	ret_line->arg_count = 0;
	at = take_word(bytes, ret_error);
	if (at == NULL)
		return LINE_NOT_OURS;
	while (*at != '\0') {
		char *argument = at;

		if (ret_line->arg_count == LINE_ARGS_MAX) {
			*ret_error = "Too many arguments";
			return LINE_TOO_MANY;
		}
		at = *at == '"' ? take_quoted(at, &argument, ret_error)
				: take_plain(at, ret_error);
		if (at == NULL)
			return LINE_BAD;
		ret_line->args[ret_line->arg_count++] = argument;
		at = skip_blanks(at);
	}
	return LINE_OK;
}

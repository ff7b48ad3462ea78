/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.c - an answer as one block of bytes and the places of its strings in
 * it, so that a queue of a hundred thousand lines costs a few allocations. */
#include "remote/cli/pairs.h"

#include "lib/client/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
pairs_finish(struct pairs *pairs)
{
	text_finish(&pairs->bytes);
	free(pairs->places);
	*pairs = (struct pairs){0};
}

void
pairs_clear(struct pairs *pairs)
{
	text_clear(&pairs->bytes);
	pairs->count = 0;
}

static int
reserve(struct pairs *pairs)
{
	const size_t capacity = pairs->capacity > 0 ? pairs->capacity * 2 : 64;
	struct pair_place *places = NULL;

	if (pairs->count < pairs->capacity)
		return 0;
	places = realloc(pairs->places, capacity * sizeof(*places));
	if (places == NULL)
		return -ENOMEM;
	pairs->places = places;
	pairs->capacity = capacity;
	return 0;
}

int
pairs_add(struct pairs *pairs, const char *name, const char *value)
{
	struct pair_place place;

	if (reserve(pairs) < 0)
		return -ENOMEM;
	place.name = pairs->bytes.length;
	text_add_bytes(&pairs->bytes, name, strlen(name) + 1);
	place.value = pairs->bytes.length;
	text_add_bytes(&pairs->bytes, value, strlen(value) + 1);
	if (pairs->bytes.failed)
		return -ENOMEM;
	pairs->places[pairs->count++] = place;
	return 0;
}

int
pairs_read(struct pairs *pairs, struct client *client)
{
	const char *name = NULL, *value = NULL;
	int result = 0, added = 0;

	while ((result = client_read_pair(client, &name, &value)) > 0)
		if (added == 0)
			added = pairs_add(pairs, name, value);
	return result < 0 ? result : added;
}

const char *
pairs_name(const struct pairs *pairs, size_t index)
{
	return pairs->bytes.bytes + pairs->places[index].name;
}

const char *
pairs_value(const struct pairs *pairs, size_t index)
{
	return pairs->bytes.bytes + pairs->places[index].value;
}

const char *
pairs_find(const struct pairs *pairs, size_t from, const char *name)
{
	for (; from < pairs->count; from++)
		if (strcmp(pairs_name(pairs, from), name) == 0)
			return pairs_value(pairs, from);
	return NULL;
}

const char *
pairs_get(const struct pairs *pairs, const char *name)
{
	const char *value = pairs_find(pairs, 0, name);

	return value != NULL ? value : "";
}

size_t
pairs_next(const struct pairs *pairs, size_t from, const char *name)
{
	do {
		from++;
	} while (from < pairs->count &&
		 strcmp(pairs_name(pairs, from), name) != 0);
	return from < pairs->count ? from : pairs->count;
}

static bool
ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), end_length = strlen(end);

	return length > end_length &&
	       strcmp(name + length - end_length, end) == 0;
}

/* What a number is, by its name. */
static const char *const number_names[] = {
	"Id",
	"Pos",
	"Prio",
	"Time",
	"albums",
	"artists",
	"bitperfect",
	"bitrate",
	"db_playtime",
	"db_update",
	"clock",
	"drift_ppm",
	"duration",
	"elapsed",
	"mixrampdb",
	"nextsong",
	"nextsongid",
	"playlist",
	"playlistlength",
	"playtime",
	"random",
	"repeat",
	"sealed",
	"song",
	"songid",
	"songs",
	"speech",
	"updating_db",
	"uptime",
	"volume",
	"xfade",
	"periods",
	"xruns",
	"overruns",
	"minor_faults",
	"major_faults",
	"voluntary_switches",
	"involuntary_switches",
	"alloc_marked",
	"allocator_calls",
	"events_dropped",
	"outputenabled",
	"outputid",
	"output_bitperfect",
	"output_rewind",
	"pool_locked",
	"reserve_missed",
	"reserve_waits",
	"set_items",
	"streams",
};
static const char *const number_ends[] = {"_bytes", "_frames", "_us"};

static bool
is_number_name(const char *name)
{
	size_t i = 0;

	for (i = 0; i < sizeof(number_names) / sizeof(number_names[0]); i++)
		if (strcmp(name, number_names[i]) == 0)
			return true;
	if (strncmp(name, "zone_", 5) == 0 && strcmp(name, "zone_class") != 0)
		return true;
	for (i = 0; i < sizeof(number_ends) / sizeof(number_ends[0]); i++)
		if (ends_with(name, number_ends[i]))
			return true;
	return false;
}

/* What JSON takes for a number: no plus, a digit on each side of the point, no
 * zero in front. */
static bool
is_json_number(const char *value)
{
	const char *digits = value[0] == '-' ? value + 1 : value;
	const char *point = strchr(value, '.');
	double number = 0;

	if (text_parse_double(value, &number) < 0 || digits[0] == '+')
		return false;
	if (digits[0] < '0' || digits[0] > '9')
		return false;
	if (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
		return false;
	return point == NULL || (point[1] >= '0' && point[1] <= '9');
}

static void
add_value(struct text *text, const char *name, const char *value)
{
	if (is_number_name(name) && is_json_number(value))
		text_add(text, value);
	else
		text_add_json(text, value);
}

static bool
is_repeated(const struct pairs *pairs, size_t from, size_t end,
	    const char *name)
{
	for (; from < end; from++)
		if (strcmp(pairs_name(pairs, from), name) == 0)
			return true;
	return false;
}

static void
add_array(const struct pairs *pairs, size_t from, size_t end, struct text *text)
{
	const char *name = pairs_name(pairs, from);
	const char *comma = "";

	text_add_char(text, '[');
	for (; from < end; from++) {
		if (strcmp(pairs_name(pairs, from), name) != 0)
			continue;
		text_add(text, comma);
		add_value(text, name, pairs_value(pairs, from));
		comma = ",";
	}
	text_add_char(text, ']');
}

void
pairs_add_json(const struct pairs *pairs, size_t from, size_t end,
	       struct text *text)
{
	const char *comma = "";
	size_t i = 0;

	text_add_char(text, '{');
	for (i = from; i < end; i++) {
		const char *name = pairs_name(pairs, i);

		if (is_repeated(pairs, from, i, name))
			continue;
		text_add(text, comma);
		text_add_json(text, name);
		text_add_char(text, ':');
		if (is_repeated(pairs, i + 1, end, name))
			add_array(pairs, i, end, text);
		else
			add_value(text, name, pairs_value(pairs, i));
		comma = ",";
	}
	text_add_char(text, '}');
}

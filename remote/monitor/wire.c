/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.c - requests, and which answer belongs to which.
 *
 * requests is a ring of what was written and is not answered; answers come in
 * the same order, each up to OK or ACK. idle is a request like the others: its
 * answer comes when something changed or when noidle was written behind it,
 * and noidle itself has none. So at most the last request is an idle, and it
 * is owed an answer only once noidle has been written.
 * awaited_ns: since when the first answer that is owed has been so. */
#include "remote/monitor/wire.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/client/link.h"
#include "remote/monitor/refusals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MAX = 64 };

static const char topic[] = "remote";
static const int64_t busy_ns = NS_PER_S;
static const int64_t patience_ns = 5 * NS_PER_S;
static const int64_t first_retry_ns = 200 * NS_PER_MS;
static const int64_t last_retry_ns = 5 * NS_PER_S;

enum request {
	REQUEST_GREETING,
	REQUEST_COMMAND,
	REQUEST_QUIET, /* a refusal is no news */
	REQUEST_IDLE,
	REQUEST_STATUS,
	REQUEST_SONG,
	REQUEST_MESSAGES,
	REQUEST_SPEECH,
};

struct awaited {
	enum request request;
	char *line;
};

struct wire {
	const char *where;
	struct wire_hooks hooks;
	struct link *link;
	struct awaited requests[REQUESTS_MAX];
	unsigned first;
	unsigned count;
	int64_t awaited_ns; /* INT64_MAX: nothing is owed */
	int64_t retry_ns;
	int64_t retry_step_ns;
	bool idle_changed_player;
	bool idle_changed_messages;
	bool told_away;
	bool told_dropped;
	bool message_is_ours;
	struct wire_state state;
	struct wire_state asked; /* an answer that is being read */
	struct refusals refusals;
};

static struct awaited *
last_request(struct wire *wire)
{
	if (wire->count == 0)
		return NULL;
	return &wire->requests[(wire->first + wire->count - 1) % REQUESTS_MAX];
}

static bool
is_idling(struct wire *wire)
{
	const struct awaited *last = last_request(wire);

	return last != NULL && last->request == REQUEST_IDLE;
}

/* --- life of a connection */

static void
forget_requests(struct wire *wire)
{
	for (; wire->count > 0; wire->count--) {
		free(wire->requests[wire->first].line);
		wire->first = (wire->first + 1) % REQUESTS_MAX;
	}
	wire->awaited_ns = INT64_MAX;
}

static void
hang_up(struct wire *wire, int64_t now_ns, const char *why)
{
	if (!wire->told_away)
		log_warn(topic, "%s; trying again", why);
	wire->told_away = true;
	link_close(wire->link);
	wire->link = NULL;
	forget_requests(wire);
	wire->state.known = false;
	wire->retry_ns = now_ns + wire->retry_step_ns;
	wire->retry_step_ns *= 2;
	if (wire->retry_step_ns > last_retry_ns)
		wire->retry_step_ns = last_retry_ns;
}

static void
fail(struct wire *wire, int64_t now_ns, int error)
{
	char why[256];

	snprintf(why, sizeof(why), "the connection to the daemon is lost: %s",
		 text_of_error(error));
	hang_up(wire, now_ns, why);
}

/* Before the first line of the answer at the front. */
static void
begin_answer(struct wire *wire)
{
	if (wire->count == 0)
		return;
	switch (wire->requests[wire->first].request) {
	case REQUEST_IDLE:
		wire->idle_changed_player = false;
		wire->idle_changed_messages = false;
		break;
	case REQUEST_STATUS:
		memset(&wire->asked, 0, sizeof(wire->asked));
		wire->asked.volume = -1;
		break;
	case REQUEST_SONG:
		wire->state.song[0] = '\0';
		break;
	default:
		break;
	}
}

static void
expect(struct wire *wire, int64_t now_ns, enum request request,
       const char *line)
{
	const unsigned place = (wire->first + wire->count) % REQUESTS_MAX;

	wire->requests[place].request = request;
	wire->requests[place].line = line != NULL ? strdup(line) : NULL;
	if (wire->count++ == 0)
		begin_answer(wire);
	if (request != REQUEST_IDLE && wire->awaited_ns == INT64_MAX)
		wire->awaited_ns = now_ns;
}

/* Writes line, out of idle first. 0, -ENOTCONN, -EBUSY. */
static int
request(struct wire *wire, int64_t now_ns, enum request request,
	const char *line)
{
	int result = 0;

	if (wire->link == NULL)
		return -ENOTCONN;
	if (wire->count + 2 > REQUESTS_MAX)
		return -EBUSY;
	if (is_idling(wire)) {
		result = link_write(wire->link, "noidle");
		if (result == 0 && wire->awaited_ns == INT64_MAX)
			wire->awaited_ns = now_ns;
	}
	if (result == 0)
		result = link_write(wire->link, line);
	if (result < 0)
		return -EBUSY;
	expect(wire, now_ns, request, line);
	return 0;
}

static void
ask_state(struct wire *wire, int64_t now_ns)
{
	(void)request(wire, now_ns, REQUEST_STATUS, "status");
	(void)request(wire, now_ns, REQUEST_SONG, "currentsong");
}

static void
take_greeting(struct wire *wire, int64_t now_ns, const char *line)
{
	if (strncmp(line, "OK MPD ", 7) != 0) {
		hang_up(wire, now_ns,
			strncmp(line, "ACK ", 4) == 0
				? "the daemon refuses the connection"
				: "what answers is no daemon");
		return;
	}
	log_info(topic, "connected to %s", link_where(wire->link));
	wire->told_away = false;
	wire->told_dropped = false;
	wire->retry_step_ns = first_retry_ns;
	(void)request(wire, now_ns, REQUEST_QUIET, "subscribe remote");
	ask_state(wire, now_ns);
	(void)request(wire, now_ns, REQUEST_SPEECH, "speech");
}

/* --- answers */

static void
take_pair(struct wire *wire, const struct awaited *awaited, const char *name,
	  const char *value)
{
	switch (awaited->request) {
	case REQUEST_IDLE:
		if (strcmp(value, "message") == 0)
			wire->idle_changed_messages = true;
		else
			wire->idle_changed_player = true;
		break;
	case REQUEST_STATUS:
		wire_state_take(&wire->asked, name, value);
		break;
	case REQUEST_SONG:
		if (strcmp(name, "file") == 0 &&
		    strlen(value) < sizeof(wire->state.song))
			snprintf(wire->state.song, sizeof(wire->state.song),
				 "%s", value);
		break;
	case REQUEST_SPEECH:
		if (strcmp(name, "on") == 0)
			wire->state.speech = strcmp(value, "1") == 0;
		break;
	case REQUEST_MESSAGES:
		if (strcmp(name, "channel") == 0)
			wire->message_is_ours = strcmp(value, "remote") == 0;
		else if (strcmp(name, "message") == 0 && wire->message_is_ours)
			wire->hooks.message(wire->hooks.context, value);
		break;
	case REQUEST_GREETING:
	case REQUEST_COMMAND:
	case REQUEST_QUIET:
		break;
	}
}

static void
take_ack(struct wire *wire, const struct awaited *awaited, const char *ack)
{
	const char *reason = strstr(ack, "} ");
	struct text words = {0};

	if (awaited->request != REQUEST_COMMAND || awaited->line == NULL)
		return;
	reason = reason != NULL ? reason + 2 : ack;
	text_add_bytes(&words, awaited->line, strcspn(awaited->line, " "));
	text_add(&words, ": ");
	text_add_clean(&words, reason, strlen(reason), 200);
	if (refusals_is_new(&wire->refusals, text_string(&words)))
		log_warn(topic, "the daemon refuses %s", text_string(&words));
	text_finish(&words);
	wire->hooks.refused(wire->hooks.context, awaited->line);
}

static void
end_answer(struct wire *wire, int64_t now_ns, const struct awaited *awaited)
{
	if (awaited->request == REQUEST_STATUS) {
		const int before = wire->state.volume_before_mute;

		memcpy(wire->asked.song, wire->state.song,
		       sizeof(wire->asked.song));
		wire->asked.speech = wire->state.speech;
		wire->asked.volume_before_mute = before;
		wire->asked.known = true;
		wire->state = wire->asked;
	}
	if (awaited->request == REQUEST_IDLE && wire->idle_changed_player)
		ask_state(wire, now_ns);
	if (awaited->request == REQUEST_IDLE && wire->idle_changed_messages)
		(void)request(wire, now_ns, REQUEST_MESSAGES, "readmessages");
}

/* The answer at the front is whole. */
static void
finish_answer(struct wire *wire, int64_t now_ns, const char *line)
{
	struct awaited done = wire->requests[wire->first];

	wire->first = (wire->first + 1) % REQUESTS_MAX;
	wire->count--;
	wire->awaited_ns = INT64_MAX;
	if (wire->count > 1 || (wire->count == 1 && !is_idling(wire)))
		wire->awaited_ns = now_ns;
	begin_answer(wire);
	if (done.request == REQUEST_GREETING)
		take_greeting(wire, now_ns, line);
	else if (strncmp(line, "ACK ", 4) == 0)
		take_ack(wire, &done, line);
	else
		end_answer(wire, now_ns, &done);
	free(done.line);
}

static void
take_line(struct wire *wire, int64_t now_ns, char *line)
{
	struct awaited *awaited = &wire->requests[wire->first];
	char *colon = NULL;

	if (wire->count == 0) {
		hang_up(wire, now_ns, "the daemon answers what nobody asked");
		return;
	}
	if (awaited->request == REQUEST_GREETING || strcmp(line, "OK") == 0 ||
	    strncmp(line, "ACK ", 4) == 0) {
		finish_answer(wire, now_ns, line);
		return;
	}
	colon = strstr(line, ": ");
	if (colon == NULL) {
		hang_up(wire, now_ns, "what answers is no daemon");
		return;
	}
	*colon = '\0';
	take_pair(wire, awaited, line, colon + 2);
}

void
wire_handle(struct wire *wire, int64_t now_ns)
{
	const char *line = NULL;
	struct text copy = {0};
	int result = link_receive(wire->link);

	while (wire->link != NULL && link_next(wire->link, &line) == 1) {
		text_clear(&copy);
		text_add(&copy, line);
		if (copy.bytes != NULL && !copy.failed)
			take_line(wire, now_ns, copy.bytes);
	}
	text_finish(&copy);
	if (wire->link != NULL && result < 0)
		fail(wire, now_ns, result);
}

/* --- commands */

static void
tell_dropped(struct wire *wire, const char *why)
{
	if (!wire->told_dropped)
		log_warn(topic, "%s: keys do nothing until it answers", why);
	wire->told_dropped = true;
}

int
wire_send(struct wire *wire, int64_t now_ns, const char *line)
{
	int result = 0;

	if (wire->link == NULL || !wire_is_connected(wire)) {
		tell_dropped(wire, "there is no daemon");
		return -ENOTCONN;
	}
	if (wire->awaited_ns != INT64_MAX &&
	    now_ns - wire->awaited_ns > busy_ns)
		result = -EBUSY;
	else
		result = request(wire, now_ns, REQUEST_COMMAND, line);
	if (result == -EBUSY)
		tell_dropped(wire, "the daemon does not answer");
	else
		wire->told_dropped = false;
	return result;
}

void
wire_flush(struct wire *wire, int64_t now_ns)
{
	int result = 0;

	if (wire->link == NULL)
		return;
	if (wire_is_connected(wire) && !is_idling(wire) &&
	    wire->count < REQUESTS_MAX) {
		result = link_write(wire->link,
				    "idle player mixer options playlist "
				    "message");
		if (result == 0)
			expect(wire, now_ns, REQUEST_IDLE, NULL);
	}
	result = link_flush(wire->link);
	if (result < 0)
		fail(wire, now_ns, result);
}

/* --- time */

static void
connect_now(struct wire *wire, int64_t now_ns)
{
	struct text error = {0};
	const int result = link_open(wire->where, &wire->link, &error);

	if (result < 0) {
		hang_up(wire, now_ns,
			error.length > 0 ? text_string(&error)
					 : "out of memory");
	} else {
		expect(wire, now_ns, REQUEST_GREETING, NULL);
	}
	text_finish(&error);
}

void
wire_tick(struct wire *wire, int64_t now_ns)
{
	if (wire->link == NULL && now_ns >= wire->retry_ns)
		connect_now(wire, now_ns);
	else if (wire->awaited_ns != INT64_MAX &&
		 now_ns - wire->awaited_ns >= patience_ns)
		hang_up(wire, now_ns, "the daemon has not answered for 5 s");
}

int64_t
wire_deadline(const struct wire *wire)
{
	if (wire->link == NULL)
		return wire->retry_ns;
	return wire->awaited_ns == INT64_MAX ? INT64_MAX
					     : wire->awaited_ns + patience_ns;
}

struct wire_state *
wire_state(struct wire *wire)
{
	return &wire->state;
}

bool
wire_is_connected(const struct wire *wire)
{
	return wire->link != NULL &&
	       (wire->count == 0 ||
		wire->requests[wire->first].request != REQUEST_GREETING);
}

int
wire_fd(const struct wire *wire)
{
	return wire->link != NULL ? link_fd(wire->link) : -1;
}

short
wire_events(const struct wire *wire)
{
	return (short)(wire->link != NULL ? link_events(wire->link) : 0);
}

int
wire_create(const char *where, const struct wire_hooks *hooks,
	    struct wire **ret_wire)
{
	struct wire *wire = calloc(1, sizeof(*wire));

	if (wire == NULL)
		return -ENOMEM;
	wire->where = where;
	wire->hooks = *hooks;
	wire->retry_ns = 0;
	wire->retry_step_ns = first_retry_ns;
	wire->awaited_ns = INT64_MAX;
	wire->state.volume = -1;
	*ret_wire = wire;
	return 0;
}

void
wire_destroy(struct wire *wire)
{
	if (wire == NULL)
		return;
	link_close(wire->link);
	forget_requests(wire);
	refusals_finish(&wire->refusals);
	free(wire);
}

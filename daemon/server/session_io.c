/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session_io.c - a connection's descriptor: reading, writing, turns, time.
 *
 * A turn makes a bounded number of steps and goes back to the loop, so that a
 * client with a long list cannot keep others waiting. Between turns:
 *   input is watched for iff  there is room and nothing is known to be
 * readable; output is watched for iff bytes wait for the client; the timer runs
 * iff        bytes wait for the client. EPOLLHUP cannot be switched off, so a
 * session that has seen it is taken off the loop, works off what the client had
 * sent, and ends. */
#include "daemon/server/session.h"

#include "daemon/server/channels.h"
#include "daemon/server/server_core.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

/* What a client is greeted with: the level of the protocol that we do. */
static const char greeting[] = "OK MPD 0.23.5\n";

enum { TURN_STEPS = 256 };

static size_t
unsent_bytes(const struct session *session)
{
	return session->out.length - session->out_sent;
}

/* Reads what fits; true when that gave something to do. */
static bool
fill_input(struct session *session)
{
	size_t room = 0;
	ssize_t got = 0;

	if (session->in_start > 0) {
		session->in_end -= session->in_start;
		memmove(session->in, session->in + session->in_start,
			session->in_end);
		session->in_start = 0;
	}
	room = sizeof(session->in) - session->in_end;
	got = recv(session->fd, session->in + session->in_end, room,
		   MSG_DONTWAIT);
	if (got < 0) {
		session->readable = errno == EINTR;
		if (errno != EAGAIN && errno != EINTR)
			session->in_ended = true;
		return session->readable || session->in_ended;
	}
	session->readable = (size_t)got == room || (got > 0 && session->hung);
	session->in_ended = got == 0;
	session->in_end += (size_t)got;
	return true;
}

static bool
step_input(struct session *session)
{
	char *bytes = session->in + session->in_start;
	const size_t length = session->in_end - session->in_start;
	char *newline = memchr(bytes, '\n', length);

	if (newline != NULL) {
		*newline = '\0';
		session->in_start += (size_t)(newline - bytes) + 1;
		session_take_line(session, bytes);
		return true;
	}
	if (length == sizeof(session->in)) {
		log_info("server",
			 "a client sent a line of more than %d "
			 "bytes: its connection is closed",
			 LINE_BYTES_MAX);
		session->closing = true;
		return false;
	}
	if (session->readable)
		return fill_input(session);
	if (session->in_ended)
		session->closing = true;
	return false;
}

static bool
step_task(struct session *session)
{
	enum task_result result;

	if (!session->task_ready)
		return false;
	/* A step may already wake what it then waits for. */
	session->task_ready = false;
	result = session->task->ops->step(session->task, session);
	if (result == TASK_WAIT)
		return session->task_ready;
	if (result == TASK_MORE) {
		session->task_ready = true;
		return true;
	}
	session->task->ops->destroy(session->task);
	session->task = NULL;
	session_finish_command(session, result == TASK_DONE ? COMMAND_OK
							    : COMMAND_ERROR);
	return true;
}

static bool
step(struct session *session)
{
	if (session->closing || session->dead)
		return false;
	if (session->task != NULL)
		return step_task(session);
	if (session->list_running) {
		char *bytes = session->list.bytes + session->list_at;

		session->list_at += strlen(bytes) + 1;
		session_execute(session, bytes);
		return true;
	}
	if (session_report_idle(session))
		return true;
	return step_input(session);
}

static void
forget_output(struct session *session)
{
	session->out_sent = 0;
	if (session->out.capacity > SESSION_OUT_MAX || session->out.failed) {
		text_finish(&session->out);
		session->out = (struct text){0};
	} else {
		text_clear(&session->out);
	}
}

static int
on_stall(struct sd_event_source *source, uint64_t usec, void *context)
{
	struct session *session = context;

	(void)source;
	(void)usec;
	log_info("server", "a client did not read its answer: its connection "
			   "is closed");
	session_destroy(session);
	return 0;
}

/* Restarts the time that the client has for reading something. */
static void
start_timer(struct session *session)
{
	struct sd_event *loop = session->server->links.loop;
	const uint64_t due_us =
		(uint64_t)((clock_now_ns() + session->server->stall_ns) /
			   NS_PER_US);

	session->stalled = true;
	if (session->timer == NULL) {
		if (sd_event_add_time(loop, &session->timer, CLOCK_MONOTONIC,
				      due_us, 0, on_stall, session) < 0)
			session->dead = true;
		return;
	}
	sd_event_source_set_time(session->timer, due_us);
	sd_event_source_set_enabled(session->timer, SD_EVENT_ONESHOT);
}

static void
stop_timer(struct session *session)
{
	if (session->stalled)
		sd_event_source_set_enabled(session->timer, SD_EVENT_OFF);
	session->stalled = false;
}

static void
flush(struct session *session)
{
	size_t before = unsent_bytes(session);
	ssize_t sent = 0;

	if (session->out.failed)
		session->dead = true;
	if (session->hung || session->dead) {
		forget_output(session);
		return;
	}
	while (unsent_bytes(session) > 0) {
		sent = send(session->fd, session->out.bytes + session->out_sent,
			    unsent_bytes(session), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			break;
		session->out_sent += (size_t)sent;
	}
	if (unsent_bytes(session) == 0) {
		forget_output(session);
		stop_timer(session);
	} else if (errno != EAGAIN) {
		session->hung = true;
		session->readable = true;
		forget_output(session);
	} else if (unsent_bytes(session) < before || !session->stalled) {
		start_timer(session);
	}
}

/* Tells the loop what this session waits for. */
static void
watch(struct session *session)
{
	uint32_t events = 0;

	if (session->hung) {
		sd_event_source_set_enabled(session->io, SD_EVENT_OFF);
		return;
	}
	if (!session->readable && !session->in_ended && !session->closing)
		events |= EPOLLIN;
	if (unsent_bytes(session) > 0)
		events |= EPOLLOUT;
	sd_event_source_set_io_events(session->io, events);
}

static bool
is_over(const struct session *session)
{
	if (session->dead)
		return true;
	if (session->hung && session->task != NULL)
		return true;
	return session->closing && unsent_bytes(session) == 0;
}

/* Whether more may be made; sends and drops what it can to make it so. */
static bool
has_room(struct session *session)
{
	if (unsent_bytes(session) < SESSION_OUT_HIGH)
		return true;
	flush(session);
	if (session->out_sent > 0) {
		text_drop(&session->out, session->out_sent);
		session->out_sent = 0;
	}
	return unsent_bytes(session) < SESSION_OUT_HIGH;
}

void
session_run(struct session *session)
{
	const bool was_hung = session->hung;
	bool more = true;
	unsigned steps = 0;

	list_remove(&session->ready_link);
	for (steps = 0; more && steps < TURN_STEPS; steps++) {
		if (!has_room(session))
			break;
		more = step(session);
	}
	flush(session);
	if (session->hung && !was_hung)
		more = true;
	else if (session->hung && !more)
		session->dead = true;
	if (is_over(session)) {
		session_destroy(session);
		return;
	}
	if (more && unsent_bytes(session) < SESSION_OUT_HIGH)
		session_wake(session);
	watch(session);
}

void
session_wake(struct session *session)
{
	session->task_ready = true;
	if (!list_empty(&session->ready_link))
		return;
	list_append(&session->server->ready, &session->ready_link);
	server_arm(session->server);
}

static int
on_io(struct sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct session *session = context;

	(void)source;
	(void)fd;
	if ((events & EPOLLIN) != 0)
		session->readable = true;
	if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		session->hung = true;
		session->readable = true;
	}
	session_run(session);
	return 0;
}

int
session_create(struct server *server, int fd, uid_t uid, bool local)
{
	struct session *session = calloc(1, sizeof(*session));
	int r = 0;

	if (session == NULL) {
		close(fd);
		return -ENOMEM;
	}
	session->server = server;
	session->fd = fd;
	session->uid = uid;
	session->permission =
		PERMISSION_ALL & ~(local ? 0U : (unsigned)PERMISSION_LOCAL);
	session->command = "";
	session->tags = TAG_MASK_ALL;
	session->binary_limit = LINE_BYTES_MAX;
	list_init(&session->ready_link);
	list_init(&session->channels);
	list_init(&session->messages);
	list_append(&server->sessions, &session->link);
	server->session_count++;
	r = sd_event_add_io(server->links.loop, &session->io, fd, EPOLLIN,
			    on_io, session);
	if (r < 0) {
		session_destroy(session);
		return r;
	}
	text_add(&session->out, greeting);
	flush(session);
	watch(session);
	return 0;
}

void
session_destroy(struct session *session)
{
	if (session == NULL)
		return;
	if (session->task != NULL)
		session->task->ops->destroy(session->task);
	sd_event_source_disable_unref(session->io);
	sd_event_source_disable_unref(session->timer);
	close(session->fd);
	list_remove(&session->ready_link);
	list_remove(&session->link);
	session->server->session_count--;
	session_end_list(session);
	channels_forget(session);
	text_finish(&session->out);
	free(session);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channels.c - client to client: a client subscribes to channels by name, and
 * reads what others send to them.
 *
 * A channel is nothing but a name that somebody is subscribed to. A message is
 * copied for each subscriber, until it reads it; a subscriber that has
 * SESSION_MESSAGES_MAX unread ones gets no more.
 * Invariants: channel_count, message_count = lengths of the session's lists. */
#include "daemon/server/channels.h"

#include "daemon/server/groups.h"
#include "daemon/server/reply.h"
#include "daemon/server/server_core.h"
#include "daemon/server/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNEL_NAME_MAX = 64 };

struct channel_subscription {
	struct list link;
	char name[CHANNEL_NAME_MAX + 1];
};

struct channel_message {
	struct list link;
	char channel[CHANNEL_NAME_MAX + 1];
	char text[];
};

static bool
is_channel_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.:";
	const size_t length = strlen(name);

	return length > 0 && length <= CHANNEL_NAME_MAX &&
	       strspn(name, allowed) == length;
}

static struct channel_subscription *
find_subscription(const struct session *session, const char *name)
{
	struct list *i = NULL;

	list_for_each (i, &session->channels) {
		struct channel_subscription *subscription =
			list_entry(i, struct channel_subscription, link);

		if (strcmp(subscription->name, name) == 0)
			return subscription;
	}
	return NULL;
}

enum command_result
channels_subscribe(struct session *session, const struct request *request)
{
	const char *name = request->args[0];
	struct channel_subscription *subscription = NULL;

	if (!is_channel_name(name))
		return session_ack(session, ACK_ARGUMENT,
				   "invalid channel name");
	if (find_subscription(session, name) != NULL)
		return session_ack(session, ACK_EXIST,
				   "already subscribed to this channel");
	if (session->channel_count == SESSION_CHANNELS_MAX)
		return session_ack(session, ACK_EXIST,
				   "subscription list is full");
	subscription = calloc(1, sizeof(*subscription));
	if (subscription == NULL)
		return session_no_memory(session);
	memcpy(subscription->name, name, strlen(name) + 1);
	list_append(&session->channels, &subscription->link);
	session->channel_count++;
	server_idle(session->server, IDLE_SUBSCRIPTION);
	return COMMAND_OK;
}

static void
drop_subscription(struct session *session,
		  struct channel_subscription *subscription)
{
	list_remove(&subscription->link);
	free(subscription);
	session->channel_count--;
}

enum command_result
channels_unsubscribe(struct session *session, const struct request *request)
{
	struct channel_subscription *subscription =
		find_subscription(session, request->args[0]);

	if (subscription == NULL)
		return session_ack(session, ACK_NO_EXIST,
				   "not subscribed to this channel");
	drop_subscription(session, subscription);
	server_idle(session->server, IDLE_SUBSCRIPTION);
	return COMMAND_OK;
}

/* channels: the names in order, each looked for when it is its turn. */
struct channels_task {
	struct task base;
	char last[CHANNEL_NAME_MAX + 1];
};

static const char *
next_channel_of(const struct session *session, const char *after,
		const char *best)
{
	struct list *i = NULL;

	list_for_each (i, &session->channels) {
		const char *name =
			list_entry(i, struct channel_subscription, link)->name;

		if (strcmp(name, after) > 0 &&
		    (best == NULL || strcmp(name, best) < 0))
			best = name;
	}
	return best;
}

static enum task_result
channels_task_step(struct task *base, struct session *session)
{
	struct channels_task *task = (struct channels_task *)base;
	const char *next = NULL;
	struct list *i = NULL;

	list_for_each (i, &session->server->sessions)
		next = next_channel_of(list_entry(i, struct session, link),
				       task->last, next);
	if (next == NULL)
		return TASK_DONE;
	reply_add(&session->out, "channel", next);
	memcpy(task->last, next, strlen(next) + 1);
	return TASK_MORE;
}

static void
channels_task_destroy(struct task *base)
{
	free(base);
}

static const struct task_ops channels_task_ops = {channels_task_step,
						  channels_task_destroy};

enum command_result
channels_channels(struct session *session, const struct request *request)
{
	struct channels_task *task = calloc(1, sizeof(*task));

	(void)request;
	if (task == NULL)
		return session_no_memory(session);
	task->base.ops = &channels_task_ops;
	return session_start(session, &task->base);
}

/* 1: taken; 0: full; -ENOMEM. */
static int
deliver(struct session *session, const char *channel, const char *text)
{
	const size_t size = strlen(text) + 1;
	struct channel_message *message = NULL;

	if (session->message_count == SESSION_MESSAGES_MAX)
		return 0;
	message = malloc(sizeof(*message) + size);
	if (message == NULL)
		return -ENOMEM;
	memcpy(message->channel, channel, strlen(channel) + 1);
	memcpy(message->text, text, size);
	list_append(&session->messages, &message->link);
	session->message_count++;
	session_notify(session, IDLE_MESSAGE);
	return 1;
}

enum command_result
channels_sendmessage(struct session *session, const struct request *request)
{
	const char *name = request->args[0];
	bool taken = false, subscribed = false;
	struct list *i = NULL;

	if (!is_channel_name(name))
		return session_ack(session, ACK_ARGUMENT,
				   "invalid channel name");
	list_for_each (i, &session->server->sessions) {
		struct session *other = list_entry(i, struct session, link);
		int r = 0;

		if (find_subscription(other, name) == NULL)
			continue;
		subscribed = true;
		r = deliver(other, name, request->args[1]);
		if (r < 0)
			return session_no_memory(session);
		taken = taken || r > 0;
	}
	if (!subscribed)
		return session_ack(session, ACK_NO_EXIST,
				   "nobody is subscribed to this channel");
	if (!taken)
		return session_ack(session, ACK_FULL,
				   "too many unread messages");
	return COMMAND_OK;
}

/* readmessages: what had come when it was called. */
struct messages_task {
	struct task base;
	unsigned left;
};

static enum task_result
messages_task_step(struct task *base, struct session *session)
{
	struct messages_task *task = (struct messages_task *)base;
	struct channel_message *message = NULL;

	if (task->left == 0)
		return TASK_DONE;
	message = list_entry(session->messages.next, struct channel_message,
			     link);
	reply_add(&session->out, "channel", message->channel);
	reply_add(&session->out, "message", message->text);
	list_remove(&message->link);
	free(message);
	session->message_count--;
	task->left--;
	return TASK_MORE;
}

static void
messages_task_destroy(struct task *base)
{
	free(base);
}

static const struct task_ops messages_task_ops = {messages_task_step,
						  messages_task_destroy};

enum command_result
channels_readmessages(struct session *session, const struct request *request)
{
	struct messages_task *task = calloc(1, sizeof(*task));

	(void)request;
	if (task == NULL)
		return session_no_memory(session);
	task->base.ops = &messages_task_ops;
	task->left = session->message_count;
	return session_start(session, &task->base);
}

void
channels_forget(struct session *session)
{
	const bool subscribed = session->channel_count > 0;

	while (!list_empty(&session->channels))
		drop_subscription(
			session, list_entry(session->channels.next,
					    struct channel_subscription, link));
	while (!list_empty(&session->messages)) {
		struct channel_message *message = list_entry(
			session->messages.next, struct channel_message, link);

		list_remove(&message->link);
		free(message);
	}
	if (subscribed)
		server_idle(session->server, IDLE_SUBSCRIPTION);
}

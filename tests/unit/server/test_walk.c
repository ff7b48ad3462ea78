/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What waits for a worker: here the file system is kept busy, or dead, by jobs
 * of the test in its domain. */
#include "tests/unit/server/house.h"

#include <semaphore.h>

enum { BLOCKERS = 8 };

static ATOMIC(int64_t) now_ns;

static int64_t
test_now(void)
{
	return atomic_load(&now_ns);
}

static const struct work_limits limits = {
	.stall_ns = 2 * NS_PER_S,
	.give_up_ns = 20 * NS_PER_S,
	.now = test_now,
};

static struct house house;
static struct work_job blockers[BLOCKERS];
static sem_t gate;  /* lets a blocker end */
static sem_t began; /* a blocker runs */

static int
blocker_run(struct work_job *job)
{
	(void)job;
	sem_post(&began);
	while (sem_wait(&gate) < 0)
		;
	return 0;
}

static void
blocker_done(struct work_job *job, int result)
{
	(void)job;
	(void)result;
}

static const struct work_job_ops blocker_ops = {
	.run = blocker_run,
	.done = blocker_done,
};

static int
set_up(void **state)
{
	int i;

	(void)state;
	atomic_store(&now_ns, NS_PER_S);
	house_init_with(&house, &limits);
	assert_int_equal(sem_init(&gate, 0, 0), 0);
	assert_int_equal(sem_init(&began, 0, 0), 0);
	memset(blockers, 0, sizeof(blockers));
	for (i = 0; i < BLOCKERS; i++) {
		blockers[i].ops = &blocker_ops;
		blockers[i].what = "block";
		blockers[i].domain = work_domain(house.folder);
		work_submit(house.work, &blockers[i]);
	}
	while (sem_wait(&began) < 0)
		;
	return 0;
}

static void
open_gate(void)
{
	int i;

	for (i = 0; i < BLOCKERS; i++)
		sem_post(&gate);
}

static int
tear_down(void **state)
{
	(void)state;
	open_gate();
	house_finish(&house);
	sem_destroy(&gate);
	sem_destroy(&began);
	return 0;
}

/* All that can be done while the file system hangs. */
static void
run_on(void)
{
	int i;

	do
		for (i = 0; i < HOUSE_CLIENTS; i++)
			house_read(&house.clients[i]);
	while (sd_event_run(house.loop, 0) > 0);
}

static const char *
ask(struct house_client *client, const char *bytes)
{
	text_clear(&client->got);
	house_send(&house, client, bytes);
	run_on();
	return text_string(&client->got);
}

static struct house_client *
client(int number)
{
	struct house_client *made = house_connect(&house, number);

	run_on();
	assert_string_equal(text_string(&made->got), "OK MPD 0.23.5\n");
	return made;
}

static void
test_only_who_asked_waits(void **state)
{
	struct house_client *first = client(0);
	struct house_client *other = client(1);

	(void)state;
	house_write(&house, "a.flac", "x", 1);
	assert_string_equal(ask(first, "add a.flac\nping\n"), "");
	assert_string_equal(ask(other, "ping\ngetvol\n"),
			    "OK\nvolume: 100\nOK\n");
	open_gate();
	house_settle(&house);
	house_read(first);
	assert_string_equal(text_string(&first->got), "OK\nOK\n");
	assert_int_equal(play_queue_length(house.queue), 1);
}

static void
test_client_goes_while_it_waits(void **state)
{
	struct house_client *first = client(0);

	(void)state;
	house_write(&house, "a.flac", "x", 1);
	assert_string_equal(ask(first, "add a.flac\nsetvol 3\n"), "");
	house_hang_up(first);
	run_on();
	assert_int_equal(house.server->session_count, 0);
	open_gate();
	house_settle(&house);
	assert_int_equal(play_queue_length(house.queue), 0);
}

static void
test_server_ends_while_a_client_waits(void **state)
{
	struct house_client *first = client(0);

	(void)state;
	assert_string_equal(ask(first, "listall\n"), "");
	assert_string_equal(ask(client(1), "update\n"), "updating_db: 1\nOK\n");
	server_destroy(house.server);
	house.server = NULL;
	open_gate();
	house_settle(&house);
	assert_true(first->closed);
}

static void
test_dead_file_system(void **state)
{
	struct house_client *first = client(0);
	struct house_client *other = client(1);
	int i;

	(void)state;
	assert_string_equal(ask(first, "lsinfo\n"), "");
	assert_string_equal(ask(other, "update\n"), "updating_db: 1\nOK\n");
	assert_non_null(strstr(ask(other, "status\n"), "updating_db: 1\n"));
	for (i = 0; i < 60; i++) {
		atomic_fetch_add(&now_ns, NS_PER_S);
		work_dispatch(house.work);
		run_on();
	}
	assert_string_equal(text_string(&first->got),
			    "ACK [52@0] {lsinfo} The file system does not "
			    "answer\n");
	assert_null(strstr(ask(other, "status\n"), "updating_db"));
	assert_string_equal(ask(first, "ping\n"), "OK\n");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_only_who_asked_waits),
		CASE(test_client_goes_while_it_waits),
		CASE(test_server_ends_while_a_client_waits),
		CASE(test_dead_file_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

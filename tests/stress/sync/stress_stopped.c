/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A writer that a debugger stops after each of its instructions, or that dies
 * in the midst of an operation, is nothing to the readers of the rotary set.
 *
 * The set lies in memory that two processes share. The writer is the child; the
 * parent steps it through a script of insertions, removals and reclaims, one
 * machine instruction at a time. Whenever it stands, two readers (the parent)
 * pull, alone: each pull must end after a few looks, none may give a node whose
 * removal had returned, and all that the writer is not busy with must come by.
 * A script with a fault, the mark of the last node set too early, shows that
 * the test sees a reader that waits. */
#include "lib/sync/hazard.h"

#include "tests/kit/dice.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pull publishes two hazards a look; a mark behind the head costs it one more
 * look, and no more than one node is being removed. */
enum { HAZARDS_MAX = 8 };

static jmp_buf waits;
static unsigned hazards;

static void
count_hazard(struct hazard_reader *reader, unsigned slot, const void *pointer)
{
	hazard_set(reader, slot, pointer);
	hazards++;
	if (hazards > HAZARDS_MAX)
		longjmp(waits, 1);
}

#define hazard_set count_hazard
#include "lib/sync/rotary.c"

enum { NODES = 4, PULLS = 2 * NODES, INSTRUCTIONS_MAX = 1000 * 1000 };

enum place { PLACE_OUT, PLACE_IN, PLACE_BUSY, PLACE_GONE };

struct shared {
	struct hazard_domain domain;
	struct rotary set;
	struct rotary_node nodes[NODES];
	ATOMIC(enum place) place[NODES];
	ATOMIC(unsigned) done; /* operations */
};

struct outcome {
	unsigned instructions;
	unsigned busy;    /* of these, in the midst of an operation */
	unsigned waiting; /* pulls that did not end */
	unsigned wrong;
};

static struct shared *shared;

/* --- the writer --- */

static void
insert(unsigned i)
{
	atomic_store(&shared->place[i], PLACE_BUSY);
	rotary_insert(&shared->set, &shared->nodes[i]);
	atomic_store(&shared->place[i], PLACE_IN);
	atomic_fetch_add(&shared->done, 1);
}

static void
take_out(unsigned i)
{
	atomic_store(&shared->place[i], PLACE_BUSY);
	rotary_remove(&shared->set, &shared->nodes[i]);
	atomic_store(&shared->place[i], PLACE_GONE);
	atomic_fetch_add(&shared->done, 1);
}

static void
note_release(struct rotary_node *node, void *context)
{
	(void)context;
	memset(node, 0xdb, sizeof(*node));
	atomic_store(&shared->place[node - shared->nodes], PLACE_OUT);
}

static void
reclaim_all(void)
{
	while (rotary_reclaim(&shared->set, note_release, NULL) > 0)
		;
	atomic_fetch_add(&shared->done, 1);
}

static void
write_all(void)
{
	insert(0);
	insert(1);
	insert(2);
	take_out(0);
	insert(3);
	take_out(2);
	reclaim_all();
	insert(0);
	take_out(1);
	take_out(3);
	take_out(0);
	insert(2);
	reclaim_all();
	take_out(2);
	insert(1);
}

/* As rotary_remove() does with the last node, but for the order. */
static void
write_with_mark_too_early(void)
{
	struct rotary_node *last = &shared->nodes[0];

	insert(0);
	atomic_store(&shared->place[0], PLACE_BUSY);
	atomic_store(&last->removed, 1);
	atomic_store(&last->next, NULL);
	atomic_store(&shared->set.head, 0);
}

static pid_t
start_writer(void (*script)(void))
{
	int status = 0;
	pid_t pid = 0;

#ifdef __SANITIZE_THREAD__
	print_message("SKIP: it sees nothing of two processes\n");
	skip();
#endif
	memset(shared, 0, sizeof(*shared));
	hazard_domain_init(&shared->domain);
	rotary_init(&shared->set, &shared->domain);
	fflush(NULL);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(errno);
		raise(SIGSTOP);
		script();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSTOPPED(status))
		return pid;
	print_message("SKIP: no debugger here: %s\n",
		      strerror(WEXITSTATUS(status)));
	skip();
	return -1;
}

/* --- the readers --- */

static void
pull_once(unsigned reader, unsigned turns[NODES], struct outcome *outcome)
{
	bool gone[NODES];
	struct rotary_node *volatile node = NULL;
	unsigned i = 0;

	for (i = 0; i < NODES; i++)
		gone[i] = atomic_load(&shared->place[i]) == PLACE_GONE ||
			  atomic_load(&shared->place[i]) == PLACE_OUT;
	hazards = 0;
	if (setjmp(waits) == 0)
		node = rotary_pull(&shared->set,
				   &shared->domain.readers[reader]);
	else
		outcome->waiting++;
	if (node == NULL)
		return;
	i = (unsigned)(node - shared->nodes);
	outcome->wrong += i >= NODES || gone[i];
	if (i < NODES)
		turns[i]++;
}

/* The writer stands. */
static void
pull_some(struct outcome *outcome)
{
	unsigned turns[NODES] = {0};
	unsigned busy = 0;
	unsigned i = 0;

	for (i = 0; i < PULLS; i++)
		pull_once(i % 2, turns, outcome);
	for (i = 0; i < NODES; i++) {
		const enum place place = atomic_load(&shared->place[i]);

		busy += place == PLACE_BUSY;
		outcome->wrong += place == PLACE_IN && turns[i] == 0;
	}
	outcome->busy += busy > 0;
}

/* One instruction; false when it has ended. */
static bool
step(pid_t pid)
{
	int status = 0;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	return true;
}

static struct outcome
step_through(void (*script)(void))
{
	const pid_t pid = start_writer(script);
	struct outcome outcome = {0};

	while (step(pid)) {
		outcome.instructions++;
		assert_true(outcome.instructions < INSTRUCTIONS_MAX);
		pull_some(&outcome);
	}
	print_message("%u instructions, %u inside an insertion or removal; "
		      "%u pulls waited, %u were wrong\n",
		      outcome.instructions, outcome.busy, outcome.waiting,
		      outcome.wrong);
	return outcome;
}

static void
readers_go_on_wherever_the_writer_stands(void **state)
{
	const struct outcome outcome = step_through(write_all);

	(void)state;
	assert_int_equal(atomic_load(&shared->done), 15);
	assert_true(outcome.busy > 100);
	assert_int_equal(outcome.waiting, 0);
	assert_int_equal(outcome.wrong, 0);
}

static void
a_reader_that_waits_is_seen(void **state)
{
	(void)state;
	assert_true(step_through(write_with_mark_too_early).waiting > 0);
}

/* It dies in each of its operations in turn, somewhere. */
static void
readers_outlive_the_writer(void **state)
{
	struct dice dice = dice_seeded(1);
	unsigned operation = 0;

	(void)state;
	for (operation = 0; operation < 15; operation++) {
		const pid_t pid = start_writer(write_all);
		struct outcome outcome = {0};
		unsigned left = 1 + dice_roll(&dice, 60);
		unsigned i = 0;

		while (left > 0 && step(pid)) {
			left -= atomic_load(&shared->done) >= operation;
			if (dice_roll(&dice, 8) == 0)
				pull_some(&outcome);
		}
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		for (i = 0; i < 100; i++)
			pull_some(&outcome);
		assert_int_equal(outcome.waiting, 0);
		assert_int_equal(outcome.wrong, 0);
	}
}

static int
share_memory(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_go_on_wherever_the_writer_stands),
		cmocka_unit_test(a_reader_that_waits_is_seen),
		cmocka_unit_test(readers_outlive_the_writer),
	};

	return cmocka_run_group_tests(tests, share_memory, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A card whose driver never comes back from a call: the thread in it is given
 * up after two seconds, another takes its place, and when the call does return
 * the old one ends without touching anything. The card is ours, since no real
 * one hangs on demand; everything around it is real.
 *
 * A thread that has no CPU in the midst of mixing is not given up, since it
 * would go on with what another one uses by then. It is starved by memory of
 * the card that is not there: the handler of the fault keeps it. */
#include "tests/unit/output/stage.h"

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>
#include <sys/mman.h>

static ATOMIC(bool) hangs;
static ATOMIC(uint32_t) inside;
static sem_t gate;
/* Lost on purpose; here it can be found. */
static struct card *first_card;

static int
hanging_status(struct card *card, struct card_status *ret_status)
{
	if (atomic_load(&hangs)) {
		atomic_fetch_add(&inside, 1);
		while (sem_wait(&gate) < 0)
			continue;
		atomic_fetch_sub(&inside, 1);
	}
	return card_null.status(card, ret_status);
}

enum { MEMORY_BYTES = 1024 * 1024 };

static void *memory;
static ATOMIC(bool) starves;
static ATOMIC(uint32_t) starving;

static void
keep(int signal)
{
	(void)signal;
	atomic_store(&starving, 1);
	while (atomic_load(&starves))
		(void)poll(NULL, 0, 1);
	(void)mprotect(memory, MEMORY_BYTES, PROT_READ | PROT_WRITE);
	atomic_store(&starving, 0);
}

/* For a moment the card's memory is another one, which can't be written to. */
static int
starving_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	const int error = card_null.begin(card, ret_memory, ret_frames);

	if (error == 0 && atomic_load(&starves)) {
		(void)mprotect(memory, MEMORY_BYTES, PROT_NONE);
		*ret_memory = memory;
	}
	return error;
}

static struct card_ops hanging;

/* The ops of the card itself are what the thread calls. */
static int
hanging_open(const struct card_request *request, struct card **ret_card,
	     struct text *ret_reason)
{
	const int error = card_null.open(request, ret_card, ret_reason);

	if (error < 0)
		return error;
	(*ret_card)->ops = &hanging;
	if (first_card == NULL)
		first_card = *ret_card;
	return 0;
}

/* Plays 10 s of a song; the first frames have been mixed. */
static struct stage *
play(void)
{
	const struct output_config config = {.driver = &hanging,
					     .buffer_ms = 100,
					     .period_ms = 10,
					     .rewind = -1,
					     .priority = 45};
	const struct audio_spec spec = {48000, 2, SAMPLE_S32, 16};
	struct stage *stage =
		aligned_alloc(CACHE_LINE, (sizeof(*stage) + CACHE_LINE - 1) /
						  CACHE_LINE * CACHE_LINE);

	assert_non_null(stage);
	first_card = NULL;
	hanging = card_null;
	hanging.open = hanging_open;
	hanging.status = hanging_status;
	hanging.begin = starving_begin;
	stage_init(stage, &config);
	assert_true(stage_play(stage, &spec));
	stage_begin_cut(stage, &(struct stage_song){.cut = 1,
						    .stream = 1,
						    .frames = 480000,
						    .bits = 16});
	assert_non_null(stage_await(stage, RT_EVENT_STRETCH, 1));
	return stage;
}

static void
test_a_stuck_thread_is_replaced(void **state)
{
	struct stage *stage = NULL;

	(void)state;
	assert_int_equal(sem_init(&gate, 0, 0), 0);
	stage = play();
	atomic_store(&hangs, true);
	while (stage->failed == 0)
		stage_turn(stage);
	assert_non_null(strstr(stage->reason, "does not answer"));
	assert_int_equal(atomic_load(&inside), 1);
	atomic_store(&hangs, false);
	/* Opened anew, with a thread of its own; then the old one returns. */
	assert_true(stage_await_state(stage, OUTPUT_OPEN));
	stage_stop_feeder(stage);
	stage_go_on(stage);
	assert_int_equal(sem_post(&gate), 0);
	stage_begin_cut(stage, &(struct stage_song){.cut = 2,
						    .stream = 2,
						    .frames = 4000,
						    .bits = 16,
						    .last = true});
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 2));
	assert_true(stage_close(stage, true));
	stage_finish(stage);
	while (atomic_load(&inside) > 0)
		continue;
	free(stage);
}

/* For longer than a stuck one would be left alone. Then it plays on. */
static void
test_a_starved_thread_is_waited_for(void **state)
{
	const struct sigaction action = {.sa_handler = keep};
	const struct rt_figures *figures = NULL;
	struct sigaction before;
	struct stage *stage = NULL;
	int64_t end_ns = 0;

	(void)state;
	memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	stage = play();
	figures = output_figures(stage->output);
	atomic_store(&starves, true);
	while (atomic_load(&starving) == 0)
		stage_turn(stage);
	end_ns = clock_now_ns() + 3500 * NS_PER_MS;
	while (clock_now_ns() < end_ns)
		stage_turn(stage);
	assert_int_equal(stage->failed, 0);
	assert_int_equal(atomic_load(&starving), 1);
	atomic_store(&starves, false);
	stage->plan.lanes[LANE_MUSIC].cut = 2;
	stage_add(stage, &(struct stage_song){.cut = 2,
					      .stream = 2,
					      .frames = 4000,
					      .bits = 16,
					      .last = true});
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 2));
	assert_ptr_equal(output_figures(stage->output), figures);
	assert_true(stage_close(stage, true));
	stage_finish(stage);
	free(stage);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	munmap(memory, MEMORY_BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_starved_thread_is_waited_for),
		cmocka_unit_test(test_a_stuck_thread_is_replaced),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A card whose driver never comes back from a call: the thread in it is given
 * up after two seconds, another takes its place, and when the call does return
 * the old one ends without touching anything. The card is ours, since no real
 * one hangs on demand; everything around it is real. */
#include "tests/unit/output/stage.h"

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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

static void
test_a_stuck_thread_is_replaced(void **state)
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

	(void)state;
	assert_non_null(stage);
	hanging = card_null;
	hanging.open = hanging_open;
	hanging.status = hanging_status;
	assert_int_equal(sem_init(&gate, 0, 0), 0);
	stage_init(stage, &config);
	assert_true(stage_play(stage, &spec));
	stage_add(stage,
		  &(struct stage_song){
			  .cut = 1, .stream = 1, .frames = 480000, .bits = 16});
	stage->plan.lanes[LANE_MUSIC].cut = 1;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_STRETCH, 1));
	atomic_store(&hangs, true);
	while (stage->failed == 0)
		stage_turn(stage);
	assert_non_null(strstr(stage->reason, "does not answer"));
	assert_int_equal(atomic_load(&inside), 1);
	atomic_store(&hangs, false);
	/* Opened anew, with a thread of its own; then the old one returns. */
	assert_true(stage_await_state(stage, OUTPUT_OPEN));
	stage_stop_feeder(stage);
	stage_set_decks(stage, 300);
	stage->song_count = 0;
	stage_start_feeder(stage);
	output_run(stage->output);
	assert_int_equal(sem_post(&gate), 0);
	stage_add(stage, &(struct stage_song){.cut = 2,
					      .stream = 2,
					      .frames = 4000,
					      .bits = 16,
					      .last = true});
	stage->plan.lanes[LANE_MUSIC].cut = 2;
	stage_publish(stage);
	assert_non_null(stage_await(stage, RT_EVENT_LANE_DRAINED, 2));
	assert_true(stage_close(stage, true));
	stage_finish(stage);
	while (atomic_load(&inside) > 0)
		continue;
	free(stage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stuck_thread_is_replaced),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

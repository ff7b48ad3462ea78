/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stress_limits.c - decoders that go wrong, inside the whole engine at its real
 * priorities and with its memory locked, as in rotaryd: one that spins for
 * ever, one that takes 50 ms a quantum, and one that creeps: 19 ms for a few
 * frames, which no budget forbids. The decoder is libFLAC's, with a wrapper
 * that misbehaves on decoder threads. And two hundred streams, with which
 * nothing is wrong.
 *
 * In each case a good song plays, the streams are opened behind it, and
 * ordinary processes want all there is of the CPUs: of one, and of all. A bad
 * stream must fail with its reason within 2 s (but one that creeps), no frame
 * of the good song may be missing, and half of the CPUs' time must be left to
 * others: not so much under a sanitizer, which takes its own share of it. On a
 * machine that is very busy with other things control gets too little of that
 * for any promise: then the test is skipped, and says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/output/card.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/base/thread.h"
#include "tests/kit/child.h"
#include "tests/kit/crew.h"
#include "tests/kit/hogs.h"
#include "tests/kit/rig/rig.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
#ifdef ROTARY_SANITIZED
	BAD_MAX = 20, /* their opening alone takes its time */
	SHARE_PERCENT = 70,
#else
	BAD_MAX = 200,
	SHARE_PERCENT = 50, /* of the CPUs, at most, is ours */
#endif
	GOOD_SECONDS = 20,
	CREEP_FRAMES = 64,
	RING_BYTES = 160 << 20,
	SKIPPED = 77,
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SLOW_NS (50 * NS_PER_MS)
#define CREEP_NS (19 * NS_PER_MS)
#define FAILS_WITHIN_NS (2 * NS_PER_S)
/* Shares of less than this say little. */
#define MEASURED_NS (3 * NS_PER_S / 2)

struct setting {
	const char *name;
	unsigned bad; /* streams that misbehave */
	bool one_cpu;
	bool fails; /* each of them must */
};

struct bad_decoder {
	struct decoder base;
	struct decoder *inner;
	int64_t quantum_ns;
	size_t most_frames; /* in one */
};

static struct bad_decoder *
bad_of(const struct decoder *decoder)
{
	return (struct bad_decoder *)(uintptr_t)decoder;
}

static const struct decoder_info *
bad_info(const struct decoder *decoder)
{
	struct decoder *inner = bad_of(decoder)->inner;

	return inner->ops->info(inner);
}

static enum decode_status
bad_decode(struct decoder *decoder, void *ret_samples, size_t capacity,
	   size_t *ret_frames)
{
	struct bad_decoder *bad = bad_of(decoder);
	const int64_t begin_ns = clock_thread_cpu_ns();

	/* A worker has opened it and found nothing wrong. */
	if (thread_role() == THREAD_ROLE_DECODER) {
		while (clock_thread_cpu_ns() - begin_ns < bad->quantum_ns)
			continue;
		if (capacity > bad->most_frames)
			capacity = bad->most_frames;
	}
	return decoder_decode(bad->inner, ret_samples, capacity, ret_frames);
}

static int
bad_seek(struct decoder *decoder, uint64_t frame)
{
	return decoder_seek(bad_of(decoder)->inner, frame);
}

static int
bad_tags(struct decoder *decoder, decoder_tag_fn *tag, void *context)
{
	return decoder_tags(bad_of(decoder)->inner, tag, context);
}

static void
bad_destroy(struct decoder *decoder)
{
	decoder_destroy(bad_of(decoder)->inner);
	free(decoder);
}

static const struct decoder_ops bad_ops = {
	.name = "bad",
	.rt = true,
	.info = bad_info,
	.decode = bad_decode,
	.seek = bad_seek,
	.tags = bad_tags,
	.destroy = bad_destroy,
};

/* How the song with this name misbehaves. */
static struct bad_decoder
manner_of(const char *name)
{
	struct bad_decoder manner = {.base = {&bad_ops},
				     .most_frames = SIZE_MAX};

	if (strcmp(name, "spin.flac") == 0)
		manner.quantum_ns = INT64_MAX;
	if (strcmp(name, "slow.flac") == 0)
		manner.quantum_ns = SLOW_NS;
	if (strcmp(name, "creep.flac") == 0) {
		manner.quantum_ns = CREEP_NS;
		manner.most_frames = CREEP_FRAMES;
	}
	return manner;
}

int __wrap_decoder_open(struct allocator *allocator, struct reader *reader,
			const char *file_name, struct decoder **ret_decoder,
			const char **ret_reason);
int __real_decoder_open(struct allocator *allocator, struct reader *reader,
			const char *file_name, struct decoder **ret_decoder,
			const char **ret_reason);

int
__wrap_decoder_open(struct allocator *allocator, struct reader *reader,
		    const char *file_name, struct decoder **ret_decoder,
		    const char **ret_reason)
{
	struct bad_decoder manner = manner_of(file_name);
	struct bad_decoder *bad;
	const int result = __real_decoder_open(allocator, reader, file_name,
					       &manner.inner, ret_reason);

	*ret_decoder = manner.inner;
	if (result < 0 || manner.quantum_ns == 0)
		return result;
	bad = malloc(sizeof(*bad));
	crew_check(bad != NULL);
	*bad = manner;
	*ret_decoder = &bad->base;
	return 0;
}

/* A thread that spins for ever is joined by nobody. */
const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "report_thread_leaks=0";
}

/* The null card, which keeps what was played: nothing but the output thread has
 * a part in it, as with a sound card. */
static struct card_ops keeping;
static int16_t kept[GOOD_SECONDS * RIG_RATE * 2];
static size_t kept_frames;
static const int32_t *begun;

static int
keeping_open(const struct card_request *request, struct card **ret_card,
	     struct text *ret_reason)
{
	const int result = card_null.open(request, ret_card, ret_reason);

	if (result == 0)
		(*ret_card)->ops = &keeping;
	return result;
}

static RT_SAFE int
keeping_begin(struct card *card, void **ret_memory, size_t *ret_frames)
{
	const int result = card_null.begin(card, ret_memory, ret_frames);

	begun = *ret_memory;
	return result;
}

static RT_SAFE int
keeping_commit(struct card *card, size_t frames)
{
	size_t i;

	for (i = 0; i < frames * 2 && kept_frames * 2 + i < COUNT_OF(kept); i++)
		kept[kept_frames * 2 + i] = (int16_t)(begun[i] >> 16);
	kept_frames += i / 2;
	return card_null.commit(card, frames);
}

static RT_SAFE long
keeping_rewind(struct card *card, size_t frames)
{
	const long back = card_null.rewind(card, frames);

	if (back > 0)
		kept_frames -= (size_t)back;
	return back;
}

static int64_t
own_used_ns(void)
{
	struct timespec time;

	crew_check(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static bool
may_be_real_time(void)
{
	const struct sched_param parameter = {.sched_priority = 5};
	const struct sched_param none = {0};

	if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0)
		return false;
	crew_check(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
	return true;
}

static void
pin_to_one_cpu(void)
{
	cpu_set_t cpus, one;
	size_t cpu = 0;

	crew_check(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	crew_check(sched_setaffinity(0, sizeof(one), &one) == 0);
}

/* When the last of them had failed, after begin_ns. */
static int64_t
wait_for_failures(struct rig *rig, const struct setting *setting,
		  const uint64_t *streams, int64_t begin_ns)
{
	int64_t worst_ns = 0;
	unsigned i;

	for (i = 0; i < setting->bad; i++) {
		const int at = rig_wait(rig, RIG_FAILED, streams[i]);

		worst_ns = clock_now_ns() - begin_ns;
		printf("%s: \"%s\" after %ld ms\n", setting->name,
		       rig->events[at].reason, (long)(worst_ns / NS_PER_MS));
		crew_check(rig_find(rig, RIG_READY, streams[i]) >= 0);
		crew_check(strcmp(rig->events[at].reason,
				  "it takes too long to decode") == 0);
	}
	return worst_ns;
}

/* Opens the bad ones, waits for their end, and looks at who got what. */
static void
let_it_go_wrong(struct rig *rig, const struct setting *setting,
		const struct hogs *hogs)
{
	const int64_t begin_ns = clock_now_ns();
	const int64_t own_before_ns = own_used_ns();
	const int64_t hogs_before_ns = hogs_used_ns(hogs);
	int64_t worst_ns = 0, lasted_ns, own_ns, hogs_ns;
	uint64_t streams[BAD_MAX];
	unsigned i;

	for (i = 0; i < setting->bad; i++)
		streams[i] = rig_open(rig, setting->name, 0);
	if (setting->fails)
		worst_ns = wait_for_failures(rig, setting, streams, begin_ns);
	if (worst_ns < MEASURED_NS)
		rig_run(rig, MEASURED_NS - worst_ns);
	lasted_ns = clock_now_ns() - begin_ns;
	own_ns = own_used_ns() - own_before_ns;
	hogs_ns = hogs_used_ns(hogs) - hogs_before_ns;
	printf("%s, %u: of %u CPU(s) for %ld ms others had %ld ms, we %ld ms\n",
	       setting->name, setting->bad, hogs->count,
	       (long)(lasted_ns / NS_PER_MS), (long)(hogs_ns / NS_PER_MS),
	       (long)(own_ns / NS_PER_MS));
	fflush(stdout);
	crew_check(worst_ns <= FAILS_WITHIN_NS);
	crew_check(own_ns <= lasted_ns * hogs->count * SHARE_PERCENT / 100);
	for (i = 0; i < setting->bad; i++)
		engine_release(rig->engine, streams[i]);
}

static void
no_xrun_was_counted(const struct rig *rig)
{
	struct text stats = {0};
	const char *at;

	engine_add_rtstats(rig->engine, &stats);
	crew_check(strstr(text_string(&stats), "\nrung: fifo\n") != NULL);
	at = strstr(text_string(&stats), "\nxruns: ");
	crew_check(at != NULL);
	for (; at != NULL; at = strstr(at + 1, "\nxruns: "))
		if (strncmp(at, "\nxruns: 0\n", 10) != 0)
			break;
	if (at != NULL)
		fputs(text_string(&stats), stderr);
	crew_check(at == NULL);
	text_finish(&stats);
}

/* All of the good song up to at least frames was played, in one piece. */
static void
was_heard_whole(uint64_t frames)
{
	const struct rig_wav wav = {.samples = kept,
				    .frames = kept_frames,
				    .rate_hz = RIG_RATE,
				    .channels = 2};
	size_t at = 0, same;

	while (at < wav.frames && rig_same(&wav, at, 1, 0, 64) < 64)
		at++;
	same = rig_same(&wav, at, 1, 0, wav.frames - at);
	printf("heard in one piece: %zu frames\n", same);
	crew_check(same >= frames);
}

static int
run(void *argument)
{
	const struct setting *setting = argument;
	struct engine_position position;
	struct hogs hogs = {0};
	static struct rig rig;
	uint64_t good;

	if (!may_be_real_time() || hogs_are_many())
		return SKIPPED;
	if (setting->one_cpu)
		pin_to_one_cpu();
	hogs_start(&hogs);
	thread_adopt(THREAD_ROLE_CONTROL, "limits");
	memset(kept, 0, sizeof(kept)); /* no page fault later */
	keeping = card_null;
	keeping.open = keeping_open;
	keeping.begin = keeping_begin;
	keeping.commit = keeping_commit;
	keeping.rewind = keeping_rewind;
	rig_init_with(&rig, &(struct rig_options){.driver = &keeping,
						  .decoder_priority = 40,
						  .output_priority = 45,
						  .ring_bytes = RING_BYTES,
						  .decoders = (int)hogs.count,
						  .lock_memory = true});
	rig_make(&rig, "good.flac", 1, GOOD_SECONDS * RIG_RATE);
	rig_make(&rig, "spin.flac", 2, 5 * RIG_RATE);
	rig_make(&rig, "slow.flac", 3, 5 * RIG_RATE);
	rig_make(&rig, "creep.flac", 4, 5 * RIG_RATE);
	rig_make(&rig, "fine.flac", 5, RIG_RATE);
	good = rig_open_ready(&rig, "good.flac", 0);
	rig_play(&rig, good);
	rig_wait(&rig, RIG_STARTED, good);
	let_it_go_wrong(&rig, setting, &hogs);
	/* And on, as if nothing had been. */
	engine_position(rig.engine, LANE_MUSIC, &position);
	crew_check(position.stream == good);
	rig_wait_position(&rig, good, position.elapsed_ns + NS_PER_S / 4);
	engine_position(rig.engine, LANE_MUSIC, &position);
	no_xrun_was_counted(&rig);
	rig_stop(&rig);
	was_heard_whole(clock_ns_to_frames(position.elapsed_ns - NS_PER_S / 10,
					   RIG_RATE));
	hogs_stop(&hogs);
	rig_finish(&rig);
	fflush(stdout);
	return 0;
}

static void
check(const struct setting *setting)
{
	struct setting copy = *setting;
	const int status = child_run(run, &copy, NULL, 0);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED) {
		puts("skipped: no real-time priority, or a busy machine");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
decoders_that_spin(void **state)
{
	(void)state;
	check(&(struct setting){"spin.flac", 1, false, true});
	check(&(struct setting){"spin.flac", 4, false, true});
}

static void
decoders_that_spin_on_one_cpu(void **state)
{
	(void)state;
	check(&(struct setting){"spin.flac", 1, true, true});
	check(&(struct setting){"spin.flac", 4, true, true});
}

static void
a_slow_decoder(void **state)
{
	(void)state;
	check(&(struct setting){"slow.flac", 1, false, true});
}

static void
a_slow_decoder_on_one_cpu(void **state)
{
	(void)state;
	check(&(struct setting){"slow.flac", 1, true, true});
}

static void
decoders_that_creep(void **state)
{
	(void)state;
	check(&(struct setting){"creep.flac", 4, false, false});
}

static void
decoders_that_creep_on_one_cpu(void **state)
{
	(void)state;
	check(&(struct setting){"creep.flac", 1, true, false});
	check(&(struct setting){"creep.flac", 4, true, false});
}

static void
many_streams_on_one_cpu(void **state)
{
	(void)state;
	check(&(struct setting){"fine.flac", BAD_MAX, true, false});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoders_that_spin),
		cmocka_unit_test(decoders_that_spin_on_one_cpu),
		cmocka_unit_test(a_slow_decoder),
		cmocka_unit_test(a_slow_decoder_on_one_cpu),
		cmocka_unit_test(decoders_that_creep),
		cmocka_unit_test(decoders_that_creep_on_one_cpu),
		cmocka_unit_test(many_streams_on_one_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A card's volume control through the real alsa-lib, on the test card's mixer:
 * tests/kit/mixer/mixer.c. Its file holds "LEFT RIGHT ON ON", in dB + 64. */
#include "daemon/output/mixer.h"
#include "daemon/output/mixer_control.h"
#include "daemon/work/work.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "tests/kit/folder.h"
#include "tests/unit/output/desk.h"

#include <math.h>
#include <poll.h>

#define PATIENCE_NS (20 * NS_PER_S)

struct bed {
	struct desk files; /* only its folder */
	struct work *work;
	struct mixer *mixer;
	unsigned settled;
	unsigned changed;
	float gain;
};

static void
on_settled(void *context)
{
	((struct bed *)context)->settled++;
}

static void
on_changed(void *context, float gain)
{
	struct bed *bed = context;

	bed->changed++;
	bed->gain = gain;
}

static const struct mixer_events events = {on_settled, on_changed};

static void
turn(struct bed *bed)
{
	struct pollfd fds[2] = {
		{.fd = work_event_fd(bed->work), .events = POLLIN},
		{.fd = mixer_event_fd(bed->mixer), .events = POLLIN},
	};

	assert_true(poll(fds, 2, 10) >= 0);
	work_dispatch(bed->work);
	mixer_dispatch(bed->mixer);
}

static void
settle(struct bed *bed)
{
	const int64_t end_ns = clock_now_ns() + PATIENCE_NS;

	while (mixer_is_busy(bed->mixer)) {
		assert_true(clock_now_ns() < end_ns);
		turn(bed);
	}
}

static void
await_changes(struct bed *bed, unsigned count)
{
	const int64_t end_ns = clock_now_ns() + PATIENCE_NS;

	while (bed->changed < count) {
		assert_true(clock_now_ns() < end_ns);
		turn(bed);
	}
}

static struct bed *
bed_make(const char *stands, const struct work_limits *limits)
{
	struct bed *bed =
		aligned_alloc(CACHE_LINE, (sizeof(*bed) + CACHE_LINE - 1) /
						  CACHE_LINE * CACHE_LINE);

	assert_non_null(bed);
	memset((void *)bed, 0, sizeof(*bed));
	strcpy(bed->files.dir, "/tmp/rotary-mixer-XXXXXX");
	assert_non_null(mkdtemp(bed->files.dir));
	setenv("ROTARY_TEST_CARD_DIR", bed->files.dir, 1);
	write_file(&bed->files, "mixer", stands);
	assert_int_equal(work_create(limits, &bed->work), 0);
	return bed;
}

static struct bed *
bed_new(const char *stands, const char *device, const char *control)
{
	struct bed *bed = bed_make(stands, NULL);
	const struct mixer_config config = {
		.device = device, .pcm = NULL, .control = control};

	assert_int_equal(
		mixer_create(&config, bed->work, &events, bed, &bed->mixer), 0);
	return bed;
}

static void
bed_free(struct bed *bed)
{
	mixer_destroy(bed->mixer);
	work_destroy(bed->work, NS_PER_S);
	folder_remove(bed->files.dir);
	free(bed);
}

static void
assert_stands(const struct bed *bed, const char *wanted)
{
	char path[128], line[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/mixer", bed->files.dir);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, wanted);
}

static float
gain_of(double db)
{
	return db <= -200 ? 0.0F : (float)pow(10.0, db / 20.0);
}

static void
test_gains_are_the_nearest_step(void **state)
{
	static const struct {
		const char *top_db;
		double db;
		const char *stands;
	} cases[] = {
		{"0", 0, "64 64 1 1"},     {"0", -0.4, "64 64 1 1"},
		{"0", -0.6, "63 63 1 1"},  {"0", -20, "44 44 1 1"},
		{"0", -64, "0 0 1 1"},     {"0", -150, "0 0 1 1"},
		{"0", -200, "0 0 0 0"},    {"12", 0, "52 52 1 1"},
		{"12", -20, "32 32 1 1"},  {"-10", 0, "64 64 1 1"},
		{"-10", -20, "44 44 1 1"}, {"0", 3, "64 64 1 1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed *bed;

		setenv("ROTARY_TEST_MIXER_TOP_DB", cases[i].top_db, 1);
		bed = bed_new("7 9 0 1\n", "rotarytest", NULL);
		mixer_set(bed->mixer, gain_of(cases[i].db));
		settle(bed);
		assert_stands(bed, cases[i].stands);
		assert_true(mixer_is_there(bed->mixer));
		assert_string_equal(mixer_name(bed->mixer),
				    "rotarytest Master");
		assert_string_equal(mixer_error(bed->mixer), "");
		/* What it was before, and its own doing, are no news. */
		assert_int_equal(bed->changed, 0);
		bed_free(bed);
	}
	unsetenv("ROTARY_TEST_MIXER_TOP_DB");
}

static void
test_unasked_it_tells_what_it_finds(void **state)
{
	struct bed *bed = bed_new("54 44 1 0\n", "rotarytest", "Master");

	(void)state;
	settle(bed);
	assert_int_equal(bed->changed, 1);
	assert_true(fabsf(bed->gain - gain_of(-10)) < 1e-4F);
	assert_stands(bed, "54 44 1 0");
	bed_free(bed);
}

static void
test_others_changes_are_told_once(void **state)
{
	struct bed *bed = bed_new("64 64 1 1\n", "rotarytest", NULL);

	(void)state;
	mixer_set(bed->mixer, gain_of(-10));
	settle(bed);
	assert_stands(bed, "54 54 1 1");
	write_file(&bed->files, "mixer", "34 34 1 1\n");
	await_changes(bed, 1);
	assert_true(fabsf(bed->gain - gain_of(-30)) < 1e-4F);
	write_file(&bed->files, "mixer", "34 34 0 0\n");
	await_changes(bed, 2);
	assert_true(bed->gain == 0.0F);
	write_file(&bed->files, "mixer", "60 60 1 1\n");
	await_changes(bed, 3);
	settle(bed);
	/* It is what is wanted, from then on. */
	mixer_apply(bed->mixer);
	settle(bed);
	assert_stands(bed, "60 60 1 1");
	assert_int_equal(bed->changed, 3);
	bed_free(bed);
}

static void
test_what_is_not_there_is_told(void **state)
{
	struct bed *bed = bed_new("64 64 1 1\n", "rotarytest", "Loudness");

	(void)state;
	mixer_set(bed->mixer, 0.5F);
	settle(bed);
	assert_false(mixer_is_there(bed->mixer));
	assert_string_equal(mixer_error(bed->mixer),
			    "the mixer of rotarytest has no volume control "
			    "\"Loudness\"; there is \"Master\"");
	assert_true(bed->settled > 0);
	assert_stands(bed, "64 64 1 1");
	bed_free(bed);

	bed = bed_new("64 64 1 1\n", "no such mixer", NULL);
	settle(bed);
	assert_false(mixer_is_there(bed->mixer));
	assert_non_null(strstr(mixer_error(bed->mixer), "cannot be opened"));
	bed_free(bed);

	bed = bed_new("64 64 1 1\n", NULL, NULL);
	settle(bed);
	assert_non_null(strstr(mixer_error(bed->mixer), "no sound card"));
	bed_free(bed);
}

static void
test_it_comes_back_as_it_was_wanted(void **state)
{
	struct bed *bed = bed_new("64 64 1 1\n", "rotarytest", NULL);

	(void)state;
	mixer_set(bed->mixer, gain_of(-10));
	settle(bed);
	write_file(&bed->files, "mixer.fault", "gone\n");
	mixer_apply(bed->mixer);
	settle(bed);
	assert_false(mixer_is_there(bed->mixer));
	assert_string_equal(mixer_name(bed->mixer), "");
	write_file(&bed->files, "mixer", "64 64 1 1\n");
	write_file(&bed->files, "mixer.fault", "\n");
	mixer_apply(bed->mixer);
	settle(bed);
	assert_true(mixer_is_there(bed->mixer));
	assert_stands(bed, "54 54 1 1");
	assert_int_equal(bed->changed, 0);
	bed_free(bed);
}

/* Control goes on, only the newest wish is written, and the end does not wait
 * for ever. */
static void
test_one_that_hangs_holds_nobody_up(void **state)
{
	struct bed *bed = bed_new("64 64 1 1\n", "rotarytest", NULL);

	(void)state;
	settle(bed);
	write_file(&bed->files, "mixer.fault", "block\n");
	mixer_set(bed->mixer, gain_of(-10));
	mixer_set(bed->mixer, gain_of(-20));
	mixer_set(bed->mixer, gain_of(-30));
	work_dispatch(bed->work);
	mixer_dispatch(bed->mixer);
	assert_true(mixer_is_busy(bed->mixer));
	assert_stands(bed, "64 64 1 1");
	write_file(&bed->files, "mixer.fault", "\n");
	settle(bed);
	assert_stands(bed, "34 34 1 1");
	write_file(&bed->files, "mixer.fault", "block\n");
	mixer_set(bed->mixer, gain_of(-40));
	mixer_destroy(bed->mixer);
	bed->mixer = NULL;
	write_file(&bed->files, "mixer.fault", "\n");
	bed_free(bed);
}

/* The pool gives it up, software does it, and what is set later is tried with
 * the control opened anew, once the first has let go. */
static void
test_one_that_is_dead_is_given_up(void **state)
{
	const struct work_limits limits = {.stall_ns = 20 * NS_PER_MS,
					   .give_up_ns = 50 * NS_PER_MS};
	const struct mixer_config config = {.device = "rotarytest"};
	const int64_t end_ns = clock_now_ns() + PATIENCE_NS;
	struct bed *bed = bed_make("64 64 1 1\n", &limits);

	(void)state;
	assert_int_equal(
		mixer_create(&config, bed->work, &events, bed, &bed->mixer), 0);
	settle(bed);
	write_file(&bed->files, "mixer.fault", "block\n");
	mixer_set(bed->mixer, gain_of(-10));
	while (mixer_is_there(bed->mixer))
		turn(bed);
	assert_string_equal(mixer_error(bed->mixer),
			    "the sound card's mixer does not answer");
	write_file(&bed->files, "mixer.fault", "\n");
	while (!mixer_is_there(bed->mixer)) {
		assert_true(clock_now_ns() < end_ns);
		mixer_set(bed->mixer, gain_of(-20));
		settle(bed);
	}
	assert_stands(bed, "44 44 1 1");
	assert_string_equal(mixer_error(bed->mixer), "");
	bed_free(bed);
}

static void
test_a_pcm_names_its_mixer(void **state)
{
	char device[128];

	(void)state;
	mixer_device_of("default", device, sizeof(device));
	assert_string_equal(device, "default");
	mixer_device_of("rotarytest:DIR=/tmp", device, sizeof(device));
	assert_string_equal(device, "default");
	/* A number is a card's, be it there or not. */
	mixer_device_of("plughw:CARD=3,DEV=1", device, sizeof(device));
	if (strcmp(device, "default") != 0)
		assert_string_equal(device, "hw:3");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gains_are_the_nearest_step),
		cmocka_unit_test(test_unasked_it_tells_what_it_finds),
		cmocka_unit_test(test_others_changes_are_told_once),
		cmocka_unit_test(test_what_is_not_there_is_told),
		cmocka_unit_test(test_it_comes_back_as_it_was_wanted),
		cmocka_unit_test(test_one_that_hangs_holds_nobody_up),
		cmocka_unit_test(test_one_that_is_dead_is_given_up),
		cmocka_unit_test(test_a_pcm_names_its_mixer),
	};

	desk_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

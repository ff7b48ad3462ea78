/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_outputs.c - the verbs about outputs, and what the doctor says of them;
 * with our daemon's answers and with another's, which has no attributes. */
#include "tests/unit/cli/console.h"

#define KITCHEN                                                                \
	"outputid: 1\noutputname: The Kitchen\nplugin: pipe\n"                 \
	"outputenabled: 0\nattribute: device=/run/k=1\n"                       \
	"attribute: mixer=software\nattribute: speech=0\n"                     \
	"attribute: clock=0\nattribute: state=closed\n"

static const struct answer THREE[] = {
	{"outputs", "outputid: 0\noutputname: alsa\nplugin: alsa\n"
		    "outputenabled: 1\nattribute: mixer=hardware\n"
		    "attribute: speech=1\nattribute: clock=1\n"
		    "attribute: state=open\n" KITCHEN
		    "outputid: 2\noutputname: 2\nplugin: alsa\n"
		    "outputenabled: 1\nattribute: device=hw:1\x1b\n"
		    "attribute: mixer=none\nattribute: speech=0\n"
		    "attribute: clock=0\nattribute: state=open\n"
		    "attribute: drift_ppm=-3.5\n"
		    "attribute: dropped_frames=0\n"
		    "attribute: dry_frames=0\nOK\n"},
	{NULL, NULL}};
static const struct answer OTHERS[] = {
	{"outputs", "outputid: 0\noutputname: My MPD\nplugin: pulse\n"
		    "outputenabled: 1\nOK\n"},
	{NULL, NULL}};
static const struct answer ALL_OFF[] = {{"outputs", KITCHEN "OK\n"},
					{NULL, NULL}};
static const struct answer IN_TROUBLE[] = {
	{"outputs", "outputid: 0\noutputname: a\nplugin: alsa\n"
		    "outputenabled: 1\nattribute: state=retry\n"
		    "attribute: error=the sound card is gone\n"
		    "outputid: 1\noutputname: b\nplugin: pipe\n"
		    "outputenabled: 1\nattribute: state=open\n"
		    "attribute: clock=0\nattribute: drift_ppm=0.0\n"
		    "attribute: dropped_frames=441\n"
		    "attribute: dry_frames=0\nOK\n"},
	{NULL, NULL}};

static void
test_list(void **state)
{
	(void)state;
	assert_int_equal(run(THREE, "outputs"), CLI_OK);
	assert_string_equal(out, "  1  on   alsa  sets the pace\n"
				 "  2  off  The Kitchen  pipe:/run/k=1\n"
				 "  3  on   2  alsa:hw:1   follows\n");
	assert_int_equal(run(OTHERS, "outputs"), CLI_OK);
	assert_string_equal(out, "  1  on   My MPD  pulse\n");
	assert_int_equal(run(IN_TROUBLE, "outputs"), CLI_OK);
	assert_string_equal(out, "  1  on   a  alsa  the sound card is gone\n"
				 "  2  on   b  pipe  follows\n");
}

static void
test_json(void **state)
{
	(void)state;
	assert_int_equal(run(ALL_OFF, "--json|outputs"), CLI_OK);
	assert_string_equal(out,
			    "[{\"outputid\":1,\"outputname\":\"The Kitchen\","
			    "\"plugin\":\"pipe\",\"outputenabled\":0,"
			    "\"device\":\"/run/k=1\",\"mixer\":\"software\","
			    "\"speech\":0,\"clock\":0,\"state\":\"closed\"}]"
			    "\n");
	assert_int_equal(run(THREE, "outputs|--json"), CLI_OK);
	assert_non_null(strstr(out, "\"drift_ppm\":-3.5,\"dropped_frames\":0,"
				    "\"dry_frames\":0}]"));
}

static void
test_change(void **state)
{
	(void)state;
	assert_int_equal(run(THREE, "disable|alsa|The Kitchen"), CLI_OK);
	assert_string_equal(heard, "outputs\ndisableoutput \"0\"\n"
				   "disableoutput \"1\"\n");
	/* A name before a number, numbers from 1. */
	assert_int_equal(run(THREE, "enable|2"), CLI_OK);
	assert_string_equal(heard, "outputs\nenableoutput \"2\"\n");
	assert_int_equal(run(THREE, "toggle|1|3"), CLI_OK);
	assert_string_equal(heard, "outputs\ntoggleoutput \"0\"\n"
				   "toggleoutput \"2\"\n");
	/* All or none. */
	assert_int_equal(run(THREE, "disable|1|kitchen"), CLI_REFUSED);
	assert_string_equal(heard, "outputs\n");
	assert_non_null(strstr(err, "there is no output \"kitchen\""));
	assert_int_equal(run(THREE, "enable|0"), CLI_REFUSED);
	assert_int_equal(run(THREE, "enable|4"), CLI_REFUSED);
	assert_int_equal(run(THREE, "enable"), CLI_USAGE);
	assert_int_equal(run(THREE, "outputs|1"), CLI_USAGE);
}

static const char *
ask_doctor(const struct answer *list)
{
	(void)run(list, "doctor");
	return out;
}

static void
test_doctor(void **state)
{
	(void)state;
	ask_doctor(THREE);
	assert_non_null(strstr(out, "output        alsa plays"));
	assert_non_null(strstr(out, "output        The Kitchen is off"));
	assert_non_null(strstr(out,
			       "output        2 follows, its clock differs by "
			       "-3.5 ppm"));
	assert_null(strstr(out, "no output is on"));
	ask_doctor(ALL_OFF);
	assert_non_null(strstr(out, "[fail] output        no output is on"));
	ask_doctor(IN_TROUBLE);
	assert_non_null(
		strstr(out, "[warn] output        a: the sound card is gone"));
	assert_non_null(strstr(out, "[warn] output        b: 441 frames were "
				    "dropped, 0 were missing"));
	ask_doctor(OTHERS);
	assert_non_null(strstr(out, "output        My MPD is on"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_doctor),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

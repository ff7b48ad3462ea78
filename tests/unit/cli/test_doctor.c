/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_doctor.c - the doctor in a made-up /proc: cards free, held and absent,
 * limits of a daemon. */
#include "remote/cli/doctor.h"

#include "lib/base/text.h"
#include "remote/cli/cli.h"
#include "tests/kit/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 256 };

static char root[PATH_BYTES];
static char *out;
static size_t out_length;
static struct cli cli;
static struct doctor doctor;

static int
set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/rotary-doctor-XXXXXX");
	if (mkdtemp(root) == NULL)
		return -1;
	cli = (struct cli){.out = open_memstream(&out, &out_length)};
	doctor = (struct doctor){.cli = &cli, .proc = root, .dev = root};
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	fclose(cli.out);
	free(out);
	out = NULL;
	folder_remove(root);
	return 0;
}

/* A file below root, with the folders it needs. */
static void
put(const char *name, const char *contents)
{
	char path[PATH_BYTES * 2], *slash;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(contents, file);
	fclose(file);
}

static const char *
heard(void)
{
	fflush(cli.out);
	return out;
}

static void
test_no_card(void **state)
{
	(void)state;
	doctor_check_cards(&doctor);
	assert_int_equal(strncmp(heard(), "[warn] card", 11), 0);
	assert_non_null(strstr(heard(), "what to do: plug one in"));
	put("asound/cards", "--- no soundcards ---\n");
	doctor_check_cards(&doctor);
	assert_int_equal(doctor.said, 2);
	assert_int_equal(doctor.failed, 0);
}

static void
test_cards(void **state)
{
	(void)state;
	put("asound/cards",
	    " 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n"
	    "                      HDA Intel PCH at 0xf7f30000 irq 31\n"
	    " 1 [Set            ]: USB-Audio - USB Audio Set\n"
	    "                      C-Media USB Audio Set at usb-1\n"
	    " 2 [Mic            ]: USB-Audio - USB Mic\n"
	    "                      USB Mic at usb-2\n");
	put("asound/card0/pcm0p/sub0/status", "closed\n");
	put("asound/card0/pcm0c/sub0/status", "owner_pid   : 70\n");
	put("asound/card1/pcm0p/sub0/status", "closed\n");
	put("asound/card1/pcm0p/sub1/status",
	    "state: RUNNING\nowner_pid   : 71\ntrigger_time: 5.5\n");
	put("asound/card2/pcm0c/sub0/status", "closed\n");
	put("snd/pcmC0D0p", "");
	put("snd/pcmC1D0p", "");
	put("71/status", "Name:\toutput\nTgid:\t60\nPid:\t71\n");
	put("60/status", "Name:\tpulseaudio\nTgid:\t60\n");
	doctor_check_cards(&doctor);
	assert_non_null(strstr(heard(), "[ok]   card          0 PCH (HDA-Intel "
					"- HDA Intel PCH): free\n"));
	assert_non_null(strstr(heard(), "[warn] card          1 Set (USB-Audio "
					"- USB Audio Set): held by pulseaudio, "
					"process 60\n"));
	assert_non_null(strstr(heard(), "what to do: end that program"));
	assert_non_null(strstr(heard(), "2 Mic (USB-Audio - USB Mic): does not "
					"play"));
	assert_int_equal(doctor.said, 3);
}

static void
test_our_own_card(void **state)
{
	(void)state;
	put("asound/cards", " 0 [PCH            ]: HDA-Intel - HDA\n");
	put("asound/card0/pcm0p/sub0/status", "owner_pid   : 71\n");
	put("71/status", "Name:\toutput\nTgid:\t60\n");
	put("60/status", "Name:\trotaryd\nTgid:\t60\n");
	doctor_check_cards(&doctor);
	assert_non_null(strstr(heard(), "played on by rotaryd, process 60"));
	assert_null(strstr(heard(), "what to do"));
}

static void
test_forbidden_card(void **state)
{
	(void)state;
	put("asound/cards", " 0 [PCH            ]: HDA-Intel - HDA\n");
	put("asound/card0/pcm3p/sub0/status", "closed\n");
	/* No device node at all, as in a container. */
	doctor_check_cards(&doctor);
	assert_non_null(strstr(heard(), "this user may not open it"));
	assert_non_null(strstr(heard(), "adduser $USER audio"));
}

static void
test_memory(void **state)
{
	(void)state;
	doctor.daemon_pid = 60;
	put("60/status", "Name:\trotaryd\nCapEff:\t0000000000000000\n");
	put("60/limits", "Limit                     Soft Limit           "
			 "Hard Limit           Units\n"
			 "Max locked memory         8388608              "
			 "8388608              bytes\n");
	doctor_check_memory(&doctor);
	assert_non_null(strstr(heard(), "[warn] locked memory the daemon: only "
					"8192 KiB"));
	put("60/limits", "Max locked memory         67108864             "
			 "67108864             bytes\n");
	doctor_check_memory(&doctor);
	assert_non_null(strstr(heard(), "the daemon: 64 MiB\n"));
	put("60/limits", "Max locked memory         unlimited            "
			 "unlimited            bytes\n");
	doctor_check_memory(&doctor);
	assert_non_null(strstr(heard(), "the daemon: as much as is wanted\n"));
	/* With the capability the limit does not count. */
	put("60/limits", "Max locked memory         65536   65536  bytes\n");
	put("60/status", "Name:\trotaryd\nCapEff:\t0000000000004000\n");
	doctor_check_memory(&doctor);
	assert_int_equal(doctor.said, 4);
	assert_null(strstr(heard(), "64 KiB"));
}

static void
test_realtime(void **state)
{
	(void)state;
	/* Whatever this machine grants is said, once, with its cause. */
	doctor_check_realtime(&doctor);
	assert_int_equal(doctor.said, 1);
	assert_non_null(strstr(heard(), "real time     this user: "));
	if (strncmp(heard(), "[warn]", 6) == 0)
		assert_non_null(strstr(heard(), "what to do: "));
}

static void
test_json(void **state)
{
	(void)state;
	cli.json = true;
	doctor_say(&doctor, DOCTOR_FAIL, "a", "do \"x\"", "b %d", 5);
	doctor_say(&doctor, DOCTOR_OK, "c", NULL, "d");
	assert_string_equal(heard(),
			    "{\"result\":\"fail\",\"subject\":\"a\","
			    "\"finding\":\"b 5\",\"todo\":\"do \\\"x\\\"\"},\n"
			    "{\"result\":\"ok\",\"subject\":\"c\","
			    "\"finding\":\"d\",\"todo\":null}");
	assert_int_equal(doctor.failed, 1);
}

/* The whole verb, without a daemon: it still looks at everything. */
static void
test_without_daemon(void **state)
{
	char program[] = "rotary", verb[] = "doctor";
	char option[] = "--socket=/nowhere/socket";
	char *const argv[] = {program, option, verb, NULL};

	(void)state;
	assert_int_equal(cli_main(3, argv, cli.out, cli.out), CLI_REFUSED);
	assert_non_null(strstr(heard(), "[fail] daemon        no daemon"));
	assert_non_null(strstr(heard(), "start it with"));
	assert_non_null(strstr(heard(), " configuration "));
	assert_non_null(strstr(heard(), " music "));
	assert_non_null(strstr(heard(), " card "));
	assert_non_null(strstr(heard(), " real time "));
	assert_non_null(strstr(heard(), " locked memory "));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_card, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_cards, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_our_own_card, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_forbidden_card, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_realtime, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_without_daemon, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

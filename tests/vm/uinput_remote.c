/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uinput_remote.c - a remote made of uinput, for tests with a real kernel.
 *
 *	uinput_remote NAME CODE...	makes it and obeys stdin:
 *		down CODE | up CODE | dial N
 *					until the end of stdin, which unplugs it
 *	uinput_remote --grab NODE	grabs NODE until the end of stdin
 *
 * Prints "ready" when it is. */
#include <fcntl.h>
#include <linux/uinput.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void
send_event(int file, int type, int code, int value)
{
	const struct input_event events[] = {
		{.type = (unsigned short)type,
		 .code = (unsigned short)code,
		 .value = value},
		{.type = EV_SYN, .code = SYN_REPORT}};

	if (write(file, events, sizeof(events)) != (ssize_t)sizeof(events))
		perror("uinput_remote");
}

static int
make(int count, char *const argv[])
{
	struct uinput_setup setup = {
		.id = {.bustype = BUS_USB, .vendor = 1, .product = 2}};
	const int file = open("/dev/uinput", O_WRONLY | O_CLOEXEC);
	int i = 0;

	if (file < 0)
		return -1;
	snprintf(setup.name, sizeof(setup.name), "%s", argv[0]);
	ioctl(file, UI_SET_EVBIT, EV_KEY);
	for (i = 1; i < count; i++)
		ioctl(file, UI_SET_KEYBIT, atoi(argv[i]));
	ioctl(file, UI_SET_EVBIT, EV_REL);
	ioctl(file, UI_SET_RELBIT, REL_DIAL);
	if (ioctl(file, UI_DEV_SETUP, &setup) < 0 ||
	    ioctl(file, UI_DEV_CREATE) < 0)
		return -1;
	return file;
}

static void
obey(int file)
{
	char verb[16];
	int number = 0;

	puts("ready");
	fflush(stdout);
	while (scanf("%15s %d", verb, &number) == 2) {
		if (strcmp(verb, "dial") == 0)
			send_event(file, EV_REL, REL_DIAL, number);
		else
			send_event(file, EV_KEY, number,
				   strcmp(verb, "down") == 0);
	}
}

int
main(int argc, char *argv[])
{
	int file = -1;

	if (argc == 3 && strcmp(argv[1], "--grab") == 0) {
		file = open(argv[2], O_RDONLY | O_CLOEXEC);
		if (file < 0 || ioctl(file, EVIOCGRAB, 1) < 0) {
			perror("uinput_remote: grab");
			return 1;
		}
	} else if (argc >= 3) {
		file = make(argc - 1, argv + 1);
	}
	if (file < 0) {
		perror("uinput_remote");
		return 1;
	}
	obey(file);
	close(file);
	return 0;
}

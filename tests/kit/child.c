/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kit/child.h"

#include "tests/kit/crew.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static void
collect(int descriptor, char *ret_errors, size_t size)
{
	size_t length = 0;
	char rest[256] = "";

	for (;;) {
		const size_t room = size - 1 - length;
		const ssize_t got =
			read(descriptor, room > 0 ? ret_errors + length : rest,
			     room > 0 ? room : sizeof(rest));

		if (got <= 0)
			break;
		if (room > 0)
			length += (size_t)got;
	}
	ret_errors[length] = '\0';
}

int
child_run(int (*main)(void *argument), void *argument, char *ret_errors,
	  size_t size)
{
	const struct rlimit no_core = {0, 0};
	int errors[2] = {-1, -1};
	int status = 0;
	pid_t child;

	crew_check(ret_errors == NULL || pipe(errors) == 0);
	child = fork();
	crew_check(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		if (ret_errors != NULL)
			dup2(errors[1], STDERR_FILENO);
		_exit(main(argument));
	}
	if (ret_errors != NULL) {
		close(errors[1]);
		collect(errors[0], ret_errors, size);
		close(errors[0]);
	}
	crew_check(waitpid(child, &status, 0) == child);
	return status;
}

void
child_drop_rights(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {
		{0}};

	if (geteuid() == 0)
		crew_check(setresuid(NOBODY, NOBODY, NOBODY) == 0);
	crew_check(syscall(SYS_capset, &header, none) == 0);
	/* /proc/self stays ours to read */
	crew_check(prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* programs.c - starts programs, waits for them by pidfd, ends them in time.
 *
 * A program gets /dev/null, our stderr for what it has to say, a process group
 * of its own (so that its children end with it) and the signals of a fresh
 * process. Nothing of a song's tags ever reaches it: its words stand in the
 * map. */
#include "remote/monitor/programs.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const char topic[] = "remote";
static const int64_t limit_ns = 10 * NS_PER_S;

static int
spawn(char *const argv[], pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int result = 0;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
					 O_WRONLY, 0);
	result = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	if (result == 0)
		result = posix_spawn(ret_pid, argv[0], &actions, &attributes,
				     argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -result;
}

static struct program *
find_room(struct programs *programs, struct key key)
{
	struct program *room = NULL;
	int i = 0;

	for (i = 0; i < PROGRAMS_MAX; i++) {
		struct program *program = &programs->list[i];

		if (program->pid == 0)
			room = program;
		else if (program->key.type == key.type &&
			 program->key.code == key.code)
			return NULL;
	}
	return room;
}

int
programs_start(struct programs *programs, int64_t now_ns, struct key key,
	       char *const argv[])
{
	struct program *program = NULL;
	pid_t pid = 0;
	int result = 0;

	programs_tick(programs, now_ns);
	program = find_room(programs, key);
	if (program == NULL) {
		log_info(topic, "%s still runs, and is not started again",
			 argv[0]);
		return -EBUSY;
	}
	result = spawn(argv, &pid);
	if (result < 0) {
		log_warn(topic, "cannot start %s: %s", argv[0],
			 text_of_error(result));
		return result;
	}
	program->pid = pid;
	program->pidfd = pidfd_open(pid, 0);
	program->key = key;
	program->until_ns = now_ns + limit_ns;
	return 0;
}

static void
forget(struct program *program)
{
	if (program->pidfd >= 0)
		close(program->pidfd);
	program->pid = 0;
}

void
programs_finish(struct programs *programs)
{
	int i = 0;

	for (i = 0; i < PROGRAMS_MAX; i++) {
		struct program *program = &programs->list[i];

		if (program->pid == 0)
			continue;
		kill(-program->pid, SIGKILL);
		waitpid(program->pid, NULL, 0);
		forget(program);
	}
}

size_t
programs_add_polls(const struct programs *programs, struct pollfd *ret_polls)
{
	size_t count = 0;
	int i = 0;

	for (i = 0; i < PROGRAMS_MAX; i++)
		if (programs->list[i].pid != 0 && programs->list[i].pidfd >= 0)
			ret_polls[count++] =
				(struct pollfd){.fd = programs->list[i].pidfd,
						.events = POLLIN};
	return count;
}

void
programs_tick(struct programs *programs, int64_t now_ns)
{
	int i = 0, status = 0;

	for (i = 0; i < PROGRAMS_MAX; i++) {
		struct program *program = &programs->list[i];

		if (program->pid == 0)
			continue;
		if (program->until_ns <= now_ns) {
			log_warn(topic, "a program took more than 10 s and is "
					"ended");
			kill(-program->pid, SIGKILL);
			program->until_ns = INT64_MAX;
		}
		if (waitpid(program->pid, &status, WNOHANG) != program->pid)
			continue;
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			log_info(topic, "a program ended with %s %d",
				 WIFEXITED(status) ? "code" : "signal",
				 WIFEXITED(status) ? WEXITSTATUS(status)
						   : WTERMSIG(status));
		forget(program);
	}
}

int64_t
programs_deadline(const struct programs *programs)
{
	int64_t due_ns = INT64_MAX;
	int i = 0;

	for (i = 0; i < PROGRAMS_MAX; i++)
		if (programs->list[i].pid != 0 &&
		    programs->list[i].until_ns < due_ns)
			due_ns = programs->list[i].until_ns;
	return due_ns;
}

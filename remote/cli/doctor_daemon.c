/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor_daemon.c - is there a daemon, is its configuration right, and does it
 * find music? */
#include "lib/base/clock.h"
#include "lib/base/conf.h"
#include "lib/base/text.h"
#include "lib/client/client.h"
#include "remote/cli/cli.h"
#include "remote/cli/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t patience_ns = 5 * NS_PER_S;

void
doctor_check_conf(struct doctor *doctor)
{
	char program[] = "rotaryd";
	char *const argv[] = {program, NULL};
	struct text error = {0};
	int action = CONF_RUN;

	if (conf_load(&conf_rotaryd, 1, argv, &doctor->conf, &action, &error) <
	    0)
		doctor_say(
			doctor, DOCTOR_FAIL, "configuration",
			"correct that line; \"rotaryd --check-config\" tells "
			"when all is right",
			"%s", text_string(&error));
	else if (conf_file(doctor->conf) == NULL)
		doctor_say(doctor, DOCTOR_OK, "configuration", NULL,
			   "no file, so every option has its default");
	else
		doctor_say(doctor, DOCTOR_OK, "configuration", NULL, "%s",
			   conf_file(doctor->conf));
	text_finish(&error);
}

/* Who is at the other end of a local socket. Through systemd's socket unit it
 * may be systemd itself, which is no daemon to ask /proc about. */
static pid_t
find_peer(const struct client *client)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(client_fd(client), SOL_SOCKET, SO_PEERCRED, &peer,
		       &length) < 0)
		return 0;
	return peer.pid > 1 ? peer.pid : 0;
}

void
doctor_check_socket(struct doctor *doctor)
{
	struct cli *cli = doctor->cli;
	struct pairs status = {0};
	struct text error = {0};

	if (client_connect(cli->where, patience_ns, &cli->client, &error) < 0) {
		doctor_say(doctor, DOCTOR_FAIL, "daemon", NULL, "%s",
			   text_string(&error));
		text_finish(&error);
		return;
	}
	doctor->daemon_pid = find_peer(cli->client);
	doctor_say(doctor, DOCTOR_OK, "daemon", NULL,
		   "answers on %s (protocol %s)", client_where(cli->client),
		   client_version(cli->client));
	if (cli_ask(cli, &status, "status") == 0 &&
	    pairs_find(&status, 0, "error") != NULL)
		doctor_say(doctor, DOCTOR_WARN, "daemon",
			   "see its log: journalctl -u rotaryd", "reports: %s",
			   pairs_get(&status, "error"));
	pairs_finish(&status);
	text_finish(&error);
}

static bool
is_empty(const char *folder)
{
	DIR *open = opendir(folder);
	const struct dirent *entry = NULL;
	bool empty = true;

	if (open == NULL)
		return true;
	while (empty && (entry = readdir(open)) != NULL)
		empty = entry->d_name[0] == '.';
	closedir(open);
	return empty;
}

static void
look_at_folder(struct doctor *doctor, const char *folder)
{
	static const char name_another[] =
		"make it, or name another one: --music DIR, or music = DIR "
		"under [library] in the configuration file";
	struct stat status;

	if (stat(folder, &status) < 0)
		doctor_say(doctor, DOCTOR_FAIL, "music", name_another, "%s: %s",
			   folder, text_of_error(errno));
	else if (!S_ISDIR(status.st_mode))
		doctor_say(doctor, DOCTOR_FAIL, "music", name_another,
			   "%s is no folder", folder);
	else if (access(folder, R_OK | X_OK) < 0)
		doctor_say(doctor, DOCTOR_WARN, "music",
			   "let the daemon's user read it, with its files: "
			   "chmod -R a+rX on it",
			   "%s is not readable for this user", folder);
	else if (is_empty(folder))
		doctor_say(doctor, DOCTOR_WARN, "music",
			   "put music into it, then \"rotary raw update\"",
			   "%s is empty", folder);
	else
		doctor_say(doctor, DOCTOR_OK, "music", NULL, "%s", folder);
}

/* As the daemon says, to local clients only, else as it is configured. */
void
doctor_check_music(struct doctor *doctor)
{
	struct pairs config = {0};
	const char *folder = NULL;

	if (doctor->cli->client != NULL &&
	    cli_ask(doctor->cli, &config, "config") == 0)
		folder = pairs_find(&config, 0, "music_directory");
	if (folder == NULL && doctor->daemon_pid == 0 &&
	    doctor->cli->client != NULL)
		doctor_say(doctor, DOCTOR_OK, "music", NULL,
			   "on another machine, so it is not looked at");
	else if (folder != NULL)
		look_at_folder(doctor, folder);
	else if (doctor->conf != NULL)
		look_at_folder(doctor,
			       conf_text(doctor->conf, CONF_LIBRARY_MUSIC));
	else
		doctor_say(doctor, DOCTOR_WARN, "music",
			   "correct the configuration first",
			   "its folder is not known");
	pairs_finish(&config);
}

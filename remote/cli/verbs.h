/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verbs.h - the table of what rotary can do. */
#ifndef ROTARY_CLI_VERBS_H
#define ROTARY_CLI_VERBS_H

#include <stdbool.h>
#include <stdio.h>

struct cli;

struct verb {
	const char *name;
	const char *arguments; /* as the usage line shows them */
	int min_arguments;
	int max_arguments; /* -1: any number */
	bool needs_daemon;
	const char *summary; /* one line */
	const char *details; /* more, or NULL */
	int (*run)(struct cli *cli, int argc, char *const argv[]);
};

/* The verb of this name, or NULL. */
const struct verb *verbs_find(const char *name);
/* The verbs in the order of the help; NULL after the last. */
const struct verb *verbs_at(int index);

void verbs_print_usage(FILE *out);
void verbs_print_help(FILE *out);
void verbs_print_verb(FILE *out, const struct verb *verb);

/* argv holds what follows the verb. */
int play_run(struct cli *cli, int argc, char *const argv[]);
int pause_run(struct cli *cli, int argc, char *const argv[]);
int toggle_run(struct cli *cli, int argc, char *const argv[]);
int stop_run(struct cli *cli, int argc, char *const argv[]);
int next_run(struct cli *cli, int argc, char *const argv[]);
int prev_run(struct cli *cli, int argc, char *const argv[]);
int seek_run(struct cli *cli, int argc, char *const argv[]);
int crossfade_run(struct cli *cli, int argc, char *const argv[]);
int vol_run(struct cli *cli, int argc, char *const argv[]);
int add_run(struct cli *cli, int argc, char *const argv[]);
int clear_run(struct cli *cli, int argc, char *const argv[]);
int queue_run(struct cli *cli, int argc, char *const argv[]);
int status_run(struct cli *cli, int argc, char *const argv[]);
int watch_run(struct cli *cli, int argc, char *const argv[]);
int outputs_run(struct cli *cli, int argc, char *const argv[]);
int enable_run(struct cli *cli, int argc, char *const argv[]);
int disable_run(struct cli *cli, int argc, char *const argv[]);
/* What "toggle OUTPUT..." is. */
int outputs_toggle(struct cli *cli, int argc, char *const argv[]);
int key_run(struct cli *cli, int argc, char *const argv[]);
int raw_run(struct cli *cli, int argc, char *const argv[]);
int stats_run(struct cli *cli, int argc, char *const argv[]);
int doctor_run(struct cli *cli, int argc, char *const argv[]);
int reset_run(struct cli *cli, int argc, char *const argv[]);
int help_run(struct cli *cli, int argc, char *const argv[]);

#endif

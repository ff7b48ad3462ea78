/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor.c - the verb doctor: runs the checks and prints what they find. */
#include "remote/cli/doctor.h"

#include "lib/base/conf.h"
#include "remote/cli/cli.h"
#include "remote/cli/verbs.h"

#include <stdarg.h>

static void
print_human(const struct cli *cli, enum doctor_grade grade, const char *subject,
	    const char *finding, const char *todo)
{
	static const char *const marks[] = {"[ok]  ", "[warn]", "[fail]"};

	fprintf(cli->out, "%s %-13s ", marks[grade], subject);
	cli_put(cli->out, finding);
	fputc('\n', cli->out);
	if (todo != NULL)
		fprintf(cli->out, "%21swhat to do: %s\n", "", todo);
}

static void
print_json(const struct cli *cli, enum doctor_grade grade, const char *subject,
	   const char *finding, const char *todo)
{
	static const char *const words[] = {"ok", "warn", "fail"};
	struct text text = {0};

	text_printf(&text, "{\"result\":\"%s\",\"subject\":", words[grade]);
	text_add_json(&text, subject);
	text_add(&text, ",\"finding\":");
	text_add_json(&text, finding);
	text_add(&text, ",\"todo\":");
	if (todo != NULL)
		text_add_json(&text, todo);
	else
		text_add(&text, "null");
	fprintf(cli->out, "%s}", text_string(&text));
	text_finish(&text);
}

void
doctor_say(struct doctor *doctor, enum doctor_grade grade, const char *subject,
	   const char *todo, const char *format, ...)
{
	char finding[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(finding, sizeof(finding), format, arguments);
	va_end(arguments);
	if (!doctor->cli->json)
		print_human(doctor->cli, grade, subject, finding, todo);
	else if (doctor->said > 0)
		fputs(",\n", doctor->cli->out);
	if (doctor->cli->json)
		print_json(doctor->cli, grade, subject, finding, todo);
	doctor->said++;
	if (grade == DOCTOR_FAIL)
		doctor->failed++;
}

int
doctor_run(struct cli *cli, int argc, char *const argv[])
{
	struct doctor doctor = {.cli = cli, .proc = "/proc", .dev = "/dev"};

	(void)argc;
	(void)argv;
	if (cli->json)
		fputc('[', cli->out);
	doctor_check_conf(&doctor);
	doctor_check_socket(&doctor);
	doctor_check_music(&doctor);
	doctor_check_cards(&doctor);
	doctor_check_outputs(&doctor);
	doctor_check_realtime(&doctor);
	doctor_check_memory(&doctor);
	doctor_check_allocator(&doctor);
	doctor_check_skips(&doctor);
	if (cli->json)
		fputs("]\n", cli->out);
	conf_destroy(doctor.conf);
	return doctor.failed > 0 ? CLI_REFUSED : CLI_OK;
}

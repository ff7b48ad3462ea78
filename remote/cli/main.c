/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c - rotary, the command line. */
#include "remote/cli/cli.h"

#include <locale.h>

int
main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	return cli_main(argc, argv, stdout, stderr);
}

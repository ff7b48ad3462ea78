/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.h - text cut to the columns of a terminal. */
#ifndef ROTARY_CLI_COLUMNS_H
#define ROTARY_CLI_COLUMNS_H

struct text;

/* string, cut to at most columns columns as the locale's terminal shows it;
 * what it cannot show becomes '?'. */
void columns_add(struct text *text, const char *string, int columns);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.h - what the programs on the explorer have in common: a search, told
 * about on stdout; tables of searches that must find nothing, or something; and
 * the numbers of the command line. To be included after cmocka.h.
 * Threads: one. */
#ifndef ROTARY_MODEL_SEARCH_H
#define ROTARY_MODEL_SEARCH_H

#include "tests/model/explorer.h"

/* Runs all orders and prints how many there were and what came of it, after
 * the search's own words. Returns the reason of the failure, or NULL. */
const char *search_run(const struct explorer_case *explored, const char *format,
		       ...) __attribute__((format(printf, 2, 3)));

/* explore(&searches[i]) gives the reason of the failure, or NULL. */
#define SEARCHES_FIND_NOTHING(explore, searches)                               \
	for (size_t search_i = 0;                                              \
	     search_i < sizeof(searches) / sizeof((searches)[0]); search_i++)  \
	assert_null(explore(&(searches)[search_i]))

#define SEARCHES_FIND_FAULTS(explore, searches)                                \
	for (size_t search_i = 0;                                              \
	     search_i < sizeof(searches) / sizeof((searches)[0]); search_i++)  \
	assert_non_null(explore(&(searches)[search_i]))

/* Where the command line's numbers go, in its order; NULL at the end. */
void search_parse(int argc, char **argv, unsigned *const numbers[]);

#endif

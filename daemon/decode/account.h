/* SPDX-License-Identifier: GPL-3.0-or-later */
/* account.h - code that may allocate only so much, whatever it is fed.
 * Threads: one at a time. RT: as what it runs. Private to daemon/decode. */
#ifndef ROTARY_DECODE_ACCOUNT_H
#define ROTARY_DECODE_ACCOUNT_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct zone_heap;

typedef void account_fn(void *context);

/* A heap for bytes; NULL where the program's malloc is not ours, or when there
 * is no memory, which *ret_error tells (-ENOMEM). */
MAY_BLOCK struct zone_heap *account_open(size_t bytes, int *ret_error);
/* Calls code(context) on the heap, if there is one. False: it was left in the
 * middle because it wanted more than the heap may give. */
NODISCARD bool account_run(struct zone_heap *heap, account_fn *code,
			   void *context);
/* From inside of account_run(): calls it outside of the heap. For whatever must
 * outlive the heap, or must not be left in the middle. */
void account_step_out(account_fn *code, void *context);

#endif

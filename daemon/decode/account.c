/* SPDX-License-Identifier: GPL-3.0-or-later */
/* account.c - code on a heap with a limit, and the way out of it.
 *
 *   account_run: enter, setjmp -- code ... malloc past the limit -> longjmp --+
 *                leave <-----------------------------------------------------+
 *
 * libvorbis writes through whatever malloc returns, NULL too, and one call of
 * it may ask for hundreds of megabytes again and again, so neither NULL nor
 * "a little more, and fail behind the call" will do. Jumping out leaves the
 * library's own state half changed, but all of that lies in the heap, and goes
 * with it. setjmp() saves no signal mask: no system call. */
#include "daemon/decode/account.h"

#include "lib/zone/zone.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

struct way_out {
	jmp_buf out;
	bool taken;
};

struct zone_heap *
account_open(size_t bytes, int *ret_error)
{
	struct zone_heap *heap = NULL;

	*ret_error = 0;
	if (!zone_is_malloc())
		return NULL;
	heap = zone_heap_create(bytes);
	if (heap == NULL)
		*ret_error = -ENOMEM;
	return heap;
}

static _Noreturn void
leave_library(void *context)
{
	struct way_out *way = context;

	way->taken = true;
	longjmp(way->out, 1);
}

bool
account_run(struct zone_heap *heap, account_fn *code, void *context)
{
	struct way_out way = {.taken = false};

	if (heap == NULL) {
		code(context);
		return true;
	}
	if (!zone_heap_enter(heap))
		return false;
	zone_heap_on_refusal(heap, leave_library, &way);
	if (setjmp(way.out) == 0)
		code(context);
	zone_heap_on_refusal(heap, NULL, NULL);
	zone_heap_leave(heap);
	return !way.taken;
}

void
account_step_out(account_fn *code, void *context)
{
	struct zone_heap *heap = zone_heap_entered();

	if (heap != NULL)
		zone_heap_leave(heap);
	code(context);
	/* cannot fail: the thread has been in it */
	if (heap != NULL && !zone_heap_enter(heap))
		abort();
}

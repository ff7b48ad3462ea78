/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.h - the one system call instruction that is free inside the fence, and
 * the registers of an interrupted one. Async-signal-safe. Private to lib/rt. */
#ifndef ROTARY_RT_GATE_H
#define ROTARY_RT_GATE_H

#include "lib/base/attr.h"

#include <ucontext.h>

enum { GATE_ARGUMENTS = 6 };

/* A call as its registers had it. */
struct gate_call {
	long number;
	long arguments[GATE_ARGUMENTS];
};

/* Makes the call; returns what the kernel returned, -errno included. */
RT_DEVICE long gate_pass(const struct gate_call *call);

/* Where that instruction returns to; 0 on a processor that is not known. */
uintptr_t gate_address(void);

/* The call that was trapped, and its result for when the handler returns. */
RT_DEVICE void gate_load(const ucontext_t *context, struct gate_call *ret_call);
RT_DEVICE void gate_store(ucontext_t *context, long result);

#endif

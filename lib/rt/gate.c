/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.c - per processor: a function of one system call instruction, whose
 * place the filter knows, and where a signal's context keeps the registers.
 *
 * The kernel shows a filter the address after the instruction, on both
 * processors. The function keeps nothing on the stack. */
#include "lib/rt/gate.h"

#include <errno.h>

#if defined(__x86_64__)

extern const char rt_gate_address[] __attribute__((visibility("hidden")));
long rt_gate_instruction(long number, const long arguments[GATE_ARGUMENTS])
	__attribute__((visibility("hidden")));

__asm__("	.pushsection .text.rtdev,\"ax\",@progbits\n"
	"	.globl rt_gate_instruction\n"
	"	.hidden rt_gate_instruction\n"
	"	.type rt_gate_instruction, @function\n"
	"rt_gate_instruction:\n"
	"	.cfi_startproc\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %r11\n"
	"	movq 0(%r11), %rdi\n"
	"	movq 8(%r11), %rsi\n"
	"	movq 16(%r11), %rdx\n"
	"	movq 24(%r11), %r10\n"
	"	movq 32(%r11), %r8\n"
	"	movq 40(%r11), %r9\n"
	"	syscall\n"
	"	.globl rt_gate_address\n"
	"	.hidden rt_gate_address\n"
	"rt_gate_address:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size rt_gate_instruction, . - rt_gate_instruction\n"
	"	.popsection\n");

static RT_DEVICE long
load_register(const ucontext_t *context, int number)
{
	return (long)context->uc_mcontext.gregs[number];
}

RT_DEVICE void
gate_load(const ucontext_t *context, struct gate_call *ret_call)
{
	ret_call->number = load_register(context, REG_RAX);
	ret_call->arguments[0] = load_register(context, REG_RDI);
	ret_call->arguments[1] = load_register(context, REG_RSI);
	ret_call->arguments[2] = load_register(context, REG_RDX);
	ret_call->arguments[3] = load_register(context, REG_R10);
	ret_call->arguments[4] = load_register(context, REG_R8);
	ret_call->arguments[5] = load_register(context, REG_R9);
}

RT_DEVICE void
gate_store(ucontext_t *context, long result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}

#elif defined(__aarch64__)

extern const char rt_gate_address[] __attribute__((visibility("hidden")));
long rt_gate_instruction(long number, const long arguments[GATE_ARGUMENTS])
	__attribute__((visibility("hidden")));

__asm__("	.pushsection .text.rtdev,\"ax\",@progbits\n"
	"	.globl rt_gate_instruction\n"
	"	.hidden rt_gate_instruction\n"
	"	.type rt_gate_instruction, @function\n"
	"rt_gate_instruction:\n"
	"	.cfi_startproc\n"
	"	mov x8, x0\n"
	"	mov x9, x1\n"
	"	ldp x0, x1, [x9]\n"
	"	ldp x2, x3, [x9, #16]\n"
	"	ldp x4, x5, [x9, #32]\n"
	"	svc #0\n"
	"	.globl rt_gate_address\n"
	"	.hidden rt_gate_address\n"
	"rt_gate_address:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size rt_gate_instruction, . - rt_gate_instruction\n"
	"	.popsection\n");

RT_DEVICE void
gate_load(const ucontext_t *context, struct gate_call *ret_call)
{
	size_t i;

	ret_call->number = (long)context->uc_mcontext.regs[8];
	for (i = 0; i < GATE_ARGUMENTS; i++)
		ret_call->arguments[i] = (long)context->uc_mcontext.regs[i];
}

RT_DEVICE void
gate_store(ucontext_t *context, long result)
{
	context->uc_mcontext.regs[0] = (unsigned long)result;
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)

RT_DEVICE long
gate_pass(const struct gate_call *call)
{
	return rt_gate_instruction(call->number, call->arguments);
}

uintptr_t
gate_address(void)
{
	return (uintptr_t)rt_gate_address;
}

#else

RT_DEVICE long
gate_pass(const struct gate_call *call)
{
	(void)call;
	return -ENOSYS;
}

uintptr_t
gate_address(void)
{
	return 0;
}

RT_DEVICE void
gate_load(const ucontext_t *context, struct gate_call *ret_call)
{
	(void)context;
	*ret_call = (struct gate_call){0};
}

RT_DEVICE void
gate_store(ucontext_t *context, long result)
{
	(void)context;
	(void)result;
}

#endif

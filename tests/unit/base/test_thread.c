/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_thread.c - what a started thread has: role, name, signals, stack. */
#include "lib/base/thread.h"
#include "tests/kit/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	enum thread_role role;
	char name[32];
	sigset_t mask;
	size_t stack_bytes;
	size_t resident_pages; /* of the stack */
	stack_t fault_stack;
};

/* mincore() tells only of pages of files; the kernel's map tells of ours. */
static size_t
count_resident(void *lowest, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	FILE *map = fopen("/proc/self/pagemap", "rb");
	uint64_t entry;
	size_t i, count = 0;

	if (map == NULL)
		return 0;
	fseek(map, (long)((uintptr_t)lowest / page * sizeof(entry)), SEEK_SET);
	for (i = 0; i < size / page; i++)
		if (fread(&entry, sizeof(entry), 1, map) == 1)
			count += entry >> 63;
	fclose(map);
	return count;
}

static void *
look_around(void *argument)
{
	struct seen *seen = argument;
	pthread_attr_t attributes;
	void *lowest;

	seen->role = thread_role();
	pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
	pthread_sigmask(SIG_SETMASK, NULL, &seen->mask);
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &lowest, &seen->stack_bytes);
	seen->resident_pages = count_resident(lowest, seen->stack_bytes);
	pthread_attr_destroy(&attributes);
	sigaltstack(NULL, &seen->fault_stack);
	return NULL;
}

static void
run(struct thread_spec spec, struct seen *seen)
{
	struct thread thread = {0};

	spec.main = look_around;
	spec.argument = seen;
	assert_int_equal(thread_start(&thread, &spec), 0);
	thread_join(&thread);
	assert_false(thread.running);
	thread_join(&thread); /* harmless */
}

static void
assert_mask(const sigset_t *mask)
{
	const int open[] = {SIGSYS, SIGSEGV, SIGBUS,
			    SIGFPE, SIGILL,  thread_budget_signal()};
	size_t i, opened = 0;
	sigset_t blockable;
	int number;

	machine_blockable_signals(&blockable);
	for (i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		assert_false(sigismember(mask, open[i]));
	for (number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&blockable, number) == 1)
			opened += sigismember(mask, number) == 0;
	assert_int_equal(opened, sizeof(open) / sizeof(open[0]));
}

static void
test_role_and_name(void **state)
{
	struct seen seen = {0};

	(void)state;
	run((struct thread_spec){.role = THREAD_ROLE_DECODER,
				 .name = "a name that is too long"},
	    &seen);
	assert_int_equal(seen.role, THREAD_ROLE_DECODER);
	assert_string_equal(seen.name, "a name that is ");
	assert_int_equal(thread_role(), THREAD_ROLE_NONE);
}

static void
test_signals(void **state)
{
	struct seen seen = {0};
	sigset_t before, after;
	int number;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	run((struct thread_spec){.role = THREAD_ROLE_WORKER}, &seen);
	assert_mask(&seen.mask);
	/* The creator's own is as it was. */
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (number = 1; number <= SIGRTMAX; number++)
		assert_int_equal(sigismember(&before, number),
				 sigismember(&after, number));
}

static void
test_stack(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct seen loose = {0}, locked = {0};

	(void)state;
	run((struct thread_spec){.stack_bytes = THREAD_STACK_RT}, &loose);
	run((struct thread_spec){.stack_bytes = THREAD_STACK_RT,
				 .lock_stack = true},
	    &locked);
#ifndef ROTARY_SANITIZED
	assert_int_equal(locked.fault_stack.ss_flags, 0);
	assert_true(locked.fault_stack.ss_size >= (16 << 10));
	assert_true(locked.stack_bytes <=
		    THREAD_STACK_RT + locked.fault_stack.ss_size + page);
	assert_true(locked.stack_bytes >= THREAD_STACK_RT);
#endif
	if (locked.resident_pages == 0) {
		print_message("# skip: /proc/self/pagemap is not readable\n");
		skip();
	}
	assert_int_equal(locked.resident_pages, locked.stack_bytes / page);
	assert_true(loose.resident_pages < loose.stack_bytes / page);
}

static void *
adopt(void *argument)
{
	struct seen *seen = argument;

	thread_adopt(THREAD_ROLE_CONTROL, "control");
	thread_assert_control();
	return look_around(seen);
}

static void
test_adopt(void **state)
{
	struct seen seen = {0};
	pthread_t handle;

	(void)state;
	assert_int_equal(pthread_create(&handle, NULL, adopt, &seen), 0);
	pthread_join(handle, NULL);
	assert_int_equal(seen.role, THREAD_ROLE_CONTROL);
	assert_string_equal(seen.name, "control");
	assert_mask(&seen.mask);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_role_and_name),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_adopt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

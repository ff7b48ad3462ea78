/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crash.c - what is said when a signal ends the process.
 *
 *   SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT -> report -> the same signal
 * again, which has its default action by then: a core dump is written and the
 * status is what it would have been. A thread that crashes meanwhile waits, so
 * that it does not end the process before the first one's note and report.
 *
 * The names are those of the program's own symbol table, static functions too.
 * The file is mapped at start, and looked through only by the handler, which
 * takes no memory and no lock for it. The calls that it makes may be forbidden
 * to the thread: one that is `dying` has them repeated (fence.c). A fence that
 * kills has made its own report, and none follows.
 *
 * Before the report, which a full pipe may hold up, a note of the file that the
 * thread was at work on goes to rt_crash_note_to()'s descriptor, in one write:
 *
 *   crash SIZE MTIME_NS NAME
 *
 * between two ends of line, so that what an earlier write left half done spoils
 * nothing. One process makes one note at most, and none for a signal that
 * somebody sent.
 *
 * The handler runs on the alternate stack that thread.c gives each thread, so
 * that a stack that has run over is told like any other fault. */
#include "lib/rt/own.h"

#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BACKTRACE_FRAMES = 64 };

/* Sanitizers make reports of their own. */
#if defined(ROTARY_SANITIZED) || defined(__SANITIZE_ADDRESS__) ||              \
	defined(__SANITIZE_THREAD__)
enum { REPORT_WANTED = 0 };
#else
enum { REPORT_WANTED = 1 };
#endif

static struct {
	const ElfW(Sym) * symbols; /* NULL: stripped */
	size_t count;
	const char *names;
	size_t names_bytes;
	uintptr_t base;
} table;

enum { NOTE_BYTES = 4096 + 64, OTHERS_REPORT_S = 2 };

static struct {
	ATOMIC(int) fd;
	ATOMIC(uint32_t) made;
	size_t length;
	char line[NOTE_BYTES]; /* of the one thread that makes it */
} note = {.fd = -1};

RT_SAFE void
rt_set_subject(const struct rt_subject *subject)
{
	rt_own.subject = subject;
}

/* The first thread that crashed has it. */
static ATOMIC(uint32_t) reporting;

void
rt_crash_note_to(int fd)
{
	atomic_store(&note.fd, fd);
}

static void
say(const char *text)
{
	const ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

static void
say_hex(uintptr_t number)
{
	char digits[2 * sizeof(number) + 1];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		at--;
		*at = "0123456789abcdef"[number % 16];
		number /= 16;
	} while (number > 0);
	say("0x");
	say(at);
}

static void
note_add(const char *text)
{
	while (*text != '\0' && note.length < NOTE_BYTES)
		note.line[note.length++] = *text++;
}

static void
note_add_number(uint64_t number)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		at--;
		*at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	note_add(at);
	note_add(" ");
}

/* A fault, or an abort() of our own; not what somebody sent. */
static bool
is_own(int signal, const siginfo_t *info)
{
	return info->si_code > 0 ||
	       (signal == SIGABRT && info->si_code == SI_TKILL &&
		info->si_pid == getpid());
}

/* False when there is a file to note it for, and it could not be done. */
static bool
make_note(int signal, const siginfo_t *info)
{
	const struct rt_subject *subject = rt_own.subject;
	const int fd = atomic_load(&note.fd);

	if (fd < 0 || subject == NULL || !subject->is_open ||
	    !is_own(signal, info) || atomic_exchange(&note.made, 1) != 0)
		return true;
	if (strchr(subject->name, '\n') != NULL)
		return false;
	note_add("\ncrash ");
	note_add_number(subject->size_bytes);
	note_add_number((uint64_t)subject->mtime_ns);
	note_add(subject->name);
	note_add("\n");
	return note.length < NOTE_BYTES &&
	       write(fd, note.line, note.length) == (ssize_t)note.length;
}

static const char *
signal_name(int signal)
{
	switch (signal) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGFPE:
		return "SIGFPE";
	case SIGILL:
		return "SIGILL";
	default:
		return "SIGABRT";
	}
}

/* The function of the program that address lies in, or NULL. */
static const ElfW(Sym) * find_symbol(uintptr_t address)
{
	const uintptr_t offset = address - table.base;
	size_t i;

	for (i = 0; i < table.count; i++) {
		const ElfW(Sym) *symbol = &table.symbols[i];

		if ((symbol->st_info & 0xf) == STT_FUNC &&
		    offset >= symbol->st_value &&
		    offset - symbol->st_value < symbol->st_size &&
		    symbol->st_name < table.names_bytes)
			return symbol;
	}
	return NULL;
}

static void
say_frame(void *frame)
{
	/* A frame is where a call returns to, which may be past the end. */
	const uintptr_t address = (uintptr_t)frame;
	const ElfW(Sym) *symbol = find_symbol(address - 1);

	if (symbol == NULL) {
		backtrace_symbols_fd(&frame, 1, STDERR_FILENO);
		return;
	}
	say("  ");
	say(table.names + symbol->st_name);
	say("+");
	say_hex(address - table.base - symbol->st_value);
	say(" [");
	say_hex(address);
	say("]\n");
}

static void
report(int signal, const siginfo_t *info)
{
	void *frames[BACKTRACE_FRAMES];
	char name[17] = "";
	int count, i;

	prctl(PR_GET_NAME, name);
	say("rotary: ");
	say(signal_name(signal));
	if (info->si_code > 0) {
		say(" at ");
		say_hex((uintptr_t)info->si_addr);
	}
	say(" in thread ");
	say(name);
	if (rt_own.subject != NULL) {
		say(", at work on ");
		say(rt_own.subject->name);
	}
	say("\n");
	count = backtrace(frames, BACKTRACE_FRAMES);
	for (i = 0; i < count; i++)
		say_frame(frames[i]);
}

/* Not for ever: what the other one writes to may be full. */
static void
let_other_end(void)
{
	const struct timespec patience = {.tv_sec = OTHERS_REPORT_S};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &patience, NULL);
}

static void
tell_crash(int signal, const siginfo_t *info)
{
	const bool noted = make_note(signal, info);

	report(signal, info);
	if (!noted)
		say("rotary: no note of it could be made, so this file is not "
		    "passed over next time\n");
}

static void
handle_crash(int signal, siginfo_t *info, void *context)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	const int saved_errno = errno;

	(void)context;
	if (!rt_own.dying) {
		rt_own.dying = true;
		if (atomic_exchange(&reporting, 1) == 0)
			tell_crash(signal, info);
		else
			let_other_end();
	}
	(void)sigaction(signal, &action, NULL);
	/* A fault comes again by itself; what was sent does not. It is blocked
	 * until this returns. */
	if (info->si_code <= 0)
		(void)syscall(SYS_tgkill, getpid(), gettid(), signal);
	errno = saved_errno;
}

static int
note_base(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	table.base = info->dlpi_addr;
	return 1; /* the program itself is the first */
}

/* file: the program, whole. Whatever does not fit leaves the table empty. */
static void
find_table(const char *file, size_t length)
{
	const ElfW(Ehdr) *head = (const void *)file;
	const ElfW(Shdr) * sections;
	unsigned i;

	if (length < sizeof(*head) || head->e_shoff > length ||
	    head->e_shnum * sizeof(*sections) > length - head->e_shoff)
		return;
	sections = (const void *)(file + head->e_shoff);
	for (i = 0; i < head->e_shnum; i++) {
		const ElfW(Shdr) *symbols = &sections[i];
		const ElfW(Shdr) * names;

		if (symbols->sh_type != SHT_SYMTAB ||
		    symbols->sh_link >= head->e_shnum)
			continue;
		names = &sections[symbols->sh_link];
		if (symbols->sh_offset > length ||
		    symbols->sh_size > length - symbols->sh_offset ||
		    names->sh_offset > length ||
		    names->sh_size > length - names->sh_offset)
			return;
		table.symbols = (const void *)(file + symbols->sh_offset);
		table.names = file + names->sh_offset;
		table.names_bytes = names->sh_size;
		table.count = symbols->sh_size / sizeof(ElfW(Sym));
		return;
	}
}

static void
map_program(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *file;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		file = mmap(NULL, (size_t)status.st_size, PROT_READ,
			    MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			find_table(file, (size_t)status.st_size);
			/* until it is wanted */
			(void)madvise(file, (size_t)status.st_size,
				      MADV_DONTNEED);
		}
	}
	close(fd);
}

int
rt_crash_init(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction action = {
		.sa_sigaction = handle_crash,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	void *frame = NULL;
	size_t i;

	if (!REPORT_WANTED)
		return 0;
	/* its first use loads libgcc, which a handler may not */
	(void)backtrace(&frame, 1);
	(void)dl_iterate_phdr(note_base, NULL);
	map_program();
	/* The budget of a quantum would demote the thread in mid-report. */
	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGSYS);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], &action, NULL) != 0)
			return -errno;
	return 0;
}

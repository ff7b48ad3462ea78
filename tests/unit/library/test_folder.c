/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks through real trees in a folder of our own. */
#include "daemon/library/folder.h"

#include "lib/base/text.h"
#include "tests/unit/library/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* walks, written down */

struct walked {
	struct text text;
	unsigned count;
	unsigned stop_after; /* 0: never */
	ATOMIC(uint32_t) cancelled;
	unsigned cancel_after;
};

static bool
write_down(void *context, const struct folder_entry *entry)
{
	static const char *const kinds[] = {"", "/", "?"};
	struct walked *walked = context;

	text_printf(&walked->text, "%s%s%s", walked->count > 0 ? " " : "",
		    entry->uri, kinds[entry->kind]);
	if (entry->song != NULL)
		assert_string_equal(song_uri(entry->song), entry->uri);
	walked->count++;
	if (walked->count == walked->cancel_after)
		atomic_store(&walked->cancelled, 1);
	return walked->count != walked->stop_after;
}

static int
walk_with(struct walked *walked, const char *uri, struct folder_request options)
{
	const struct path_root root = {top, true};
	const char *reason = "unset";
	int error;

	options.root = options.root == NULL ? &root : options.root;
	options.ref = (struct source_ref){uri, getuid()};
	options.cancelled = &walked->cancelled;
	error = folder_read(&options, write_down, walked, &reason);
	if (error < 0)
		assert_non_null(reason);
	return error;
}

static void
assert_walk(const char *uri, struct folder_request options, const char *wanted)
{
	struct walked walked = {.count = 0};

	assert_int_equal(walk_with(&walked, uri, options), 0);
	assert_string_equal(text_string(&walked.text), wanted);
	text_finish(&walked.text);
}

static void
assert_walk_fails(const char *uri, int error)
{
	struct walked walked = {.count = 0};

	assert_int_equal(walk_with(&walked, uri,
				   (struct folder_request){.recursive = true}),
			 error);
	assert_int_equal(walked.count, 0);
	text_finish(&walked.text);
}

static const struct folder_request flat = {0};
static const struct folder_request deep = {.recursive = true};

static void
test_order(void **state)
{
	(void)state;
	make_folder("b");
	make_folder("B");
	make_folder("b/empty");
	make_file("z.flac", "");
	make_file("Z.FLAC", "");
	make_file("10.flac", "");
	make_file("9.flac", "");
	make_file("cover.jpg", "");
	make_file(".hidden.flac", "");
	make_file("new\nline.flac", "");
	make_file("b/x.flac", "");
	make_file("b/\xc3\xa9.flac", "");
	assert_int_equal(mkfifoat(top_fd, "fifo.flac", 0644), 0);
	assert_walk("", flat, "10.flac 9.flac Z.FLAC z.flac B/ b/");
	assert_walk("", (struct folder_request){.other_files = true},
		    "10.flac 9.flac Z.FLAC cover.jpg? z.flac B/ b/");
	assert_walk("", deep,
		    "10.flac 9.flac Z.FLAC z.flac B/ b/ b/x.flac "
		    "b/\xc3\xa9.flac b/empty/");
	assert_walk("b", flat, "b/x.flac b/\xc3\xa9.flac b/empty/");
	assert_walk("b/empty", deep, "");
	assert_walk("b/x.flac", deep, "b/x.flac");
	assert_walk_fails("nothing", -ENOENT);
	assert_walk_fails("b/x.flac/y", -ENOTDIR);
	assert_walk_fails("fifo.flac", -EINVAL);
	assert_walk_fails("../x", -EINVAL);
	assert_walk_fails("b//x", -EINVAL);
}

static void
test_local(void **state)
{
	char local[64];
	char wanted[256];

	(void)state;
	make_folder("a");
	make_folder("a/b");
	make_file("a/b/x y.flac", "");
	snprintf(wanted, sizeof(wanted), "%s/a/b/ %s/a/b/x y.flac", top, top);
	snprintf(local, sizeof(local), "%s/a", top);
	assert_walk(local, deep, wanted);
	snprintf(local, sizeof(local), "%s/a/", top);
	assert_walk(local, deep, wanted);
	snprintf(local, sizeof(local), "file://%s/%%61", top);
	assert_walk(local, deep, wanted);
	snprintf(wanted, sizeof(wanted), "%s/a/b/x y.flac", top);
	snprintf(local, sizeof(local), "file://%s/a/b/x%%20y.flac", top);
	assert_walk(local, deep, wanted);
}

static void
test_bytes(void **state)
{
	(void)state;
	make_folder("bad\xe9");
	make_file("a\xff.flac", "");
	make_file("a\xff 100%.flac", "");
	make_file("100%25.flac", "");
	make_file("bad\xe9/x\ty.flac", "");
	/* By bytes: "a\xff " stands before "a\xff.". */
	assert_walk("", deep,
		    "100%25.flac a%FF 100%25.flac a%FF.flac bad%E9/ "
		    "bad%E9/x%09y.flac");
	assert_walk("bad%E9", deep, "bad%E9/x%09y.flac");
	assert_walk("a%FF 100%25.flac", deep, "a%FF 100%25.flac");
	assert_walk("100%25.flac", deep, "100%25.flac");
	assert_walk_fails("100%.flac", -ENOENT);
}

static void
test_links(void **state)
{
	const struct path_root strict = {top, false};
	const struct folder_request inside = {.root = &strict,
					      .recursive = true};
	char elsewhere[] = "/tmp/rotary-elsewhere-XXXXXX";

	(void)state;
	make_folder("a");
	make_folder("a/sub");
	make_file("a/sub/x.flac", "");
	make_file("y.flac", "");
	make_link("a", "link");      /* sorts behind a */
	make_link("../a", "a/self"); /* a circle */
	make_link("..", "a/sub/up"); /* a larger one */
	make_link("a/sub", "twice"); /* that folder a third time */
	make_link("nowhere", "dead");
	make_link("dead.flac", "dead.flac");
	assert_non_null(mkdtemp(elsewhere));
	make_link(elsewhere, "outside");
	make_link("y.flac", "z.flac");
	assert_walk("", deep,
		    "y.flac z.flac a/ a/self/ a/sub/ a/sub/x.flac a/sub/up/ "
		    "link/ link/self/ link/sub/ link/sub/x.flac link/sub/up/ "
		    "outside/ twice/");
	/* Asked for by name a link is a folder like any other. */
	assert_walk("twice", deep,
		    "twice/x.flac twice/up/ twice/up/self/ "
		    "twice/up/sub/");
	assert_walk("", inside,
		    "y.flac z.flac a/ a/self/ a/sub/ a/sub/x.flac a/sub/up/ "
		    "link/ link/self/ link/sub/ link/sub/x.flac link/sub/up/ "
		    "twice/");
	assert_int_equal(rmdir(elsewhere), 0);
}

/* Each of 12 folders holds links to all others: 12! ways through them. */
static void
test_maze(void **state)
{
	enum { FOLDERS = 12 };
	struct walked walked = {.count = 0};

	(void)state;
	for (char i = 'a'; i < 'a' + FOLDERS; i++) {
		make_folder((const char[]){i, '\0'});
		make_file((const char[]){i, '/', 'x', '.', 'f', 'l', 'a', 'c',
					 '\0'},
			  "");
		for (char n = 'a'; n < 'a' + FOLDERS; n++)
			make_link((const char[]){'.', '.', '/', n, '\0'},
				  (const char[]){i, '/', n, '\0'});
	}
	assert_int_equal(walk_with(&walked, "", deep), 0);
	/* Twice each: a file and its links, and the folders at the top. */
	assert_true(walked.count <= FOLDERS + 2 * FOLDERS * (FOLDERS + 1));
	assert_true(walked.count >= FOLDERS + FOLDERS * (FOLDERS + 1));
	text_finish(&walked.text);
}

/* Down to a path of exactly 4,095 bytes, which the kernel can open, and one
 * level further, which nobody can name. */
static void
test_depth(void **state)
{
	struct walked walked = {.count = 0};
	struct text last = {0};
	int folder = dup(top_fd);
	char name[3] = "d";

	(void)state;
	for (int i = 0; i < 2050; i++) {
		int next;

		assert_int_equal(mkdirat(folder, name, 0755), 0);
		next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(folder);
		folder = next;
	}
	close(folder);
	for (int i = 0; i < 2048; i++)
		text_add(&last, i == 0 ? "d" : "/d");
	assert_int_equal(last.length, PATH_URI_MAX);
	assert_int_equal(walk_with(&walked, "", deep), 0);
	assert_int_equal(walked.count, 2048);
	assert_true(walked.text.length > last.length);
	text_add(&last, "/");
	assert_string_equal(walked.text.bytes + walked.text.length -
				    last.length,
			    last.bytes);
	text_finish(&walked.text);
	/* nftw() cannot go that deep either. */
	for (int i = 0; i < 2050 / 2; i++) {
		assert_int_equal(renameat(top_fd, "d/d", top_fd, "e"), 0);
		assert_int_equal(unlinkat(top_fd, "d", AT_REMOVEDIR), 0);
		assert_int_equal(renameat(top_fd, "e", top_fd, "d"), 0);
	}
	text_finish(&last);
}

static void
test_many(void **state)
{
	enum { FILES = 10000 };
	struct walked walked = {.count = 0};
	char name[32];

	(void)state;
	for (int i = FILES; i-- > 0;) {
		snprintf(name, sizeof(name), "%05d.flac", i);
		make_file(name, "");
	}
	assert_int_equal(walk_with(&walked, "", deep), 0);
	assert_int_equal(walked.count, FILES);
	for (int i = 0; i < FILES; i += 999) {
		snprintf(name, sizeof(name), "%05d.flac", i);
		assert_memory_equal(walked.text.bytes + (size_t)i * 11, name,
				    10);
	}
	text_finish(&walked.text);

	walked = (struct walked){.stop_after = 7};
	assert_int_equal(walk_with(&walked, "", deep), 0);
	assert_int_equal(walked.count, 7);
	text_finish(&walked.text);

	walked = (struct walked){.cancel_after = 5};
	assert_int_equal(walk_with(&walked, "", deep), -ECANCELED);
	assert_int_equal(walked.count, 5);
	text_finish(&walked.text);
}

static void
test_closed_doors(void **state)
{
	(void)state;
	if (geteuid() == 0)
		skip();
	make_folder("open");
	make_folder("shut");
	make_file("open/x.flac", "");
	assert_int_equal(fchmodat(top_fd, "shut", 0, 0), 0);
	assert_walk("", deep, "open/ open/x.flac shut/");
	assert_walk_fails("shut", -EACCES);
	assert_int_equal(fchmodat(top_fd, "shut", 0755, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(test_order), TREE_TEST(test_local),
		TREE_TEST(test_bytes), TREE_TEST(test_links),
		TREE_TEST(test_maze),  TREE_TEST(test_depth),
		TREE_TEST(test_many),  TREE_TEST(test_closed_doors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

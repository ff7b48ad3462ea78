/* SPDX-License-Identifier: GPL-3.0-or-later */
/* driver.c - runs a fuzz target where there is no libFuzzer: over every seed
 * of the folders it is given, then over seeds that were cut, changed and
 * joined. The same arguments give the same inputs; the one that brings the
 * target down is in the file that the last line names.
 *
 *   fuzz_x [-runs=N] [-seed=N] FOLDER|FILE... */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEDS_MAX = 512, INPUT_MAX = 1 << 16, PATH_BYTES = 1024 };

struct seed {
	uint8_t *bytes;
	size_t size;
};

static struct seed seeds[SEEDS_MAX];
static size_t seed_count;
static uint64_t random_state = 1;

static size_t
random_below(size_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return limit > 0 ? random_state % limit : 0;
}

static void
add_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct seed *seed = &seeds[seed_count];

	if (file == NULL || seed_count == SEEDS_MAX) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(2);
	}
	seed->bytes = malloc(INPUT_MAX);
	if (seed->bytes == NULL)
		exit(2);
	seed->size = fread(seed->bytes, 1, INPUT_MAX, file);
	fclose(file);
	seed_count++;
}

static void
add_path(const char *path)
{
	char name[PATH_BYTES];
	struct dirent **entries;
	struct stat status;
	int count, i;

	if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
		add_file(path);
		return;
	}
	/* Sorted, so that a run can be repeated. */
	count = scandir(path, &entries, NULL, alphasort);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			add_file(name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* A copy of its own, so that a sanitizer sees a read past its end; and on
 * disk first when asked, since the target may end the program. */
static void
run_one(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		exit(2);
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static size_t
damage(uint8_t *bytes, size_t size)
{
	static const uint8_t NASTY[] = {0,   1,   '\n', '\r', ' ',  '"',
					'[', '=', 0x7F, 0x80, 0xFF, '\\'};
	const size_t at = random_below(size + 1);
	const size_t length = random_below(size - at + 1);

	switch (random_below(5)) {
	case 0: /* cut the end off */
		return at;
	case 1: /* take a piece out */
		memmove(bytes + at, bytes + at + length, size - at - length);
		return size - length;
	case 2: /* double a piece */
		if (size + length > INPUT_MAX)
			return size;
		memmove(bytes + at + length, bytes + at, size - at);
		return size + length;
	case 3: /* one bit */
		if (at < size)
			bytes[at] ^= (uint8_t)(1U << random_below(8));
		return size;
	default:
		if (at < size)
			bytes[at] = NASTY[random_below(sizeof(NASTY))];
		return size;
	}
}

static void
run_damaged(void)
{
	static uint8_t bytes[INPUT_MAX];
	const struct seed *seed = &seeds[random_below(seed_count)];
	const struct seed *other = &seeds[random_below(seed_count)];
	size_t size = seed->size;
	size_t rounds = 1 + random_below(8);

	memcpy(bytes, seed->bytes, size);
	if (random_below(4) == 0) {
		const size_t head = random_below(size + 1);
		const size_t skip = random_below(other->size + 1);
		size_t tail = other->size - skip;

		if (tail > INPUT_MAX - head)
			tail = INPUT_MAX - head;
		memcpy(bytes + head, other->bytes + skip, tail);
		size = head + tail;
	}
	while (rounds-- > 0)
		size = damage(bytes, size);
	run_one(bytes, size);
}

int
main(int argc, char **argv)
{
	long runs = 1000, i;
	size_t seed;
	int at;

	for (at = 1; at < argc; at++) {
		if (strncmp(argv[at], "-runs=", 6) == 0)
			runs = strtol(argv[at] + 6, NULL, 10);
		else if (strncmp(argv[at], "-seed=", 6) == 0)
			random_state = strtoull(argv[at] + 6, NULL, 10) | 1;
		else if (argv[at][0] != '-')
			add_path(argv[at]);
	}
	if (seed_count == 0) {
		fprintf(stderr, "no seeds\n");
		return 2;
	}
	for (seed = 0; seed < seed_count; seed++)
		run_one(seeds[seed].bytes, seeds[seed].size);
	for (i = 0; i < runs; i++)
		run_damaged();
	printf("%zu seeds, %ld damaged inputs\n", seed_count, runs);
	for (seed = 0; seed < seed_count; seed++)
		free(seeds[seed].bytes);
	return 0;
}

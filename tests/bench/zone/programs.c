/* SPDX-License-Identifier: GPL-3.0-or-later */
/* programs.c - workloads that look like whole programs: tree, spawn, age, hot,
 * and nothing, whose memory is told. */
#include "tests/bench/zone/bench.h"

#include <spawn.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
	TREE_WORDS = 348 * 1000,
	TREE_ROUNDS = 3,
	WORD_BYTES_MAX = 24,
	SPAWNS = 300,
	AGE_STEPS = 4000 * 1000,
	AGE_PARTS = 40,
	AGE_LIVE = 20000,
	HOT_PAIRS = 2000 * 1000,
};

extern char **environ;

struct node {
	char *word;
	struct node *left, *right;
	uint64_t rank;
};

/* A treap: R. Seidel and C. Aragon, "Randomized search trees", 1996. */
static struct node *
merge(struct node *left, struct node *right)
{
	if (left == NULL || right == NULL)
		return left != NULL ? left : right;
	if (left->rank > right->rank) {
		left->right = merge(left->right, right);
		return left;
	}
	right->left = merge(left, right->left);
	return right;
}

static void
split(struct node *tree, const char *word, struct node **left,
      struct node **right)
{
	if (tree == NULL) {
		*left = NULL;
		*right = NULL;
	} else if (strcmp(tree->word, word) < 0) {
		split(tree->right, word, &tree->right, right);
		*left = tree;
	} else {
		split(tree->left, word, left, &tree->left);
		*right = tree;
	}
}

static struct node *
insert(struct node *tree, const char *word, uint64_t rank)
{
	struct node *node = malloc(sizeof(*node));
	struct node *left, *right;

	node->word = malloc(strlen(word) + 1);
	strcpy(node->word, word);
	node->rank = rank;
	node->left = NULL;
	node->right = NULL;
	split(tree, word, &left, &right);
	return merge(merge(left, node), right);
}

static struct node **
find(struct node **tree, const char *word)
{
	while (*tree != NULL) {
		const int order = strcmp(word, (*tree)->word);

		if (order == 0)
			break;
		tree = order < 0 ? &(*tree)->left : &(*tree)->right;
	}
	return tree;
}

static void
remove_word(struct node **tree, const char *word)
{
	struct node **place = find(tree, word);
	struct node *node = *place;

	*place = merge(node->left, node->right);
	free(node->word);
	free(node);
}

/* Words in the order of a dictionary: each is the one before with its end
 * turned on. */
static void
make_words(char (*words)[WORD_BYTES_MAX], struct dice *dice)
{
	unsigned i, length;

	for (i = 0; i < TREE_WORDS; i++) {
		length = (unsigned)snprintf(words[i], WORD_BYTES_MAX, "%06x",
					    i * 13);
		for (; length < 8 + dice_roll(dice, 12); length++)
			words[i][length] = (char)('a' + dice_roll(dice, 26));
		words[i][length] = '\0';
	}
}

void
bench_tree(uint64_t seed)
{
	char(*words)[WORD_BYTES_MAX] = bench_map(sizeof(*words) * TREE_WORDS);
	struct dice dice = dice_seeded(seed);
	const double before = bench_memory_mb("VmRSS:");
	int64_t began_ns;
	unsigned round, i;

	make_words(words, &dice);
	began_ns = bench_now_ns();
	for (round = 0; round < TREE_ROUNDS; round++) {
		struct node *tree = NULL;

		for (i = 0; i < TREE_WORDS; i++)
			tree = insert(tree, words[i],
				      dice_roll(&dice, UINT32_MAX));
		for (i = 0; i < TREE_WORDS; i++)
			if (*find(&tree, words[i]) == NULL)
				exit(1);
		for (i = 0; i < TREE_WORDS; i++)
			remove_word(&tree, words[i]);
	}
	bench_say("ms", (double)(bench_now_ns() - began_ns) / 1e6);
	bench_say("peak_mb", bench_memory_mb("VmHWM:") - before);
}

/* Starts of a program that does nothing, with the same malloc preloaded. */
void
bench_spawn(uint64_t seed)
{
	static char program[] = "/bin/true";
	char *arguments[] = {program, NULL};
	const int64_t began_ns = bench_now_ns();
	long faults = 0;
	unsigned i;

	(void)seed;
	for (i = 0; i < SPAWNS; i++) {
		struct rusage usage;
		pid_t child;

		if (posix_spawn(&child, program, NULL, NULL, arguments,
				environ) != 0)
			exit(1);
		(void)wait4(child, NULL, 0, &usage);
		faults += usage.ru_minflt;
	}
	bench_say("us", (double)(bench_now_ns() - began_ns) / 1e3 / SPAWNS);
	bench_say("minor_faults", (double)faults / SPAWNS);
}

void
bench_nothing(uint64_t seed)
{
	(void)seed;
	bench_say("peak_mb", bench_memory_mb("VmHWM:"));
}

/* Ticks of a free and a malloc while many such have gone before. */
void
bench_age(uint64_t seed)
{
	static void *live[AGE_LIVE];
	struct dice dice = dice_seeded(seed);
	unsigned part, i;

	for (part = 1; part <= AGE_PARTS; part++) {
		const uint64_t began = bench_ticks();
		char name[32];

		for (i = 0; i < AGE_STEPS / AGE_PARTS; i++) {
			void **block = &live[dice_roll(&dice, AGE_LIVE)];

			free(*block);
			*block = malloc(1 + dice_roll(&dice, 2000));
			*(volatile char *)*block = 1;
		}
		(void)snprintf(name, sizeof(name), "step_%u",
			       AGE_STEPS / AGE_PARTS * part);
		bench_say(name, (double)(bench_ticks() - began) /
					(AGE_STEPS / AGE_PARTS));
	}
}

/* One size at a time, warm: what the quickest ways cost, call by call. */
void
bench_hot(uint64_t seed)
{
	struct bench_histogram *take = bench_map(sizeof(*take));
	struct bench_histogram *give = bench_map(sizeof(*give));
	struct bench_histogram *noise = bench_map(sizeof(*noise));
	struct dice dice = dice_seeded(seed);
	unsigned i, j;

	for (i = 0; i < HOT_PAIRS / 8; i++) {
		const size_t size = 16 + dice_roll(&dice, 240);
		void *blocks[8];

		for (j = 0; j < 8; j++) {
			const uint64_t before = bench_ticks();

			blocks[j] = malloc(size);
			bench_add(take, bench_ticks() - before);
		}
		for (j = 0; j < 8; j++) {
			const uint64_t before = bench_ticks();

			free(blocks[j]);
			bench_add(give, bench_ticks() - before);
		}
		for (j = 0; j < 8; j++) {
			const uint64_t before = bench_ticks();

			bench_add(noise, bench_ticks() - before);
		}
	}
	bench_say("malloc_p99.9", (double)bench_quantile(take, .999));
	bench_say("free_p99.9", (double)bench_quantile(give, .999));
	bench_say("noise_p99.9", (double)bench_quantile(noise, .999));
}

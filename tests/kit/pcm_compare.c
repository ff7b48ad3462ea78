/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcm_compare.c - is what was heard what should have been?
 *
 *	pcm_compare [--tail] CHANNELS HEARD FORMAT REFERENCE FORMAT [TOLERANCE]
 *
 * FORMAT is s16 s24 (in 32 bits) s24_3 s32 float, little-endian. TOLERANCE is
 * the largest difference of two samples, full scale being 1 (default 0: equal
 * to the bit); "1.5/32768" is one and a half steps of 16 bits.
 *
 * The whole reference must be in what was heard, in one piece, with nothing but
 * silence (no louder than the tolerance) before and after it. So a frame too
 * many or too few is found anywhere, if the reference begins and ends with
 * sound. Where it begins is found by its first frames. With --tail anything may
 * have been heard before it: it must be the last, found by its last frame.
 *
 * Exit: 0 equal, 1 different (and how, on stdout), 2 misused. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_FRAMES = 2000, SEARCH_FRAMES = 256 };

struct pcm {
	const char *name;
	unsigned char *memory;
	size_t frames;
	unsigned channels;
	unsigned bytes; /* of a sample */
	bool is_float;
	double scale;
};

static bool
parse_format(struct pcm *pcm, const char *format)
{
	static const struct {
		const char *name;
		unsigned bytes, bits;
	} formats[] = {{"s16", 2, 16},
		       {"s24", 4, 24},
		       {"s24_3", 3, 24},
		       {"s32", 4, 32},
		       {"float", 4, 1}};

	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		if (strcmp(format, formats[i].name))
			continue;
		pcm->bytes = formats[i].bytes;
		pcm->is_float = formats[i].bits == 1;
		pcm->scale = ldexp(1, (int)formats[i].bits - 1);
		return true;
	}
	return false;
}

static bool
load(struct pcm *pcm, const char *name)
{
	FILE *file = fopen(name, "rb");
	size_t capacity = 1U << 20, bytes = 0;

	pcm->name = name;
	if (!file) {
		perror(name);
		return false;
	}
	pcm->memory = malloc(capacity);
	while (pcm->memory) {
		bytes += fread(pcm->memory + bytes, 1, capacity - bytes, file);
		if (bytes < capacity)
			break;
		capacity *= 2;
		unsigned char *larger = realloc(pcm->memory, capacity);
		if (!larger)
			free(pcm->memory);
		pcm->memory = larger;
	}
	fclose(file);
	if (!pcm->memory)
		return false;
	pcm->frames = bytes / pcm->bytes / pcm->channels;
	return true;
}

/* Exact: 32 bits fit in a double. */
static double
sample(const struct pcm *pcm, size_t index)
{
	const unsigned char *at = pcm->memory + index * pcm->bytes;
	uint32_t word = 0;
	float value = 0;

	for (unsigned i = 0; i < pcm->bytes; i++)
		word |= (uint32_t)at[i] << (8 * i);
	if (pcm->is_float) {
		memcpy(&value, &word, sizeof value);
		return (double)value;
	}
	/* The sign is the top bit of the bits in use. */
	uint32_t sign = (uint32_t)pcm->scale;
	if (sign != UINT32_C(0x80000000))
		word &= (sign << 1) - 1;
	return ((double)(word ^ sign) - pcm->scale) / pcm->scale;
}

static bool
is_silent(const struct pcm *pcm, size_t frame, double tolerance)
{
	for (unsigned c = 0; c < pcm->channels; c++) {
		if (fabs(sample(pcm, frame * pcm->channels + c)) > tolerance)
			return false;
	}
	return true;
}

/* The largest difference over `frames` frames; where it first exceeds. */
static double
difference(const struct pcm *heard, const struct pcm *reference, size_t offset,
	   size_t frames, double tolerance, size_t *ret_first)
{
	unsigned channels = heard->channels;
	double worst = 0;

	*ret_first = SIZE_MAX;
	for (size_t i = 0; i < frames * channels; i++) {
		double d = fabs(sample(heard, offset * channels + i) -
				sample(reference, i));
		if (d > tolerance && *ret_first == SIZE_MAX)
			*ret_first = i / channels;
		if (d > worst)
			worst = d;
	}
	return worst;
}

/* Where the reference begins: near the first sound, as its head fits best. */
static size_t
find_offset(const struct pcm *heard, const struct pcm *reference,
	    double tolerance)
{
	size_t first = 0, lead = 0, best = 0, ignored = 0;
	double least = INFINITY;

	while (first < heard->frames && is_silent(heard, first, tolerance))
		first++;
	while (lead < reference->frames &&
	       is_silent(reference, lead, tolerance))
		lead++;
	size_t from =
		first > lead + SEARCH_FRAMES ? first - lead - SEARCH_FRAMES : 0;
	for (size_t at = from; at <= first + SEARCH_FRAMES; at++) {
		size_t frames = reference->frames < HEAD_FRAMES
					? reference->frames
					: HEAD_FRAMES;
		if (at + frames > heard->frames)
			break;
		double d = difference(heard, reference, at, frames, tolerance,
				      &ignored);
		if (d < least) {
			least = d;
			best = at;
		}
	}
	return best;
}

static size_t
sound_end(const struct pcm *pcm, double tolerance)
{
	size_t end = pcm->frames;

	while (end && is_silent(pcm, end - 1, tolerance))
		end--;
	return end;
}

static size_t
find_tail(const struct pcm *heard, const struct pcm *reference,
	  double tolerance)
{
	size_t end = sound_end(heard, tolerance);
	size_t length = sound_end(reference, tolerance);

	return end > length ? end - length : 0;
}

static int
compare(const struct pcm *heard, const struct pcm *reference, double tolerance,
	bool tail)
{
	size_t offset = tail ? find_tail(heard, reference, tolerance)
			     : find_offset(heard, reference, tolerance);
	size_t first = 0;

	if (offset + reference->frames > heard->frames) {
		printf("too short: heard %zu frames, from %zu on, of %zu\n",
		       heard->frames - offset, offset, reference->frames);
		return 1;
	}
	double worst = difference(heard, reference, offset, reference->frames,
				  tolerance, &first);
	printf("heard at frame %zu, %zu frames, largest difference %.3g\n",
	       offset, reference->frames, worst);
	if (first != SIZE_MAX) {
		printf("different from its frame %zu on\n", first);
		return 1;
	}
	for (size_t i = tail ? offset : 0; i < heard->frames; i++) {
		if (i == offset)
			i += reference->frames;
		if (i < heard->frames && !is_silent(heard, i, tolerance)) {
			printf("sound outside of it, at frame %zu\n", i);
			return 1;
		}
	}
	return 0;
}

static double
parse_tolerance(const char *text)
{
	char *end = NULL;
	double value = strtod(text, &end);

	return *end == '/' ? value / strtod(end + 1, NULL) : value;
}

int
main(int argc, char **argv)
{
	struct pcm heard = {.frames = 0}, reference = {.frames = 0};
	bool tail = argc > 1 && !strcmp(argv[1], "--tail");
	char **a = argv + 1 + tail;
	int count = argc - 1 - tail;

	if (count != 5 && count != 6) {
		fprintf(stderr,
			"usage: %s [--tail] CHANNELS HEARD FORMAT REFERENCE "
			"FORMAT [TOLERANCE]\n",
			argv[0]);
		return 2;
	}
	heard.channels = reference.channels = (unsigned)atoi(a[0]);
	if (!heard.channels || !parse_format(&heard, a[2]) ||
	    !parse_format(&reference, a[4])) {
		fprintf(stderr, "%s: unknown format\n", argv[0]);
		return 2;
	}
	if (!load(&heard, a[1]) || !load(&reference, a[3]))
		return 2;
	if (!reference.frames) {
		printf("%s: empty\n", reference.name);
		return 1;
	}
	int r = compare(&heard, &reference,
			count == 6 ? parse_tolerance(a[5]) : 0, tail);
	free(heard.memory);
	free(reference.memory);
	return r;
}

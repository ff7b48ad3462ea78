/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kit/music/music.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
bytes_append(struct bytes *bytes, const void *data, size_t length)
{
	if (length == 0)
		return;
	while (bytes->length + length > bytes->capacity) {
		bytes->capacity = bytes->capacity * 2 + 4096;
		bytes->data = realloc(bytes->data, bytes->capacity);
		if (bytes->data == NULL)
			abort();
	}
	if (data != NULL)
		memcpy(bytes->data + bytes->length, data, length);
	else
		memset(bytes->data + bytes->length, 0, length);
	bytes->length += length;
}

void
bytes_cut(struct bytes *bytes, size_t from, size_t length)
{
	memmove(bytes->data + from, bytes->data + from + length,
		bytes->length - from - length);
	bytes->length -= length;
}

void
bytes_copy(struct bytes *to, const struct bytes *from)
{
	to->length = 0;
	bytes_append(to, from->data, from->length);
}

void
bytes_finish(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

float
music_tone(const struct recipe *recipe, uint64_t frame)
{
	const double time = (double)frame / recipe->rate_hz;

	return (float)(0.5 *
		       sin(time * recipe->tone_hz * 6.283185307179586 + 1.0));
}

float
music_sample(const struct recipe *recipe, uint64_t frame, uint32_t channel)
{
	const double time = (double)frame / 44100;
	const uint64_t mixed =
		(frame * 8 + channel + recipe->seed * UINT64_C(7919)) *
		UINT64_C(0x9e3779b97f4a7c15);
	const double noise = (double)(mixed >> 40) / (double)(1 << 24) - 0.5;
	const double pitch = 110.0 * (channel + 1) + (double)recipe->seed;

	if (recipe->tone_hz > 0)
		return music_tone(recipe, frame);
	return (float)(0.5 * sin(time * pitch * 6.283185307) +
		       0.25 * sin(time * pitch * 9.1) + 0.1 * noise);
}

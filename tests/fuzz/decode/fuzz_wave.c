/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PCM files of all containers, and libsndfile's view of them. */
#include "tests/fuzz/decode/decode_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode_input(data, size);
	return 0;
}

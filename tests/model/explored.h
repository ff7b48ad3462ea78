/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explored.h - to be included before a .c file of lib/: its atomic operations
 * then ask the explorer first. model_drops(address) may make a store come to
 * nothing: a seeded fault. */
#ifndef ROTARY_MODEL_EXPLORED_H
#define ROTARY_MODEL_EXPLORED_H

#include "tests/model/explorer.h"

#include <stdatomic.h>

bool model_drops(const volatile void *address);

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit

#define atomic_load_explicit(object, order) (explorer_step(object), *(object))

#define atomic_store_explicit(object, value, order)                            \
	(explorer_step(object),                                                \
	 model_drops(object) ? (void)0 : (void)(*(object) = (value)))

#define model_update(object, expression)                                       \
	__extension__({                                                        \
		__auto_type model_old = (explorer_step(object), *(object));    \
		__typeof__(model_old) model_new = (expression);                \
                                                                               \
		if (!model_drops(object))                                      \
			*(object) = model_new;                                 \
		model_old;                                                     \
	})

#define atomic_exchange_explicit(object, value, order)                         \
	model_update(object, value)
#define atomic_fetch_or_explicit(object, value, order)                         \
	model_update(object, model_old | (value))
#define atomic_fetch_and_explicit(object, value, order)                        \
	model_update(object, model_old &(value))
#define atomic_fetch_add_explicit(object, value, order)                        \
	model_update(object, model_old + (value))
#define atomic_fetch_sub_explicit(object, value, order)                        \
	model_update(object, model_old - (value))

#define atomic_compare_exchange_strong_explicit(object, expected, value,       \
						success, failure)              \
	__extension__({                                                        \
		bool model_same;                                               \
                                                                               \
		explorer_step(object);                                         \
		model_same = *(object) == *(expected);                         \
		if (model_same)                                                \
			*(object) = (value);                                   \
		else                                                           \
			*(expected) = *(object);                               \
		model_same;                                                    \
	})

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explored.h - to be included before a .c file of lib/: its atomic operations
 * then ask the explorer first. model_drops(address) may make a store come to
 * nothing: a seeded fault. So may model_lies(), if it is defined before, say
 * that an exchange that failed succeeded. */
#ifndef ROTARY_MODEL_EXPLORED_H
#define ROTARY_MODEL_EXPLORED_H

#include "tests/model/explorer.h"

#include <stdatomic.h>

bool model_drops(const volatile void *address);

#ifndef model_lies
#	define model_lies() false
#endif

#undef atomic_load
#undef atomic_store
#undef atomic_fetch_add
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_strong_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit

#define atomic_load_explicit(object, order)                                    \
	__extension__({                                                        \
		__auto_type model_seen = (explorer_step(object), *(object));   \
                                                                               \
		explorer_forward(object, &model_seen, sizeof(model_seen));     \
		model_seen;                                                    \
	})

#define atomic_store_explicit(object, value, order)                            \
	__extension__({                                                        \
		__auto_type model_value = (explorer_step(object), *(object));  \
                                                                               \
		model_value = (value);                                         \
		if (!model_drops(object))                                      \
			explorer_store(object, &model_value,                   \
				       sizeof(model_value), order);            \
		(void)0;                                                       \
	})

#define model_update(object, expression)                                       \
	__extension__({                                                        \
		__auto_type model_old =                                        \
			(explorer_step(object), explorer_drain(), *(object));  \
		__typeof__(model_old) model_new = (expression);                \
                                                                               \
		if (!model_drops(object))                                      \
			explorer_store(object, &model_new, sizeof(model_new),  \
				       memory_order_seq_cst);                  \
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
		explorer_drain();                                              \
		model_same = *(object) == *(expected);                         \
		if (!model_same)                                               \
			*(expected) = *(object);                               \
		else if (!model_drops(object))                                 \
			*(object) = (value);                                   \
		model_same || model_lies();                                    \
	})

#define atomic_load(object) atomic_load_explicit(object, memory_order_seq_cst)
#define atomic_store(object, value)                                            \
	atomic_store_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_add(object, value)                                        \
	atomic_fetch_add_explicit(object, value, memory_order_seq_cst)
#define atomic_compare_exchange_weak(object, expected, value)                  \
	atomic_compare_exchange_strong_explicit(object, expected, value,       \
						memory_order_seq_cst,          \
						memory_order_seq_cst)

#endif

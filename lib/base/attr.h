/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attr.h - the words with which a declaration says which thread runs it and
 * what it may touch. The only header of the project that defines macros.
 *
 * Thread roles (docs/architecture.md, "Threads"): control, worker, http,
 * speech, decoder, output, janitor.
 *   ON_THREAD(role)  on a function: only that role calls it.
 *   OWNED_BY(role)   on a field: only that role touches it.
 *   CALLED_ON(role)  on a member of an ops table: documentation only, since no
 *                    compiler follows a pointer.
 * clang checks the first two with -Wthread-safety; gcc sees nothing.
 *
 * Real-time grades:
 *   RT_SAFE    bounded time; no lock, allocation, system call or log.
 *   RT_DEVICE  the loops of the decoder and output threads and what only they
 *              call: may also wait (ioctl, ppoll, futex, eventfd).
 *   MAY_BLOCK  anything else; written where a reader could doubt.
 * RT_EXCEPTION("reason") { ... } marks code inside an RT function that none of
 * this can be promised for, such as a call into a decoder library. */
#ifndef ROTARY_BASE_ATTR_H
#define ROTARY_BASE_ATTR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#	include <atomic>
#	define ATOMIC(type) std::atomic<type>
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
#else
#	include <stdatomic.h>
#	define ATOMIC(type) _Atomic(type)
#endif

/* A line of every CPU that we run on; two such lines are never prefetched as
 * one where it matters, see docs/architecture.md, "False sharing". */
enum { CACHE_LINE = 64 };

#define NODISCARD __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define MAY_BLOCK
#define CALLED_ON(role)

#if defined(__clang__) && __clang_major__ >= 20
#	define RT_NONBLOCKING __attribute__((nonblocking))
#else
#	define RT_NONBLOCKING
#endif

#define RT_SAFE __attribute__((section(".text.rt"))) RT_NONBLOCKING
#define RT_DEVICE __attribute__((section(".text.rtdev")))
#define RT_EXCEPTION(reason) if (sizeof("" reason) > 0)

#if defined(__clang__)
#	define THREAD_ROLE __attribute__((capability("thread role")))
#	define ON_THREAD(role)                                                \
		__attribute__((requires_capability(thread_role_##role)))
#	define OWNED_BY(role) __attribute__((guarded_by(thread_role_##role)))
#	define BECOMES_THREAD(role)                                           \
		__attribute__((assert_capability(thread_role_##role)))
#else
#	define THREAD_ROLE
#	define ON_THREAD(role)
#	define OWNED_BY(role)
#	define BECOMES_THREAD(role)
#endif

#endif

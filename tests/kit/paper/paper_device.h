/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_device.h - an input device of umockdev, described in a few words: it
 * behaves as the kernel's as far as real libevdev and libudev look. Files for
 * umockdev are written into a folder and loaded. */
#ifndef ROTARY_KIT_PAPER_DEVICE_H
#define ROTARY_KIT_PAPER_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct _UMockdevTestbed; /* UMockdevTestbed of umockdev.h */

enum { PAPER_KEYS_MAX = 64 };

struct paper_device {
	int number; /* of the event node */
	const char *name;
	bool is_rc; /* below /rc/rcN */
	bool has_all_keys;
	bool can_type;
	uint16_t keys[PAPER_KEYS_MAX]; /* ends with 0 */
	uint16_t rel;                  /* bits of REL axes, 0 to 15 */
};

/* Adds it to the testbed and announces it. */
void paper_device_add(struct _UMockdevTestbed *testbed,
		      const struct paper_device *device);
/* Tells udev of its end, then removes its node. */
void paper_device_remove(struct _UMockdevTestbed *testbed,
			 const struct paper_device *device);
/* An event by itself, with which a real device never stops. */
void paper_device_send_half(struct _UMockdevTestbed *testbed,
			    const struct paper_device *device, uint16_t type,
			    uint16_t code, int32_t value);
/* An event, and SYN_REPORT behind it. */
void paper_device_send(struct _UMockdevTestbed *testbed,
		       const struct paper_device *device, uint16_t type,
		       uint16_t code, int32_t value);

#endif

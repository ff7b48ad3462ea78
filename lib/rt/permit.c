/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/rt/permit.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool
permit_capability(int capability)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	const unsigned bit = (unsigned)capability;

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return (data[bit / 32].effective >> bit % 32 & 1) != 0;
}

uint64_t
permit_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
		return 0;
	return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/* The kernel treats SCHED_IDLE as nice 20: leaving it, for any other policy,
 * wants the right to the thread's own nice value, which RLIMIT_NICE gives as
 * 20 - value. The default limit, 0, does not even cover nice 0. */
bool
permit_leave_idle(int nice_value)
{
	return permit_capability(CAP_SYS_NICE) ||
	       permit_limit(RLIMIT_NICE) >= (uint64_t)(20 - nice_value);
}

# SPDX-License-Identifier: GPL-3.0-or-later
# Builds for arm64 on another machine and runs the tests under qemu-user:
# scripts/check -L arm64. The root is what scripts/foreign_root makes.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

set(ROTARY_ARM64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root
	CACHE PATH "the root with the arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROTARY_ARM64_ROOT)
cmake_path(ABSOLUTE_PATH ROTARY_ARM64_ROOT NORMALIZE)
set(CMAKE_SYSROOT ${ROTARY_ARM64_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
	${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_SYSROOT})

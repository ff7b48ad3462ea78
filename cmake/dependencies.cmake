# SPDX-License-Identifier: GPL-3.0-or-later
# What we build on. All of it is in Debian 12; scripts/setup names the packages.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

pkg_check_modules(ALSA REQUIRED IMPORTED_TARGET alsa)
pkg_check_modules(FLAC REQUIRED IMPORTED_TARGET flac)
pkg_check_modules(VORBIS REQUIRED IMPORTED_TARGET vorbis)
pkg_check_modules(OGG REQUIRED IMPORTED_TARGET ogg)
pkg_check_modules(SOXR REQUIRED IMPORTED_TARGET soxr)
pkg_check_modules(SNDFILE REQUIRED IMPORTED_TARGET sndfile)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(EVDEV REQUIRED IMPORTED_TARGET libevdev)
pkg_check_modules(UDEV REQUIRED IMPORTED_TARGET libudev)
if(ROTARY_TESTS)
	pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
	# What our Vorbis decoder is compared with.
	pkg_check_modules(VORBISFILE REQUIRED IMPORTED_TARGET vorbisfile)
	pkg_check_modules(VORBISENC REQUIRED IMPORTED_TARGET vorbisenc)
endif()

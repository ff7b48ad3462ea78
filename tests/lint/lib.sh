# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# lib.sh - what the lint scripts share; sourced.

# need TOOL: ends with a reason when it is not there.
need() {
	command -v "$1" >/dev/null 2>&1 && return
	echo "SKIP: $1 is not installed (scripts/setup check)"
	exit 77
}

# files PATTERN...: the files of the tree that match, one a line.
files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -co --exclude-standard -- "$@"
	else
		for pattern in "$@"; do
			find . -path ./build -prune -o -type f \
				-path "./$pattern" -printf '%P\n'
		done
	fi
}

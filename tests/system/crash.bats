# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A crash: what it tells, and that scripts/keep starts the player again.

load lib

setup() {
	rotary_setup
	[ -z "$ROTARY_SANITIZE" ] ||
		skip "a sanitizer makes an ordinary exit of a crash"
	RUN_AS=("$BATS_TEST_DIRNAME/../../scripts/keep")
}

teardown() {
	# The player first: PID is the one that keeps it.
	[ -z "$PID" ] || kill "$PID" 2>/dev/null || :
	[ -z "$PID" ] || wait "$PID" || :
	rotary_teardown
}

player_pid() {
	pgrep -P "$PID" -x rotaryd
}

is_another_than() {
	local now
	now=$(player_pid) && [ "$now" != "$1" ]
}

crash_player() {
	local before
	before=$(player_pid)
	kill -SEGV "$before"
	wait_for "$DEADLINE" is_another_than "$before"
	wait_for "$DEADLINE" answers
}

@test "after a crash it plays on from the saved position" {
	long_song one.flac 60
	start_rotaryd --player.state_interval_s=1
	mpd "add one.flac" play
	wait_for "$DEADLINE" field_is state play
	mpd "seekcur 20"
	wait_for "$DEADLINE" elapsed_past 23
	crash_player
	logged "rotaryd was ended by SIGSEGV: starting it again"
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past 20
	[ "$(field elapsed | cut -d . -f 1)" -lt 50 ]
	logged "rotary: SIGSEGV in thread rotaryd"
	logged "app_run\+0x"
	stop_rotaryd
	[ "$EXIT" = 0 ]
}

@test "told to end, it is not started again" {
	start_rotaryd
	stop_rotaryd
	[ "$EXIT" = 0 ]
	[ "$(grep -c "starting it again" "$LOG")" = 0 ]
}

@test "five crashes in a minute are too many" {
	start_rotaryd
	for _ in 1 2 3 4; do
		crash_player
	done
	kill -SEGV "$(player_pid)"
	local end=$((SECONDS + DEADLINE))
	until has_ended; do
		[ "$SECONDS" -le "$end" ]
		sleep 0.05
	done
	local status=0
	wait "$PID" || status=$?
	PID=
	[ "$status" = 139 ]
	logged "the fifth time in a minute: giving up"
}

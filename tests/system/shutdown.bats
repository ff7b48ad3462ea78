# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# How it ends, and how it begins where another one stands or stood.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

ends_well_by() {
	long_song one.flac 30
	long_song two.flac 30
	start_rotaryd
	mpd "add one.flac" "add two.flac" "repeat 1" "play 1"
	wait_for "$DEADLINE" elapsed_past 0.5
	stop_rotaryd "$1"
	echo "# SIG$1 while playing: ended after $TOOK_MS ms" >&3
	[ "$EXIT" = 0 ]
	# A bound that only a hang breaks: what it should be is 500 ms.
	[ "$TOOK_MS" -lt 5000 ]
	[ ! -e "$SOCKET" ]
	start_rotaryd --player.resume=pause
	[ "$(mpd playlistinfo | grep -c '^file: ')" = 2 ]
	field_is repeat 1
	field_is song 1
}

@test "SIGTERM ends it: socket gone, state kept" {
	ends_well_by TERM
}

@test "SIGINT does the same" {
	ends_well_by INT
}

@test "it ends while the card stands still" {
	long_song one.flac 30
	start_rotaryd
	mpd "add one.flac" play
	wait_for "$DEADLINE" elapsed_past 0.3
	fault stall
	stop_rotaryd
	echo "# with a stalled card: ended after $TOOK_MS ms" >&3
	[ "$EXIT" = 0 ]
	[ ! -e "$SOCKET" ]
}

@test "it ends at once when it has only just begun" {
	for _ in 1 2 3 4 5; do
		start_rotaryd
		stop_rotaryd
		[ "$EXIT" = 0 ]
	done
}

@test "a second daemon is told, and the first plays on" {
	long_song one.flac 30
	start_rotaryd
	mpd "add one.flac" play
	wait_for "$DEADLINE" elapsed_past 0.2
	run timeout 20 "$BIN/rotaryd" --music "$MUSIC" --socket "$SOCKET" \
		--output null "--library.state=$HERE/state2"
	echo "$output"
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	[[ $output == *"$SOCKET"* ]]
	field_is state play
	# It is still its socket.
	mpd ping
}

@test "a stale socket is taken over" {
	start_rotaryd
	crash_rotaryd
	[ -S "$SOCKET" ]
	start_rotaryd
	mpd ping
}

@test "what is no socket is not taken away" {
	echo precious >"$SOCKET"
	run timeout 20 "$BIN/rotaryd" --music "$MUSIC" --socket "$SOCKET" \
		--output null "--library.state=$STATE"
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	[ "$(cat "$SOCKET")" = precious ]
}

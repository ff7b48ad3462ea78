# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# rotary, the command line, with the real daemon.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

rotary() { "$BIN/rotary" --socket "$SOCKET" "$@"; }

shows() {
	[[ $(rotary status) == *"$1"* ]]
}

@test "adds, plays, seeks, sets the volume, pauses and lists" {
	long_song album/one.flac 30 440
	long_song two.flac 30 660
	start_rotaryd
	rotary add album two.flac
	rotary play 2
	wait_for "$DEADLINE" shows "playing  2/2"
	[ "$(rotary queue | grep -c '^>    2  ')" = 1 ]
	rotary seek 0:20
	wait_for "$DEADLINE" shows "0:2"
	rotary seek -20
	wait_for "$DEADLINE" shows "0:0"
	rotary vol 40
	rotary vol +5
	[ "$(rotary vol)" = 45 ]
	rotary toggle
	wait_for "$DEADLINE" shows paused
	rotary toggle
	wait_for "$DEADLINE" shows playing
	rotary prev
	wait_for "$DEADLINE" shows "1/2"
	rotary next
	wait_for "$DEADLINE" shows "2/2"
	rotary stop
	wait_for "$DEADLINE" shows stopped
	rotary clear
	[ "$(rotary queue --json)" = "[]" ]
}

@test "a file of this machine is added by its own name" {
	long_song one.flac 30 440
	mkdir "$HERE/elsewhere"
	mv "$MUSIC/one.flac" "$HERE/elsewhere/here.flac"
	start_rotaryd
	cd "$HERE/elsewhere"
	rotary add here.flac
	rotary queue | grep -q here
	run rotary add nowhere.flac
	[ "$status" = 1 ]
	[[ $output == *neither* ]]
}

@test "exit codes: 1 refused, 2 bad usage, 3 no daemon" {
	run rotary status
	[ "$status" = 3 ]
	[[ $output == *"no daemon answers on $SOCKET: start it with"* ]]
	start_rotaryd
	run rotary play
	[ "$status" = 1 ]
	[[ $output == *"the queue is empty"* ]]
	run rotary raw nonsense
	[ "$status" = 1 ]
	[[ $output == *'unknown command "nonsense"'* ]]
	run rotary seek sideways
	[ "$status" = 2 ]
}

@test "JSON is JSON" {
	command -v python3 >/dev/null || skip "no python3"
	long_song one.flac 30 440
	start_rotaryd
	rotary add /
	rotary play
	wait_for "$DEADLINE" shows playing
	for verb in status queue stats vol doctor; do
		rotary --json "$verb" >"$HERE/json" || [ "$verb" = doctor ]
		python3 -m json.tool "$HERE/json" >/dev/null
	done
	[ "$(rotary --json status | python3 -c \
		'import json, sys; print(json.load(sys.stdin)["state"])')" = play ]
	[ "$(rotary --json stats | python3 -c '
import json, sys
print(len(json.load(sys.stdin)["threads"]) > 0)')" = True ]
}

@test "watch tells each change and ends with the daemon" {
	long_song one.flac 30 440
	start_rotaryd
	rotary add /
	rotary watch >"$HERE/watched" 2>"$HERE/watch.err" 3>&- &
	watcher=$!
	wait_for "$DEADLINE" grep -q '^stopped' "$HERE/watched"
	rotary play
	wait_for "$DEADLINE" grep -q '^playing' "$HERE/watched"
	rotary pause
	wait_for "$DEADLINE" grep -q '^paused' "$HERE/watched"
	kill "$PID"
	wait "$PID" || :
	PID=
	code=0
	wait "$watcher" || code=$?
	[ "$code" = 3 ]
	grep -q 'closed the connection' "$HERE/watch.err"
}

@test "the doctor looks at the running daemon" {
	long_song one.flac 30 440
	start_rotaryd
	run rotary doctor
	[[ $output == *"[ok]   daemon        answers on $SOCKET"* ]]
	[[ $output == *"[ok]   music         $MUSIC"* ]]
	[[ $output == *"decoder-0, "* ]]
	[[ $output == *"the daemon: "* ]]
}

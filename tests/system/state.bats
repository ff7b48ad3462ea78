# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A crash loses at most the last second's changes and ten seconds of position.
#
# That promise is made in seconds, so these tests let time pass: never to give
# something time to happen, but because it must have happened by then.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

past_ms() {
	[ "$(now_ms)" -ge "$1" ]
}

@test "kill -9: queue, options and position are back" {
	long_song one.flac 60
	long_song two.flac 60
	start_rotaryd --player.state_interval_s=1
	mpd "add one.flac" "add two.flac" "add one.flac" "repeat 1" \
		"random 0" "single 0" "consume 0" "setvol 70" "play 1"
	wait_for "$DEADLINE" field_is state play
	mpd "seekcur 30"
	wait_for "$DEADLINE" elapsed_past 33
	crash_rotaryd
	start_rotaryd --player.resume=pause
	[ "$(mpd playlistinfo | sed -n 's/^file: //p' | tr '\n' ' ')" = \
		"one.flac two.flac one.flac " ]
	field_is repeat 1
	field_is volume 70
	field_is song 1
	wait_for "$DEADLINE" elapsed_past 30
	[ "$(field elapsed | cut -d . -f 1)" -lt 40 ]
}

@test "resume=play goes on playing there" {
	long_song one.flac 60
	start_rotaryd --player.state_interval_s=1
	mpd "add one.flac" play
	wait_for "$DEADLINE" field_is state play
	mpd "seekcur 20"
	wait_for "$DEADLINE" elapsed_past 23
	crash_rotaryd
	start_rotaryd
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past 20
	[ "$(field elapsed | cut -d . -f 1)" -lt 40 ]
}

# round SEED: songs are added one by one; it is killed in the middle of it.
round() {
	local kill_at safe=0 added=0 times=() i
	RANDOM=$1
	kill_at=$(($(now_ms) + 1500 + RANDOM % 1500))
	mpd clear
	until past_ms "$kill_at"; do
		mpd "add song$((added % 3)).flac" >/dev/null
		added=$((added + 1))
		times+=("$(now_ms)")
	done
	crash_rotaryd
	for i in "${!times[@]}"; do
		# A second, and half a one for writing it.
		[ "${times[$i]}" -gt $((kill_at - 1500)) ] || safe=$((i + 1))
	done
	start_rotaryd --player.resume=stop
	mpd playlistinfo | sed -n 's/^file: //p' >"$HERE/queue"
	local length
	length=$(wc -l <"$HERE/queue")
	echo "seed $1: $added added, $safe of them safe, $length are back"
	[ "$length" -ge "$safe" ]
	[ "$length" -le "$added" ]
	i=0
	while read -r file; do
		[ "$file" = "song$((i % 3)).flac" ]
		i=$((i + 1))
	done <"$HERE/queue"
}

@test "killed at random moments, no more than the last second is lost" {
	for i in 0 1 2; do
		flac_song "song$i.flac" 44100 16 1000
	done
	start_rotaryd --player.resume=stop
	for seed in 11 12 13 14 15; do
		round "$seed"
	done
}

@test "a broken state is told, and does not keep it from starting" {
	long_song one.flac 20
	start_rotaryd
	mpd "add one.flac"
	stop_rotaryd
	find "$STATE" -type f | while read -r file; do
		head -c 5000 /dev/urandom >"$file"
	done
	start_rotaryd
	mpd "add one.flac" play
	wait_for "$DEADLINE" field_is state play
	cat "$LOG"
	wait_for "$DEADLINE" logged '[Ss]tate'
}

@test "a state folder that cannot be made is told" {
	echo file >"$STATE"
	run timeout 10 "$BIN/rotaryd" --music "$MUSIC" --socket "$SOCKET" \
		--output null "--library.state=$STATE"
	echo "$output"
	# It may also go on without: but not in silence.
	[[ $output == *"$STATE"* ]]
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Several rooms: the pipe output feeds the real Snapcast server, whose clients
# write what they play to files. Every sample of the song reaches both.
# Where they are not installed, scripts/peer fetches them without starting a
# service: ROTARY_SNAPSERVER=$(scripts/peer snapserver snapserver), and likewise
# ROTARY_SNAPCLIENT.

load lib

SERVER=${ROTARY_SNAPSERVER:-snapserver}
CLIENT=${ROTARY_SNAPCLIENT:-snapclient}

setup() {
	for program in "$SERVER" "$CLIENT"; do
		command -v "$program" >/dev/null ||
			skip "there is no $program (see scripts/peer)"
	done
	rotary_setup
	PIDS=()
	CLIENTS=()
	PORT=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	cat >"$HERE/snapserver.conf" <<END
[server]
datadir = $HERE/run
[http]
enabled = false
[tcp]
enabled = false
[stream]
bind_to_address = 127.0.0.1
port = $PORT
source = pipe://$HERE/fifo?name=rotary
sampleformat = 48000:16:2
codec = flac
buffer = 500
END
}

teardown() {
	[ -n "${HERE:-}" ] || return 0
	for pid in "${PIDS[@]}" "${CLIENTS[@]}"; do
		kill "$pid" 2>/dev/null || :
	done
	[ -n "${BATS_TEST_COMPLETED:-}" ] ||
		tail -n 20 "$HERE"/snap*.log || :
	rotary_teardown
}

client() {
	"$CLIENT" -h 127.0.0.1 -p "$PORT" --hostID "$1" --instance "$2" \
		--player "file:filename=$HERE/$1.raw" --logsink stderr \
		>"$HERE/snapclient.$1.log" 2>&1 3>&- &
	CLIENTS+=($!)
}

start_clients() {
	client kitchen 1
	client bath 2
	wait_for "$DEADLINE" says snapclient.kitchen 'diff to server'
	wait_for "$DEADLINE" says snapclient.bath 'diff to server'
}

stop_clients() {
	kill "${CLIENTS[@]}"
	wait "${CLIENTS[@]}" || :
	CLIENTS=()
}

says() {
	grep -q "$2" "$HERE/$1.log"
}

# The end of the song has come out, and silence behind it.
has_ended_in() {
	tail -c 19200 "$1" | tr -d '\0' | wc -c | grep -q '^0$' &&
		tr -d '\0' <"$1" | head -c 1 | grep -q .
}

# Sets RESULT: same, late or different. A client that was held up, or got its
# frames late, corrects itself, says so, and plays other frames from then on.
play_to_clients() {
	local room
	RESULT=same
	start_clients
	mpd "add song.flac" "play 0"
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" field_is state stop
	for room in kitchen bath; do
		wait_for "$DEADLINE" has_ended_in "$HERE/$room.raw"
	done
	stop_clients
	mpd clear
	for room in kitchen bath; do
		"$BIN/rotary_pcm_compare" 2 "$HERE/$room.raw" s16 \
			"$HERE/song.raw" s16 || RESULT=different
	done
	if [ "$RESULT" = different ] &&
		grep -qE 'Buffer->full|Not enough frames' "$HERE"/snapclient.*.log; then
		RESULT=late
	fi
}

@test "two snapclients play every sample of the song" {
	flac_song song.flac 48000 16 192000
	flac_raw "$MUSIC/song.flac" >"$HERE/song.raw"
	"$SERVER" --config "$HERE/snapserver.conf" >"$HERE/snapserver.log" \
		2>&1 3>&- &
	PIDS+=($!)
	wait_for "$DEADLINE" test -p "$HERE/fifo"
	wait_for "$DEADLINE" says snapserver 'stream acceptor'
	# Snapcast's server looks for whoever writes each now and then.
	start_rotaryd "--output=pipe:$HERE/fifo" --output.settle_ms=1500
	for round in 1 2 3 4; do
		play_to_clients
		[ "$RESULT" = late ] || break
	done
	[ "$RESULT" != late ] || skip "the clients were late in $round rounds"
	[ "$RESULT" = same ]
	real_time_was_kept
}

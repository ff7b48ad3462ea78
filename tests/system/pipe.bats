# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Raw samples for another program: nothing but them, each once, and none waits
# for a reader that is not there.

load lib

setup() {
	rotary_setup
	FIFO=$HERE/fifo
	HEARD=$HERE/heard.raw
	READER=
}
teardown() {
	[ -z "$READER" ] || kill "$READER" 2>/dev/null || :
	rotary_teardown
}

read_fifo() {
	cat "$FIFO" >"$HEARD" 3>&- &
	READER=$!
}

ends_with() {
	cmp -s <(tail -c 1200 "$HEARD") <(tail -c 1200 "$1")
}

heard_bytes_past() {
	[ "$(stat -c %s "$HEARD" 2>/dev/null || echo 0)" -gt "$1" ]
}

@test "standard output holds the song's samples and nothing else" {
	flac_song song.flac 48000 16 96000
	"$BIN/rotaryd" --music "$MUSIC" --socket "$SOCKET" --output pipe \
		"--library.state=$STATE" --realtime.fence=kill \
		2>"$LOG" 3>&- > >(cat >"$HEARD") &
	PID=$!
	wait_for "$DEADLINE" answers
	mpd "add song.flac" play
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" field_is state stop
	flac_raw "$MUSIC/song.flac" >"$HERE/song.raw"
	# What runs behind the pipe may be late: an end would fade it out.
	wait_for "$DEADLINE" cmp -s "$HEARD" "$HERE/song.raw"
	stop_rotaryd
	cmp "$HEARD" "$HERE/song.raw"
}

@test "a FIFO that is made, and read: 24 bits at the rate that was asked for" {
	flac_song song.flac 44100 24 88200
	start_rotaryd "--output=pipe:$FIFO" --output.format=s24_3 \
		--output.rate=44100 --output.settle_ms=500
	mpd "add song.flac" play
	wait_for "$DEADLINE" test -p "$FIFO"
	mpd stop
	read_fifo
	mpd "play 0"
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" field_is state stop
	flac_raw "$MUSIC/song.flac" >"$HERE/song.raw"
	wait_for "$DEADLINE" ends_with "$HERE/song.raw"
	stop_rotaryd
	wait "$READER"
	READER=
	"$BIN/rotary_pcm_compare" 2 "$HEARD" s24_3 "$HERE/song.raw" s24_3
}

@test "nobody reads, somebody does, leaves, comes back: it plays on" {
	long_song song.flac 60
	mkfifo "$FIFO"
	start_rotaryd "--output=pipe:$FIFO"
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 1
	read_fifo
	wait_for "$DEADLINE" heard_bytes_past 100000
	kill "$READER"
	wait "$READER" || :
	wait_for "$DEADLINE" logged 'somebody reads'
	wait_for "$DEADLINE" logged 'nobody reads'
	at=$(field elapsed | cut -d . -f 1)
	wait_for "$DEADLINE" elapsed_past $((at + 1))
	: >"$HEARD"
	read_fifo
	wait_for "$DEADLINE" heard_bytes_past 100000
	real_time_was_kept
}

@test "a reader that stops reading is left behind, and told" {
	long_song song.flac 60
	mkfifo "$FIFO"
	start_rotaryd "--output=pipe:$FIFO"
	mpd "add song.flac" play
	read_fifo
	wait_for "$DEADLINE" heard_bytes_past 100000
	kill -STOP "$READER"
	at=$(field elapsed | cut -d . -f 1)
	wait_for "$DEADLINE" elapsed_past $((at + 3))
	logged 'has stopped reading'
	kill -CONT "$READER"
	wait_for "$DEADLINE" logged 'frames were dropped'
	real_time_was_kept
}

@test "a file in the FIFO's place is left alone" {
	long_song song.flac 5
	echo "dear to somebody" >"$FIFO"
	start_rotaryd "--output=pipe:$FIFO"
	mpd "add song.flac" play
	wait_for "$DEADLINE" logged 'no FIFO'
	[ "$(cat "$FIFO")" = "dear to somebody" ]
}

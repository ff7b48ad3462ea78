# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A song that makes the player crash: once it is tried again, then passed over.
# libFLAC crashes for real, on files of one sample rate (tests/kit/crash).

load lib

setup() {
	rotary_setup
	[ -z "$ROTARY_SANITIZE" ] ||
		skip "a sanitizer makes an ordinary exit of a crash"
	mkdir "$STATE"
	NOTES=$STATE/crashes
}

teardown() {
	# The player first: PID is the one that keeps it.
	[ -z "$PID" ] || kill "$PID" 2>/dev/null || :
	[ -z "$PID" ] || wait "$PID" || :
	rotary_teardown
}

# save_playing FILE...: a state in which these are queued and the first plays.
save_playing() {
	local file
	RUN_AS=()
	start_rotaryd
	for file; do
		mpd "add $file"
	done
	mpd play
	wait_for "$DEADLINE" field_is state play
	stop_rotaryd
}

# keep_rotaryd VARIABLE=VALUE...: how it crashes, on songs of 22,050 Hz.
keep_rotaryd() {
	RUN_AS=("$BATS_TEST_DIRNAME/../../scripts/keep" --notes "$NOTES"
		env "LD_PRELOAD=$(find_library)" "$@")
	start_rotaryd
}

find_library() {
	find "$ROTARY_BUILD" -name 'librotary_crash.so' | head -n 1
}

good_song() {
	long_song "$1" 30
}

bad_song() {
	flac_song "$1" 22050 16 $((22050 * 30)) sine 440
}

crashes() {
	grep -c "^rotary: SIGSEGV .* at work on $1" "$LOG" || :
}

have_crashed() {
	[ "$(crashes "$1")" -ge "$2" ]
}

# A command to a player that may be starting again.
try() {
	mpd "$@" 2>/dev/null
}

plays_song() {
	[ "$(try status | sed -n 's/^song: //p')" = "$1" ] &&
		[ "$(try status | sed -n 's/^state: //p')" = play ]
}

rotary() {
	"$BIN/rotary" --socket "$SOCKET" "$@"
}

@test "a song is passed over after two crashes, and tried again on demand" {
	good_song good.flac
	bad_song bad.flac
	save_playing good.flac bad.flac good.flac
	# Opened ahead on a worker, it is a decoder thread that gets there.
	keep_rotaryd ROTARY_CRASH_AT=22050:44100
	wait_for "$DEADLINE" have_crashed bad.flac 2
	wait_for "$DEADLINE" plays_song 0
	logged "in thread decoder-[0-9]*, at work on bad.flac"
	[ "$(mpd skips)" = $'file: bad.flac\ncrashes: 2\nskipped: 1' ]
	rotary doctor | grep -q "passed over after 2 crashes: bad.flac"
	mpd next
	wait_for "$DEADLINE" plays_song 2
	# asked for by hand: the same, with its reason
	mpd clearerror "play 1"
	wait_for "$DEADLINE" plays_song 2
	field error | grep -q "bad.flac.*made the player crash twice"
	[ "$(crashes bad.flac)" = 2 ]
	rotary reset skips bad.flac
	[ -z "$(mpd skips)" ]
	rotary doctor | grep -q "no file made the player crash"
	mpd "play 1"
	wait_for "$DEADLINE" have_crashed bad.flac 3
}

@test "a whole folder of such songs ends with all of them passed over" {
	local number files=()
	for number in 0 1 2 3 4; do
		bad_song "bad$number.flac"
		files+=("bad$number.flac")
	done
	good_song good.flac
	save_playing "${files[@]}" good.flac
	keep_rotaryd ROTARY_CRASH_AT=22050:44100 ROTARY_CRASH_STACK=1
	wait_for "$DEADLINE" plays_song 5
	[ "$(mpd skips | grep -c "^skipped: 1")" = 5 ]
	[ "$(crashes bad)" = 10 ]
	[ "$(grep -c "starting it again" "$LOG")" = 10 ]
	stop_rotaryd
	[ "$EXIT" = 0 ]
}

@test "crashes while tags are read, on a worker, count too" {
	vorbis_song bad.ogg 22050 16 44100 sine 440
	good_song good.flac
	save_playing good.flac
	keep_rotaryd ROTARY_CRASH_OPEN=22050
	for count in 1 2; do
		mpd "add bad.ogg" || :
		wait_for "$DEADLINE" have_crashed bad.ogg "$count"
		wait_for "$DEADLINE" plays_song 0
	done
	logged "in thread worker.*, at work on bad.ogg"
	mpd "add bad.ogg" "add good.flac"
	mpd playlistinfo | grep -q "file: bad.ogg"
	mpd "seekcur 29"
	wait_for "$DEADLINE" plays_song 2
	[ "$(crashes bad.ogg)" = 2 ]
}

@test "without a note five crashes in a minute are too many" {
	rmdir "$STATE"
	mkdir -p "$STATE/crashes"
	bad_song bad.flac
	save_playing bad.flac
	RUN_AS=("$BATS_TEST_DIRNAME/../../scripts/keep" --notes "$NOTES"
		env "LD_PRELOAD=$(find_library)" ROTARY_CRASH_AT=22050:44100)
	# It may be over before it answers.
	start_rotaryd || :
	local end=$((SECONDS + DEADLINE))
	until has_ended; do
		[ "$SECONDS" -le "$end" ]
		sleep 0.05
	done
	logged "crashes cannot be noted"
	local status=0
	wait "$PID" || status=$?
	PID=
	[ "$status" = 139 ]
	logged "the fifth time in a minute: giving up"
	[ "$(crashes bad.flac)" = 5 ]
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A dead network share: only the client that asked for it waits.

load lib

setup() {
	rotary_setup
	FS=
	export ROTARY_STALL_SWITCH=$HERE/switch
	TALKERS=()
}

teardown() {
	rm -f "$HERE/switch"
	[ ${#TALKERS[@]} = 0 ] || kill "${TALKERS[@]}" 2>/dev/null || :
	if [ -n "$FS" ]; then
		umount -l "$MUSIC/dead" 2>/dev/null || :
		kill "$FS" 2>/dev/null || :
		wait "$FS" 2>/dev/null || :
	fi
	rotary_teardown
}

# Shares $HERE/share as $MUSIC/dead: by a real file system, or by a library in
# the daemon.
make_share() {
	mkdir -p "$HERE/share" "$MUSIC/dead"
	if [ -x "$BIN/rotary_stall_fs" ] && [ -w /dev/fuse ]; then
		"$BIN/rotary_stall_fs" "$HERE/share" "$MUSIC/dead" \
			"$ROTARY_STALL_SWITCH" >/dev/null 2>&1 3>&- &
		FS=$!
		if PID=$FS wait_for 10 mountpoint -q "$MUSIC/dead"; then
			return
		fi
		FS=
	fi
	[ -z "$ROTARY_SANITIZE" ] || skip "no FUSE, and a sanitizer"
	# The preloaded library looks at files on every thread, real-time ones
	# too: its calls are counted, and not the player's.
	export ROTARY_TEST_FENCE=count
	rmdir "$MUSIC/dead"
	mv "$HERE/share" "$MUSIC/dead"
	ln -s "$MUSIC/dead" "$HERE/share"
	export ROTARY_STALL_PATH=$MUSIC/dead
	RUN_AS=(env "LD_PRELOAD=$ROTARY_BUILD/tests/kit/stall/librotary_stall.so")
}

share_dies() {
	: >"$ROTARY_STALL_SWITCH"
}

share_lives() {
	rm -f "$ROTARY_STALL_SWITCH"
}

# put_on_share FILE RATE BITS FRAMES
put_on_share() {
	flac_song "$@"
	mv "$MUSIC/$1" "$HERE/share/$1"
}

# ask NUMBER COMMAND...: in the background; the answer in $HERE/answer.NUMBER.
ask() {
	local number=$1
	shift
	(
		status=0
		TALK_TIMEOUT_MS=60000 "$BIN/rotary_talk" "$SOCKET" "$@" \
			>"$HERE/answer.$number" || status=$?
		echo "$status" >"$HERE/status.$number"
	) 3>&- &
	TALKERS+=($!)
}

answered() {
	[ -s "$HERE/status.$1" ]
}

served() {
	TALK_TIMEOUT_MS=5000 mpd "$@"
}

@test "a dead share does not stop music from elsewhere, nor other clients" {
	make_share
	put_on_share far.flac 44100 16 1323000
	long_song near.flac 120
	start_rotaryd
	served "add near.flac" play
	wait_for "$DEADLINE" elapsed_past 0.2
	share_dies
	ask 1 "add dead/far.flac"
	ask 2 'lsinfo dead'
	# A third wants it while two are waiting already.
	ask 3 "addid dead/far.flac"
	at=$(field elapsed | cut -d . -f 1)
	for _ in 1 2 3 4 5; do
		served status >/dev/null
		served "lsinfo near.flac" >/dev/null
		served "playlistinfo" >/dev/null
	done
	wait_for "$DEADLINE" elapsed_past $((at + 3))
	served "add near.flac"
	real_time_was_kept
	# After 20 s those who asked are told.
	wait_for 60 answered 1
	wait_for 60 answered 2
	wait_for 60 answered 3
	cat "$HERE"/answer.[123]
	[ "$(cat "$HERE/status.1")" = 1 ]
	[ "$(cat "$HERE/status.2")" = 1 ]
	[ "$(cat "$HERE/status.3")" = 1 ]
	real_time_was_kept
	# And once it lives again, so do they.
	share_lives
	wait_for 60 served "add dead/far.flac"
	stop_rotaryd
	[ "$EXIT" = 0 ]
}

@test "a song whose share dies while it plays is left for the next" {
	make_share
	put_on_share noise.flac 44100 16 1764000
	long_song near.flac 60
	start_rotaryd
	served "add dead/noise.flac" "add near.flac" play
	wait_for "$DEADLINE" elapsed_past 0.2
	share_dies
	served status >/dev/null
	served next
	wait_for "$DEADLINE" field_is song 1
	wait_for "$DEADLINE" elapsed_past 0.2
	served stop
	field_is state stop
}

@test "it ends although a share is dead" {
	make_share
	put_on_share far.flac 44100 16 1323000
	# The leak check at the end would wait for the thread that hangs.
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	start_rotaryd
	share_dies
	ask 1 "add dead/far.flac"
	served ping
	stop_rotaryd
	echo "# with a dead share: ended after $TOOK_MS ms" >&3
	[ ! -e "$SOCKET" ]
}

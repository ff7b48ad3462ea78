# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# The first thing anybody does: add everything, play, look, seek, skip, pause.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

three_songs() {
	long_song one.flac 30 440
	long_song two.flac 30 660
	vorbis_song album/three.ogg 44100 16 $((44100 * 30)) sine 880
}

stands_still() {
	local first
	first=$(field elapsed)
	sleep 0.05
	[ "$(field elapsed)" = "$first" ]
}

@test "mpc adds everything, plays, seeks, skips, pauses and stops" {
	three_songs
	start_rotaryd
	mpc add /
	[ "$(mpc playlist | wc -l)" = 3 ]
	mpc play
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past 0.1
	run mpc status
	[[ $output == *"[playing]"* ]]

	mpc seek 0:20
	wait_for "$DEADLINE" elapsed_past 20
	[ "$(field elapsed | cut -d . -f 1)" -lt 25 ]

	first=$(field songid)
	mpc next
	wait_for "$DEADLINE" field_is song 1
	[ "$(field songid)" != "$first" ]

	mpc pause
	wait_for "$DEADLINE" field_is state pause
	# The card first plays what it cannot give back.
	wait_for "$DEADLINE" stands_still
	mpc play
	wait_for "$DEADLINE" field_is state play
	mpc stop
	wait_for "$DEADLINE" field_is state stop
	# It ran dry behind the pause, and perhaps behind the stop.
	real_time_was_kept 2
	stop_rotaryd
	[ "$EXIT" = 0 ]
}

@test "status tells what plays" {
	long_song one.flac 30
	start_rotaryd
	mpd "add one.flac" play
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past 0.2
	field_is audio 44100:16:2
	field_is duration 30.000
	field_is song 0
	field_is playlistlength 1
	[ "$(mpd currentsong | sed -n 's/^file: //p')" = one.flac ]
	[ -z "$(field error)" ]
}

@test "what is heard after a seek is the song from there" {
	flac_song noise.flac 44100 16 1323000
	start_rotaryd
	mpd "add noise.flac" play
	wait_for "$DEADLINE" field_is state play
	mpd "seekcur 25"
	wait_for "$DEADLINE" elapsed_past 25
	wait_for 60 field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	find_heard
	# The last three seconds of the song are the last that was heard.
	flac_raw "$MUSIC/noise.flac" | tail -c $((44100 * 3 * 4)) \
		>"$HERE/tail.raw"
	heard_ends_with "$HERE/tail.raw" s16
	# And what was heard is less than the song.
	[ "$("$BIN/rotary_pcm_compare" 2 "$HEARD" "$HEARD_FORMAT" \
		<(flac_raw "$MUSIC/noise.flac") s16 | head -c 9)" = "too short" ]
}

@test "options are kept in the status, and idle tells of the player" {
	three_songs
	start_rotaryd
	mpd "add one.flac" "add two.flac" "repeat 1" "random 0" "single 1" \
		"consume 0" "setvol 60"
	field_is repeat 1
	field_is single 1
	field_is volume 60
	# From its first answer on it is told, whether it idles yet or not.
	"$BIN/rotary_talk" "$SOCKET" status "idle player" >"$HERE/idle" 3>&- &
	idler=$!
	wait_for "$DEADLINE" grep -sq "^repeat:" "$HERE/idle"
	mpd play
	wait "$idler"
	grep -qx "changed: player" "$HERE/idle"
}

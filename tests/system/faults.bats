# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# What a sound card does to a player: it recovers, and clients are served.

load lib

setup() {
	rotary_setup
	long_song song.flac 120
}
teardown() { rotary_teardown; }

begin_playing() {
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.3
}

plays_on() {
	local at
	at=$(field elapsed | cut -d . -f 1)
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past $((at + 1))
}

@test "an xrun is recovered from and counted" {
	begin_playing
	fault xrun
	wait_for "$DEADLINE" card_has_events xrun 1
	wait_for "$DEADLINE" card_has_events start 2
	plays_on
	mpd rtstats
	mpd rtstats | grep -iE 'xrun.*[1-9]'
	# The song goes on where it was, not from its beginning.
	[ "$(field elapsed | cut -d . -f 1)" -lt 60 ]
}

@test "ten xruns in a row" {
	begin_playing
	for i in 1 2 3 4 5 6 7 8 9 10; do
		fault xrun
		wait_for "$DEADLINE" card_has_events xrun "$i"
		wait_for "$DEADLINE" card_has_events start $((i + 1))
	done
	plays_on
}

@test "a suspend is resumed from" {
	begin_playing
	fault suspend
	wait_for "$DEADLINE" card_has_events suspend 1
	mpd status >/dev/null
	fault ""
	plays_on
}

@test "a suspend of a card that cannot resume" {
	export ROTARY_TEST_CARD_RESUME=no
	begin_playing
	fault suspend
	wait_for "$DEADLINE" card_has_events suspend 1
	mpd status >/dev/null
	fault ""
	plays_on
}

@test "a card that has gone and comes back" {
	begin_playing
	mpd "seekcur 30"
	wait_for "$DEADLINE" elapsed_past 30
	fault gone
	wait_for "$DEADLINE" card_has_events gone 1
	# Clients are served, and the position stands.
	mpd status
	wait_for "$DEADLINE" card_has_events refused 1
	[ "$(field elapsed | cut -d . -f 1)" -lt 50 ]
	wait_for "$DEADLINE" logged '[Gg]one|[Nn]o such device|[Ll]ost|[Vv]anish'
	starts=$(card_events start)
	fault ""
	wait_for "$DEADLINE" card_has_events start $((starts + 1))
	plays_on
	at=$(field elapsed | cut -d . -f 1)
	[ "$at" -ge 30 ]
	[ "$at" -lt 60 ]
}

@test "a card that is gone for good does not keep it from ending" {
	begin_playing
	fault gone
	wait_for "$DEADLINE" card_has_events gone 1
	mpd stop "add song.flac" "play 1"
	stop_rotaryd
	[ "$EXIT" = 0 ]
}

@test "a busy card is tried again, and told" {
	fault busy
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" card_has_events refused 1
	wait_for "$DEADLINE" logged '[Bb]usy|in use'
	mpd status
	fault ""
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past 0.3
}

@test "a card that stands still, and goes on" {
	begin_playing
	fault stall
	mpd status pause >/dev/null
	mpd status play >/dev/null
	fault ""
	plays_on
}

@test "a write that blocks for three seconds" {
	begin_playing
	fault block 3000
	TALK_TIMEOUT_MS=5000 mpd status ping >/dev/null
	plays_on
}

@test "a card that takes only 48000: the song is resampled" {
	export ROTARY_TEST_CARD_RATES=48000
	begin_playing
	plays_on
	grep -q 'rate=48000' "$CARD/events.log"
	real_time_was_kept
}

@test "a minute of play: no forbidden call, no page fault, no xrun" {
	begin_playing
	before=$(rt_faults)
	wait_for 120 elapsed_past 60
	# A sanitizer's own memory is nobody's promise.
	[ -n "$ROTARY_SANITIZE" ] || [ "$(rt_faults)" = "$before" ]
	real_time_was_kept
}

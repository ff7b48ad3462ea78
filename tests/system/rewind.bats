# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A card that holds half a second is heard to obey at once: what it holds is
# taken back and mixed again, never so late that it was playing already.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

# Commands of each kind, then the second song to its end.
obeys_by_rewinding() {
	flac_song a.flac 44100 16 441000
	flac_song b.flac 44100 16 132301 brownnoise
	start_rotaryd --output.rewind=yes
	mpd "add a.flac" "add b.flac" play
	wait_for "$DEADLINE" elapsed_past 0.7
	mpd "setvol 40"
	wait_for "$DEADLINE" elapsed_past 1.2
	mpd "setvol 100"
	wait_for "$DEADLINE" elapsed_past 1.7
	mpd "pause 1"
	wait_for "$DEADLINE" field_is state pause
	mpd "pause 0"
	mpd "seekcur 5"
	wait_for "$DEADLINE" elapsed_past 5.5
	mpd next
	wait_for "$DEADLINE" field_is song 1
	wait_for 60 field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	find_heard
	[ "$(card_events rewind)" -gt 0 ]
	[ "$(card_events late)" = 0 ]
	flac_raw "$MUSIC/b.flac" | tail -c $((44100 * 2 * 4)) >"$HERE/tail.raw"
	heard_ends_with "$HERE/tail.raw" s16
}

@test "commands are mixed into what the card holds" {
	obeys_by_rewinding
}

@test "the same on a card that fetches 64 frames ahead" {
	export ROTARY_TEST_CARD_FIFO_FRAMES=64
	obeys_by_rewinding
}

@test "a card that plays what was rewound is not trusted by itself" {
	export ROTARY_TEST_CARD_REWIND=no
	flac_song a.flac 44100 16 132301
	start_rotaryd
	mpd "add a.flac" play
	wait_for "$DEADLINE" elapsed_past 0.7
	mpd "setvol 40"
	mpd "setvol 100"
	wait_for "$DEADLINE" elapsed_past 1.2
	[ "$(card_events rewind)" = 0 ]
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# What reaches the card is what the reference decoder makes of the file: to the
# bit and the frame for FLAC, within a step of the card's format for Vorbis.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

# flac_is_heard FILE FORMAT [OPTION...]
flac_is_heard() {
	start_rotaryd "${@:3}"
	play_through "$1"
	flac_raw "$MUSIC/$1" >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" "$2"
	real_time_was_kept 1
}

# vorbis_is_heard TOLERANCE: on a card of $ROTARY_TEST_CARD_FORMATS.
vorbis_is_heard() {
	vorbis_song song.ogg 44100 16 100001
	start_rotaryd
	play_through song.ogg
	"$BIN/rotary_ov_raw" "$MUSIC/song.ogg" >"$HERE/reference.raw"
	# The reference itself has the length that was encoded.
	[ "$(stat -c %s "$HERE/reference.raw")" = $((100001 * 8)) ]
	heard_equals "$HERE/reference.raw" float "$1"
	real_time_was_kept 1
}

@test "FLAC, 16 bits at 44100" {
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16
	[ "$HEARD_RATE" = 44100 ]
}

@test "FLAC, 24 bits at 96000" {
	flac_song song.flac 96000 24 200003
	flac_is_heard song.flac s24_3
	[ "$HEARD_RATE" = 96000 ]
}

@test "FLAC, 32 bits at 48000" {
	flac_song song.flac 48000 32 100003
	flac_is_heard song.flac s32
	[ "$HEARD_RATE" = 48000 ]
}

@test "FLAC, 16 bits, on a card that only takes 32" {
	export ROTARY_TEST_CARD_FORMATS=S32
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16
}

@test "FLAC, 24 bits, on a card of packed samples and little buffers" {
	export ROTARY_TEST_CARD_FORMATS=S24_3
	export ROTARY_TEST_CARD_BUFFER_BYTES=1536-24576
	flac_song song.flac 96000 24 200003
	flac_is_heard song.flac s24_3
}

@test "FLAC, on a card whose position moves in periods" {
	export ROTARY_TEST_CARD_BATCH=yes
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16
}

@test "FLAC, on a card with half a second that can be taken back" {
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16 --output.rewind=yes
}

@test "status says that it is bit-perfect, and that it is not at half volume" {
	flac_song song.flac 44100 16 $((44100 * 20))
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" field_is state play
	[ -n "$(field bitperfect)" ] || skip "status has no bitperfect yet"
	wait_for "$DEADLINE" field_is bitperfect 1
	mpd "setvol 50"
	wait_for "$DEADLINE" field_is bitperfect 0
}

@test "Vorbis, on a card that takes floats" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	vorbis_is_heard 0
}

@test "Vorbis, on a card of 32 bits: within a step of 24" {
	export ROTARY_TEST_CARD_FORMATS=S32
	vorbis_is_heard 1/8388608
}

@test "Vorbis, on a card of 16 bits: within one and a half steps" {
	export ROTARY_TEST_CARD_FORMATS=S16
	vorbis_is_heard 1.5/32768
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# The test card itself, under a program that is not ours.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

@test "aplay plays a file on the test card, and it is heard to the bit" {
	[ -z "$ROTARY_SANITIZE" ] || skip "the card is built with a sanitizer"
	wav aplay 44100 16 30001
	aplay -q -D rotarytest "$CACHE/aplay.wav"
	sox "$CACHE/aplay.wav" -t raw "$HERE/reference.raw"
	find_heard
	heard_equals "$HERE/reference.raw" s16
	[ "$(card_events drained)" = 1 ]
}

@test "aplay is told when the card is busy or gone" {
	[ -z "$ROTARY_SANITIZE" ] || skip "the card is built with a sanitizer"
	wav aplay 44100 16 30001
	fault busy
	run aplay -q -D rotarytest "$CACHE/aplay.wav"
	[ "$status" -ne 0 ]
	[[ $output == *"Device or resource busy"* ]]
	fault gone
	run aplay -q -D rotarytest "$CACHE/aplay.wav"
	[ "$status" -ne 0 ]
	[[ $output == *"No such device"* ]]
}

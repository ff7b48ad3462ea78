# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# The volume made by the sound card's own mixer, or by nobody.
# $CARD/mixer is what that mixer stands at: LEFT RIGHT ON ON, in dB + 64.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

start_hardware() {
	start_rotaryd --output.mixer=hardware --output.mixer_device=rotarytest \
		"$@"
}

# set_mixer LEFT RIGHT ON ON: as alsamixer does.
set_mixer() {
	echo "$*" >"$CARD/mixer.other"
	mv "$CARD/mixer.other" "$CARD/mixer"
}

mixer_stands() {
	[ "$(cat "$CARD/mixer" 2>/dev/null)" = "$*" ]
}

mixer_fault() {
	echo "$*" >"$CARD/mixer.fault.new"
	mv "$CARD/mixer.fault.new" "$CARD/mixer.fault"
}

answered_at_once() {
	local start
	start=$(date +%s%N)
	mpd "$@" >/dev/null
	[ $((($(date +%s%N) - start) / 1000000)) -lt 500 ]
}

has_mixer() {
	mpd rtstats | grep -q "^output_mixer: rotarytest ${1:-Master}\$"
}

@test "hardware: the card's control is set, and the samples stay exact" {
	set_mixer 64 64 1 1
	flac_song song.flac 44100 16 44100
	start_hardware
	wait_for "$DEADLINE" has_mixer
	mpd "setvol 60"
	wait_for "$DEADLINE" mixer_stands 44 44 1 1
	field_is volume 60
	mpd "add song.flac" play
	wait_for "$DEADLINE" field_is bitperfect 1
	wait_for "$DEADLINE" field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	find_heard
	flac_raw "$MUSIC/song.flac" >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" s16
	mixer_stands 44 44 1 1
	real_time_was_kept 1
}

@test "hardware: 0 mutes, and more opens the switch again" {
	set_mixer 64 64 1 1
	start_hardware
	mpd "setvol 0"
	wait_for "$DEADLINE" mixer_stands 0 0 0 0
	mpd "setvol 100"
	wait_for "$DEADLINE" mixer_stands 64 64 1 1
}

@test "hardware: 100 % is 0 dB, not what a card has above it" {
	export ROTARY_TEST_MIXER_TOP_DB=20
	set_mixer 0 0 1 1
	start_hardware
	mpd "setvol 100"
	# The first wish may be what is wanted anyway.
	mpd "setvol 99" "setvol 100"
	wait_for "$DEADLINE" mixer_stands 44 44 1 1
}

@test "hardware: a control that ends below 0 dB has its top at 100 %" {
	export ROTARY_TEST_MIXER_TOP_DB=-10
	set_mixer 0 0 1 1
	start_hardware
	mpd "setvol 90"
	wait_for "$DEADLINE" mixer_stands 59 59 1 1
	mpd "setvol 100"
	wait_for "$DEADLINE" mixer_stands 64 64 1 1
}

@test "hardware: what others set is told, kept, and said to those who wait" {
	set_mixer 64 64 1 1
	start_hardware
	wait_for "$DEADLINE" has_mixer
	mpd "setvol 80"
	wait_for "$DEADLINE" mixer_stands 54 54 1 1
	"$BIN/rotary_talk" "$SOCKET" "idle mixer" >"$HERE/idle" 3>&- &
	idler=$!
	sleep 0.1
	set_mixer 34 34 1 1
	wait "$idler"
	grep -q "changed: mixer" "$HERE/idle"
	field_is volume 40
	# Muted is no volume at all.
	set_mixer 34 34 0 0
	wait_for "$DEADLINE" field_is volume 0
	set_mixer 24 24 1 1
	wait_for "$DEADLINE" field_is volume 20
	stop_rotaryd
	# The next start goes by what was wanted, not by what it finds.
	set_mixer 64 64 1 1
	start_hardware
	wait_for "$DEADLINE" mixer_stands 24 24 1 1
	field_is volume 20
}

@test "hardware: at the very first start the card's own volume stays" {
	set_mixer 14 14 1 1
	start_hardware
	wait_for "$DEADLINE" field_is volume 1
	[ ! -e "$CARD/mixer.log" ]
	mixer_stands 14 14 1 1
}

@test "hardware: set again before the first sample of a card opened anew" {
	set_mixer 64 64 1 1
	long_song song.flac 60
	start_hardware
	mpd "setvol 60" "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.3
	wait_for "$DEADLINE" mixer_stands 44 44 1 1
	"$BIN/rotary_talk" "$SOCKET" "idle output" >"$HERE/idle" 3>&- &
	idler=$!
	sleep 0.1
	mixer_fault gone
	# The mixer alone is news too: its error is in the status.
	wait "$idler"
	grep -q "changed: output" "$HERE/idle"
	[[ $(field error) == *"volume control rotarytest Master is lost"* ]]
	fault gone
	wait_for "$DEADLINE" field_is state pause
	# Another card, as loud as it goes.
	set_mixer 64 64 1 1
	: >"$CARD/mixer.log"
	rm "$CARD/mixer.fault"
	fault ""
	# A state of play is told when the card is open; it waits for the mixer.
	wait_for "$DEADLINE" card_has_events start 2
	mixer_stands 44 44 1 1
	# By the clocks of mixer and card.
	awk 'FILENAME ~ /mixer/ { if ($2 == 44) set = $1; next }
		$3 == "start" { start = $1 }
		END { print set, start; exit !(set > 0 && set < start) }' \
		"$CARD/mixer.log" "$CARD/events.log"
	logged "volume control rotarytest Master is lost"
}

@test "hardware: a control that is not there is told, and software does it" {
	flac_song song.flac 44100 16 44100 sine 441
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	export ROTARY_TEST_MIXER_CONTROL=Tone
	start_hardware --output.mixer_control=Loudness
	wait_for "$DEADLINE" logged \
		'no volume control "Loudness"; there is "Tone"; the volume is made in software'
	[[ $(field error) == *'no volume control "Loudness"; there is "Tone"'* ]]
	run "$BIN/rotary" --socket "$SOCKET" doctor
	[[ $output == *'no volume control "Loudness"; there is "Tone"'* ]]
	mpd "setvol 88"
	play_through song.flac
	python3 - "$HEARD" <<'END'
import array, math, sys
heard = array.array("f", open(sys.argv[1], "rb").read())[::2]
part = heard[10000:30000]
level = 10 * math.log10(sum(x * x for x in part) / len(part) / (0.4 ** 2 / 2))
print("heard at %.3f dB" % level)
sys.exit(abs(level + 6) > 0.05)
END
	[ ! -e "$CARD/mixer.log" ]
}

@test "hardware: none of the usual controls, then one that is named" {
	export ROTARY_TEST_MIXER_CONTROL=Tone
	set_mixer 64 64 1 1
	start_hardware
	wait_for "$DEADLINE" logged 'none of the usual volume controls; there is "Tone"'
	stop_rotaryd
	start_hardware --output.mixer_control=Tone
	wait_for "$DEADLINE" has_mixer Tone
	mpd "setvol 60"
	wait_for "$DEADLINE" mixer_stands 44 44 1 1
	[ -z "$(field error)" ]
}

@test "hardware: a mixer that hangs holds up neither music nor commands" {
	set_mixer 64 64 1 1
	flac_song song.flac 44100 16 44100
	start_hardware
	wait_for "$DEADLINE" has_mixer
	mixer_fault block
	answered_at_once "setvol 60" "setvol 50" "setvol 40" status
	mpd "add song.flac" play
	wait_for "$DEADLINE" card_has_events start 1
	wait_for "$DEADLINE" field_is state stop
	answered_at_once status
	mixer_stands 64 64 1 1
	rm "$CARD/mixer.fault"
	# Only the newest wish counts then.
	wait_for "$DEADLINE" mixer_stands 34 34 1 1
	real_time_was_kept 1
	mixer_fault block
	mpd "setvol 10"
	stop_rotaryd
	[ "$TOOK_MS" -lt 2000 ]
	[ "$EXIT" = 0 ]
}

@test "none: there is no volume, and nobody can set it" {
	flac_song song.flac 44100 16 44100
	start_rotaryd
	mpd "setvol 30"
	stop_rotaryd
	start_rotaryd --output.mixer=none
	run mpd "setvol 50"
	[[ $output == "ACK [52@0] {setvol} problems setting volume"* ]]
	run mpd "volume 5"
	[[ $output == "ACK [52@0] {volume} problems setting volume"* ]]
	run mpd getvol
	[ -z "$output" ]
	[ -z "$(field volume)" ]
	# mpc shows -1 so.
	[[ $(mpc status) == *"volume: n/a"* ]]
	play_through song.flac
	flac_raw "$MUSIC/song.flac" >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" s16
	stop_rotaryd
	# What was set before is back with the software's.
	start_rotaryd
	field_is volume 30
}

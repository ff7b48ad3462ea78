# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Several outputs: told, switched on and off by real clients, remembered; what
# the only one's being off does to the music; and what is wrong with a
# configuration of them.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

rotary() { "$BIN/rotary" --socket "$SOCKET" "$@"; }

# Three of them: the test card, a file, nothing.
three() {
	start_rotaryd "--output.Kitchen.driver=wav" \
		"--output.Kitchen.device=$HERE/kitchen.wav" \
		"--output.The Garden.driver=null" "$@"
}

# enabled NUMBER...: as mpc counts, these and no others.
enabled() {
	[ "$(mpc outputs | sed -n 's/^Output \([0-9]*\) .* is enabled$/\1/p' |
		tr '\n' ' ')" = "$*${1:+ }" ]
}

# attribute ID NAME
attribute() {
	mpd outputs | awk -v id="$1" -v name="attribute: $2=" '
		/^outputid: / { here = $2 == id }
		here && index($0, name) == 1 {
			print substr($0, length(name) + 1)
		}'
}

attribute_is() {
	[ "$(attribute "$1" "$2")" = "$3" ]
}

card_is_closed() {
	! card_is_open
}

@test "mpc lists, disables, enables and toggles them" {
	command -v mpc >/dev/null || skip "no mpc"
	three
	[ "$(mpc outputs | grep -c '^Output ')" = 3 ]
	mpc outputs | grep -qx 'Output 1 (alsa) is enabled'
	mpc outputs | grep -qx 'Output 2 (Kitchen) is enabled'
	mpc outputs | grep -qx 'Output 3 (The Garden) is enabled'
	attribute_is 1 device "$HERE/kitchen.wav"
	attribute_is 0 speech 1
	attribute_is 2 speech 0
	mpc -q disable 2
	enabled 1 3
	mpc -q disable "The Garden"
	enabled 1
	mpc -q toggleoutput 2
	mpc -q toggleoutput 1
	enabled 2
	mpc -q enable only 3
	enabled 3
	run mpc enable 9
	[ "$status" != 0 ]
	run mpd "toggleoutput 3"
	[[ $output == *'ACK [50@0] {toggleoutput} No such audio output'* ]]
}

@test "a change is told to those who are idle, once" {
	three
	mpd "idle output" >"$HERE/idle" &
	local waiter=$!
	wait_for "$DEADLINE" "$BIN/rotary_talk" "$SOCKET" ping
	# It may not wait yet: so toggled until it has heard.
	until ! kill -0 "$waiter" 2>/dev/null; do
		mpd "toggleoutput 1"
	done
	wait "$waiter"
	[ "$(cat "$HERE/idle")" = "changed: output
OK" ] || [ "$(cat "$HERE/idle")" = "changed: output" ]
}

@test "rotary lists and switches them, in JSON too" {
	three
	rotary outputs
	[ "$(rotary outputs | wc -l)" = 3 ]
	rotary outputs | grep -q "^  2  on   Kitchen  wav:$HERE/kitchen.wav"
	rotary disable Kitchen 3
	rotary outputs | grep -q '^  2  off  Kitchen'
	rotary outputs | grep -q '^  3  off  The Garden'
	rotary toggle "The Garden"
	rotary outputs | grep -q '^  3  on   The Garden'
	rotary enable Kitchen
	run rotary disable Attic
	[ "$status" = 1 ]
	[[ $output == *'there is no output "Attic"'* ]]
	command -v python3 >/dev/null || skip "no python3"
	rotary outputs --json | python3 -c '
import json, sys
outputs = json.load(sys.stdin)
assert [o["outputname"] for o in outputs] == ["alsa", "Kitchen", "The Garden"]
assert [o["outputenabled"] for o in outputs] == [1, 1, 1]
assert outputs[1]["plugin"] == "wav"'
}

@test "the only output off: the card is free, the music stands and goes on" {
	flac_song song.flac 44100 16 132300
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.6
	mpd "disableoutput 0"
	wait_for "$DEADLINE" card_is_closed
	field_is state pause
	field_is error "All audio outputs are disabled"
	local stood
	stood=$(field elapsed)
	attribute_is 0 state closed
	[ "$(field elapsed)" = "$stood" ]
	mpd "enableoutput 0"
	wait_for "$DEADLINE" field_is state play
	[ -z "$(field error)" ]
	wait_for "$DEADLINE" field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	# What was heard second is the song from where it stood, but for the
	# fade, to its last sample.
	[ "$(card_events hw_params)" -ge 2 ]
	find_heard
	awk -v stood="$stood" 'BEGIN { exit !(stood > 0.5 && stood < 2.5) }'
	local from=$(((${stood%.*} * 1000 + 10#${stood#*.}) * 441 / 10))
	flac_raw "$MUSIC/song.flac" | tail -c "+$(((from + 400) * 4 + 1))" \
		>"$HERE/rest.raw"
	heard_ends_with "$HERE/rest.raw" s16
	# And not more of it than that, and silence while the card runs dry.
	[ "$(stat -c %s "$HEARD")" -le $(((132300 - from + 4410 + 50) * 8)) ]
}

@test "the first one off: another one plays on, and has its turn back" {
	long_song song.flac 60
	three
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.5
	wait_for "$DEADLINE" attribute_is 0 state open
	attribute_is 0 clock 1
	mpd "disableoutput 0"
	wait_for "$DEADLINE" card_is_closed
	wait_for "$DEADLINE" attribute_is 1 clock 1
	field_is state play
	[ -z "$(field error)" ]
	local now
	now=$(field elapsed)
	wait_for "$DEADLINE" elapsed_past "$(awk -v t="$now" \
		'BEGIN { print t + 0.5 }')"
	# status tells of the one that plays.
	[[ $(field output_audio) == 44100:* ]]
	mpd "disableoutput 1" "disableoutput 2"
	wait_for "$DEADLINE" field_is state pause
	field_is error "All audio outputs are disabled"
	mpd "enableoutput 0"
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" attribute_is 0 clock 1
	wait_for "$DEADLINE" card_is_open
}

# figure NAME: of the only follower.
figure() {
	mpd rtstats | sed -n "s/^follower_$1: //p"
}

lag_is_near() {
	awk -v lag="$(figure lag_us)" -v wanted="$(figure wanted_lag_us)" \
		'BEGIN { exit !(lag != "" && wanted >= 40000 &&
			wanted <= 100000 && lag > wanted - 40000 &&
			lag < wanted + 40000) }'
}

# The card gives nothing back, so the clock mixes 12 ms ahead, and no more.
@test "rtstats tells how far those lag who follow" {
	long_song song.flac 60
	start_rotaryd "--output.Kitchen.driver=null"
	[ -z "$(figure lag_us)" ]
	mpd "add song.flac" play
	wait_for "$DEADLINE" lag_is_near
	mpd rtstats | grep -qx 'follower: Kitchen'
	[ "$(figure dropped_frames)" = 0 ]
	[ "$(mpd rtstats | grep -c '^thread: output')" = 2 ]
	# Who makes the mix does not follow.
	mpd "disableoutput 0"
	wait_for "$DEADLINE" attribute_is 1 clock 1
	[ -z "$(figure lag_us)" ]
}

hang_all_cards() {
	local i
	for i in 0 1 2 3 4 5 6 7; do
		echo "block 30000" >"$HERE/card$i/fault.new"
		mv "$HERE/card$i/fault.new" "$HERE/card$i/fault"
	done
}

eight_cards() {
	local i options=()
	for i in 1 2 3 4 5 6 7; do
		options+=("--output.Room $i.driver=alsa"
			"--output.Room $i.device=rotarytest:DIR=$HERE/card$i")
	done
	start_rotaryd --output "alsa:rotarytest:DIR=$HERE/card0" "${options[@]}"
}

all_cards_hang() {
	[ "$(cat "$HERE"/card?/events.log | grep -c ' block ms=')" = 8 ]
}

# Each is waited for by itself 200 ms, so that one after the other they need
# eight times that, at least. A machine that is slow is so not three times.
# ThreadSanitizer makes it slow for as long as it is asked.
@test "eight cards that hang are waited for together at the end" {
	local i took
	[ "$ROTARY_SANITIZE" != thread ] || skip "eight cards are too many for it"
	long_song song.flac 60
	for i in 0 1 2 3 4 5 6 7; do
		mkdir -p "$HERE/card$i"
	done
	for took in first second third; do
		rm -f "$HERE"/card?/*
		eight_cards
		[ "$took" != first ] || mpd "add song.flac"
		mpd play
		wait_for "$DEADLINE" elapsed_past 0.3
		wait_for "$DEADLINE" all_are_open
		hang_all_cards
		wait_for "$DEADLINE" all_cards_hang
		stop_rotaryd
		[ "$EXIT" = 0 ]
		echo "# eight cards hang: ended after $TOOK_MS ms" >&3
		[ "$TOOK_MS" -ge 1600 ] || return 0
	done
	return 1
}

all_are_open() {
	[ "$(mpd outputs | grep -c '^attribute: state=open$')" = 8 ]
}

# As alsamixer does: LEFT RIGHT ON ON, in dB + 64.
set_mixer() {
	echo "$*" >"$CARD/mixer.other"
	mv "$CARD/mixer.other" "$CARD/mixer"
}

mixer_stands() {
	[ "$(cat "$CARD/mixer" 2>/dev/null)" = "$*" ]
}

@test "each card gets the volume by its own mixer, the clock's is told" {
	long_song song.flac 60
	set_mixer 64 64 1 1
	start_rotaryd --output null --output.Card.driver=alsa \
		--output.Card.device=rotarytest --output.Card.mixer=hardware \
		--output.Card.mixer_device=rotarytest
	mpd "setvol 60" "add song.flac" play
	wait_for "$DEADLINE" mixer_stands 44 44 1 1
	wait_for "$DEADLINE" attribute_is 1 state open
	# The clock makes it in its samples.
	field_is bitperfect 0
	# What others do to a follower is not the volume of all.
	set_mixer 34 34 1 1
	mpd "setvol 70"
	wait_for "$DEADLINE" mixer_stands 49 49 1 1
	field_is volume 70
	mpd "disableoutput 0"
	wait_for "$DEADLINE" attribute_is 1 clock 1
	wait_for "$DEADLINE" field_is bitperfect 1
	field_is volume 70
	set_mixer 34 34 1 1
	wait_for "$DEADLINE" field_is volume 40
}

@test "what is off is off again after a kill -9, by its name" {
	command -v python3 >/dev/null || skip "no python3"
	three
	mpd "disableoutput 1" "disableoutput 0"
	# Changes are in the file within a second.
	wait_for "$DEADLINE" saved_off Kitchen alsa 2>/dev/null
	crash_rotaryd
	three
	enabled 3
	logged 'Kitchen is off, as it was left'
	mpd "enableoutput 0"
	stop_rotaryd
	# Another name is another output; the order is no matter.
	start_rotaryd "--output.The Garden.driver=null" \
		"--output.Cellar.driver=null" \
		"--output.Kitchen.driver=wav" \
		"--output.Kitchen.device=$HERE/kitchen.wav"
	enabled 1 2 3
	mpc outputs | grep -qx 'Output 4 (Kitchen) is disabled'
}

saved_off() {
	python3 - "$STATE/state.db" "$@" <<-'END'
		import sqlite3, sys
		rows = dict(sqlite3.connect(sys.argv[1]).execute(
		    "SELECT name, enabled FROM output"))
		sys.exit(any(rows.get(name) != 0 for name in sys.argv[2:]))
	END
}

@test "a song that plays when all are off plays on after a restart" {
	long_song song.flac 60
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 1
	mpd "disableoutput 0"
	stop_rotaryd
	start_rotaryd
	wait_for "$DEADLINE" field_is state pause
	field_is error "All audio outputs are disabled"
	mpd "enableoutput 0"
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past 1.5
}

# complains TEXT...: of this configuration, with its file.
complains() {
	local text
	run "$BIN/rotaryd" --config "$HERE/rotary.conf" --check-config
	[ "$status" = 2 ]
	for text in "$HERE/rotary.conf:" "$@"; do
		[[ $output == *"$text"* ]] || {
			echo "no \"$text\" in: $output"
			return 1
		}
	done
}

@test "what is wrong with a configuration of outputs is told with its line" {
	cat >"$HERE/rotary.conf" <<-'END'
		[output]
		driver = alsa
		device = hw:0
		[output Kitchen]
		driver = pipe
		[output Garden]
		driver = alsa
		device = hw:0
	END
	complains ":6:" "[output Garden] and [output] have the same device"
	sed -i 's/Garden/Kitchen/' "$HERE/rotary.conf"
	complains ":6:" "[output Kitchen] begins a second time"
	sed -i '6s/.*/[output Garden]/; 8s/.*/volume = 3/' "$HERE/rotary.conf"
	complains ":8:" "there is no option output.volume"
	sed -i '8s/.*/rate = fast/' "$HERE/rotary.conf"
	complains ":8:" "output Garden.rate must be follow"
	sed -i '8s/.*/device = hw:1/' "$HERE/rotary.conf"
	run "$BIN/rotaryd" --config "$HERE/rotary.conf" --check-config
	[ "$status" = 0 ]
	[[ $output == *"output: alsa:hw:0
output Kitchen: pipe
output Garden: alsa:hw:1"* ]]
	# What is named may be plugged in later.
	start_rotaryd --output=auto --output.device=rotarytest
	mpd outputs | grep -qx 'plugin: alsa'
	stop_rotaryd
	local i
	for i in 1 2 3 4 5 6; do
		printf '[output %s]\ndriver = null\n' $i
	done >>"$HERE/rotary.conf"
	complains ":19:" "there may be 7 further sections"
}

@test "rotary doctor looks at each of them" {
	three
	mpd "disableoutput 2"
	run rotary doctor
	[[ $output == *"alsa is on"* ]]
	[[ $output == *"Kitchen is on"* ]]
	[[ $output == *"The Garden is off"* ]]
	mpd "disableoutput 0" "disableoutput 1"
	run rotary doctor
	[ "$status" = 1 ]
	[[ $output == *"no output is on, so nothing is heard"* ]]
}

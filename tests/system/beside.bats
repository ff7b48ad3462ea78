# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Outputs beside each other: what becomes of one is nothing to the others. Three
# test cards play a song that tells, frame by frame, what was heard of it: the
# first one is the clock and hears it unchanged, the others follow it.

load lib

setup() {
	command -v python3 >/dev/null || skip "no python3"
	rotary_setup
	mkdir "$HERE/one" "$HERE/two" "$HERE/three"
	: >"$HERE/one/events.log"
	: >"$HERE/two/events.log"
	: >"$HERE/three/events.log"
	export ROTARY_TEST_CARD_FORMATS=S16
	flac_song song.flac 44100 16 $((44100 * 30)) sine 441 whitenoise
	flac_raw "$MUSIC/song.flac" >"$HERE/song.raw"
}
teardown() { rotary_teardown; }

beside() {
	python3 "$BATS_TEST_DIRNAME/beside.py" "$@"
}

# start_three [OPTION...]: cards one, two and three.
start_three() {
	start_rotaryd --output "alsa:rotarytest:DIR=$HERE/one" \
		--output.rewind=yes \
		--output.Two.driver=alsa --output.Two.rewind=yes \
		"--output.Two.device=rotarytest:DIR=$HERE/two" \
		--output.Three.driver=alsa --output.Three.rewind=yes \
		"--output.Three.device=rotarytest:DIR=$HERE/three" "$@"
}

# events CARD KIND
events() {
	grep -cE "^[0-9.]+ [0-9]+ $2" "$HERE/$1/events.log" || :
}

has_events() {
	[ "$(events "$1" "$2")" -ge "$3" ]
}

# fault_of CARD WORDS
fault_of() {
	echo "${*:2}" >"$HERE/$1/fault.new"
	mv "$HERE/$1/fault.new" "$HERE/$1/fault"
}

plays() {
	mpd outputs | awk -v id="$1" '/^outputid: / { here = $2 == id }
		here && /^attribute: state=open$/ { found = 1 }
		END { exit !found }'
}

clock_is() {
	mpd outputs | awk -v id="$1" '/^outputid: / { here = $2 == id }
		here && /^attribute: clock=1$/ { found = 1 }
		END { exit !found }'
}

all_play() {
	plays 0 && plays 1 && plays 2
}

play_on_three() {
	start_three "$@"
	mpd "add song.flac" play
	wait_for "$DEADLINE" all_play
	wait_for "$DEADLINE" elapsed_past 0.7
}

plays_for() {
	local until
	until=$(awk -v now="$(field elapsed)" -v more="$1" \
		'BEGIN { print now + more }')
	wait_for "$DEADLINE" elapsed_past "$until"
}

# A hundred clients' worth of questions: mostly within 50 ms each.
answers_soon() {
	python3 - "$SOCKET" <<'END'
import socket, statistics, sys, time
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
lines, took = client.makefile("r"), []
lines.readline()
for i in range(100):
    asked = time.monotonic()
    client.sendall(b"status\n")
    while lines.readline() != "OK\n":
        pass
    took.append(time.monotonic() - asked)
    time.sleep(0.01)
print(f"answered within {max(took) * 1000:.1f} ms, mostly {statistics.median(took) * 1000:.1f}")
sys.exit(statistics.median(took) > 0.05)
END
}

# untroubled CARD...: none ran dry while it played.
untroubled() {
	local card
	for card; do
		if grep -qE '^[0-9.]+ [0-9]+ lost' "$HERE/$card/events.log"; then
			echo "card $card itself was late: this proves nothing"
			return 1
		fi
		if may_be_late && has_events "$card" xrun 1; then
			skip "card $card starved under ThreadSanitizer"
		fi
		[ "$(events "$card" xrun)" = 0 ]
		[ "$(events "$card" late)" = 0 ]
		[ "$(events "$card" start)" = 1 ]
	done
}

# The third is in trouble, the others hear nothing of it.
others_play_on() {
	answers_soon
	plays_for 1.5
	untroubled one two
	stop_rotaryd
	beside whole "$HERE/one" "$HERE/song.raw"
	beside smooth "$HERE/two" 441
}

@test "three outputs play the same, unchanged and without a step" {
	play_on_three
	plays_for 2
	untroubled one two three
	told=$(mpd rtstats | sed -n 's/^follower_lag_us: //p' | head -n 1)
	stop_rotaryd
	beside whole "$HERE/one" "$HERE/song.raw"
	beside smooth "$HERE/two" 441 13107
	beside smooth "$HERE/three" 441 13107
	# They began together, but for the time that it takes to wake them, and
	# are as far from each other as is told. Both are before their limiters.
	beside behind "$HERE/one" "$HERE/two" "$HERE/song.raw" "$told" >&3
}

# What the first one takes back for it, the others do.
@test "a pause is heard by all, and the song goes on by all" {
	play_on_three
	for i in 1 2 3; do
		mpd "pause 1"
		wait_for "$DEADLINE" field_is state pause
		mpd "pause 0"
		plays_for 0.5
	done
	stop_rotaryd
	beside faded "$HERE/one" 441
	beside faded "$HERE/two" 441
	beside faded "$HERE/three" 441
}

@test "one hangs for 30 seconds: the others play on" {
	play_on_three
	fault_of three block 30000
	wait_for "$DEADLINE" has_events three block 1
	others_play_on
}

@test "one stands still: the others play on" {
	play_on_three
	fault_of three stall
	wait_for "$DEADLINE" has_events three fault 1
	others_play_on
}

@test "one is pulled out: the others play on, and it plays again when it is back" {
	play_on_three
	fault_of three gone
	wait_for "$DEADLINE" has_events three gone 1
	answers_soon
	plays 0 && plays 1
	fault_of three
	wait_for "$DEADLINE" has_events three start 2
	others_play_on
}

@test "one is in use elsewhere: the others play, and it does when it is free" {
	fault_of three busy
	start_three
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.7
	has_events three refused 1
	answers_soon
	plays 0 && plays 1
	fault_of three
	wait_for "$DEADLINE" has_events three start 1
	others_play_on
	beside smooth "$HERE/three" 441
}

@test "one runs dry again and again: the others play on" {
	play_on_three
	for i in 1 2 3; do
		fault_of three xrun
		wait_for "$DEADLINE" has_events three xrun "$i"
	done
	wait_for "$DEADLINE" logged 'output 2: the card ran dry'
	others_play_on
}

@test "the clock hangs: the next one goes on with the song, the third with that" {
	play_on_three
	fault_of one block 30000
	wait_for "$DEADLINE" has_events one block 1
	answers_soon
	wait_for "$DEADLINE" logged 'Two takes over from alsa'
	wait_for "$DEADLINE" plays 1
	plays_for 2
	stop_rotaryd
	beside whole "$HERE/one:1" "$HERE/song.raw"
	beside part "$HERE/two" "$HERE/song.raw"
	beside faded "$HERE/three" 441
}

@test "the clock is pulled out: the next one goes on with the song" {
	play_on_three
	fault_of one gone
	wait_for "$DEADLINE" has_events one gone 1
	answers_soon
	wait_for "$DEADLINE" logged 'Two takes over from alsa'
	wait_for "$DEADLINE" plays 1
	plays_for 2
	fault_of one
	wait_for "$DEADLINE" has_events one start 2
	clock_is 1
	stop_rotaryd
	beside part "$HERE/two" "$HERE/song.raw"
}

say_something() {
	local i
	mpd commands | grep -qx 'command: chime' || skip "there are no chimes yet"
	for i in 1 2 3 4; do
		mpd "chime ok"
		plays_for 0.3
	done
}

@test "who is to hear music alone hears it unchanged, whatever is said" {
	play_on_three --output.Two.speech=yes --output.Three.speech=no
	say_something
	stop_rotaryd
	beside smooth "$HERE/three" 441 13107
	# The others heard something else than the song.
	run ! beside whole "$HERE/one" "$HERE/song.raw"
	run ! beside smooth "$HERE/two" 441 13107
}

@test "the clock hears music alone, bit by bit, while another one hears all" {
	play_on_three --output.speech=no --output.Two.speech=yes
	say_something
	untroubled one
	stop_rotaryd
	beside whole "$HERE/one" "$HERE/song.raw"
	beside smooth "$HERE/three" 441 13107
	run ! beside smooth "$HERE/two" 441 13107
}

opens_of() {
	events "$1" hw_params
}

@test "one switched on after a change of rate hears the song at its pitch" {
	flac_song before.flac 48000 16 24000 sine 441 whitenoise
	start_three
	mpd "disableoutput 1" "disableoutput 2" "add before.flac" \
		"add song.flac" play
	wait_for "$DEADLINE" field_is song 1
	wait_for "$DEADLINE" elapsed_past 0.5
	mpd "enableoutput 1"
	wait_for "$DEADLINE" plays 1
	plays_for 1
	stop_rotaryd
	beside smooth "$HERE/two" 441
}

@test "switched off and on while they play: each is opened once for it" {
	local i before
	play_on_three
	for i in 1 2 3 4 5 6; do
		before=$(opens_of two)
		mpd "disableoutput 1"
		plays_for "0.$i"
		mpd "enableoutput 1"
		wait_for "$DEADLINE" plays 1
		plays_for 0.1
		[ "$(opens_of two)" -le $((before + 1)) ]
	done
	untroubled one three
	# The first one: another takes over, and it follows when it is back.
	before=$(opens_of one)
	mpd "disableoutput 0"
	wait_for "$DEADLINE" clock_is 1
	wait_for "$DEADLINE" plays 1
	plays_for 0.2
	mpd "enableoutput 0"
	wait_for "$DEADLINE" plays 0
	plays_for 0.5
	[ "$(opens_of one)" = $((before + 1)) ]
	# All of them, in any order and at once.
	mpd "disableoutput 0" "disableoutput 1" "disableoutput 2"
	wait_for "$DEADLINE" field_is state pause
	field_is error "All audio outputs are disabled"
	mpd "enableoutput 2" "enableoutput 0" "enableoutput 1"
	wait_for "$DEADLINE" field_is state play
	[ -z "$(field error)" ]
	wait_for "$DEADLINE" all_play
	plays_for 0.5
	for i in 0 1 2 1 0 2 0 1 2; do
		mpd "toggleoutput $i" "toggleoutput $i"
	done
	wait_for "$DEADLINE" all_play
	plays_for 0.5
	field_is state play
	stop_rotaryd
	[ "$EXIT" = 0 ]
	beside part "$HERE/one" "$HERE/song.raw"
}

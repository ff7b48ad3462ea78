# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# What cards are like that are no fault's victim: they take no format of ours,
# their clock stands or runs by its own measure, they mute when they begin, or
# pop when they end. What is heard is the song all the same, each frame once.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

# noise SECONDS: song.flac, and song.raw with what it holds.
noise() {
	flac_song song.flac 48000 16 $((48000 * $1))
	flac_raw "$MUSIC/song.flac" >"$HERE/song.raw"
}

play_on_small_samples() {
	export ROTARY_TEST_CARD_FORMATS=S16
	start_rotaryd "$@"
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.3
}

song_ends() {
	wait_for "$DEADLINE" field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	find_heard
	heard_equals "$HERE/song.raw" s16
}

@test "a card whose format we have not: told, and tried again until it has" {
	noise 3
	echo "formats U8" >"$CARD/params"
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" logged 'cannot use the sound card'
	[ "$(card_events start)" = 0 ]
	mpd status | grep '^error: .*cannot use the sound card'
	mpd ping
	opens=$(card_events open)
	wait_for "$DEADLINE" card_has_events open $((opens + 1))
	# Said once, not each time.
	[ "$(grep -c 'cannot use the sound card' "$LOG")" = 1 ]
	echo "formats S16" >"$CARD/params"
	song_ends
}

@test "a card whose clock stands, and goes on: nothing is lost or repeated" {
	noise 3
	play_on_small_samples
	fault stall
	# No further than what it held, however long that takes: a longer wait
	# can only fail more surely.
	before=$(field elapsed)
	for i in 1 2 3 4 5; do
		sleep 0.1
		mpd status ping >/dev/null
	done
	field_is state play
	awk -v before="$before" -v now="$(field elapsed)" \
		'BEGIN { exit !(now < before + 0.15) }'
	fault ""
	song_ends
}

# Asks for the position a few times, and fails where it is off by more than a
# period, 20 ms. The card's own is known from its log: frames since its start,
# at its own pace, as they were before the question and after the answer: a busy
# machine only widens what is right.
position_follows() {
	python3 - "$SOCKET" "$CARD/events.log" "$1" <<'END'
import re, socket, sys, time
PERIOD = 0.02
log = open(sys.argv[2]).read()
start = float(re.search(r"^([0-9.]+) [0-9]+ start heard=0$", log, re.M)[1])
ppm = int(sys.argv[3])
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
lines = client.makefile("r")
lines.readline()

def card_at():
    return (time.monotonic() - start) * (1 + ppm / 1e6)

def elapsed():
    client.sendall(b"status\n")
    found = None
    for line in lines:
        if line.startswith("elapsed: "):
            found = float(line.split()[1])
        if line == "OK\n":
            return found

off = []
for i in range(20):
    before = card_at()
    now = elapsed()
    after = card_at()
    print(f"{before:.4f} {now:.3f} {after:.4f}")
    off.append(max(before - now, now - after, 0))
    time.sleep(0.02)
sys.exit(f"off by {max(off):.3f} s" if max(off) > PERIOD else 0)
END
}

drifts() {
	noise 8
	export ROTARY_TEST_CARD_PPM=$1
	play_on_small_samples
	wait_for "$DEADLINE" elapsed_past 6
	# Time alone would be off by three periods.
	position_follows "$1"
	song_ends
}

@test "a clock that is fast by a hundredth: the position follows it" {
	drifts 10000
}

@test "a clock that is slow by a hundredth: the position follows it" {
	drifts -10000
}

heard_seconds() {
	[ "$(stat -L -c %s "$CARD/heard.raw")" -ge $((48000 * 4 * $1)) ]
}

@test "keep_open: between songs there is silence, and the card goes on" {
	noise 2
	play_on_small_samples --output.keep_open=yes
	wait_for "$DEADLINE" field_is state stop
	# A card that is let run dry never comes so far.
	wait_for "$DEADLINE" heard_seconds 3
	mpd "play 0"
	wait_for "$DEADLINE" elapsed_past 0.3
	wait_for "$DEADLINE" field_is state stop
	[ "$(card_events open)" = 1 ]
	[ "$(card_events start)" = 1 ]
	[ "$(card_events xrun)" = 0 ]
	[ "$(card_events drop)" = 0 ]
	stop_rotaryd
	find_heard
	python3 - "$HEARD" "$HERE/song.raw" <<'END'
import sys
heard, song = (open(path, "rb").read() for path in sys.argv[1:])
parts = heard.split(song)
print([len(part) // 4 for part in parts])
assert len(parts) == 3 and not any(b"".join(parts)) and parts[1]
END
}

@test "settle_ms: silence before the first frame, and again at a new rate" {
	noise 2
	flac_song other.flac 44100 16 88200
	flac_raw "$MUSIC/other.flac" >"$HERE/other.raw"
	play_on_small_samples --output.settle_ms=300
	mpd "add other.flac"
	wait_for "$DEADLINE" field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	stop_rotaryd
	python3 - "$CARD" "$HERE/song.raw" 48000 "$HERE/other.raw" 44100 <<'END'
import sys
for number, path, rate in (1, *sys.argv[2:4]), (2, *sys.argv[4:6]):
    heard = open(f"{sys.argv[1]}/heard.{number}.raw", "rb").read()
    song = open(path, "rb").read()
    before, found, after = heard.partition(song)
    print(len(before) // 4, "frames before, of", int(rate) * 3 // 10)
    assert found and not any(before + after)
    assert len(before) // 4 >= int(rate) * 3 // 10
END
}

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

# A song of noise, so that any 64 frames of it tell where they are from, and
# a card of 16 bits.
play_noise() {
	flac_song noise.flac 48000 16 $((48000 * 40))
	flac_raw "$MUSIC/noise.flac" >"$HERE/song.raw"
	export ROTARY_TEST_CARD_FORMATS=S16
	start_rotaryd
	mpd "add noise.flac" play
	wait_for "$DEADLINE" elapsed_past 0.3
}

# joins EVENT: what was heard is cut at the card's EVENTs; each part is of the
# song without a break, and the next goes on where it ended, but for 10 ms of a
# busy machine, and for 1 ms mostly. A part may begin and end with a fade.
joins() {
	python3 - "$CARD" "$HERE/song.raw" "$1" <<'END'
import pathlib, re, statistics, sys
FRAME, FADE, KEY, RATE = 4, 300, 64, 48000
card, song = pathlib.Path(sys.argv[1]), open(sys.argv[2], "rb").read()
cuts = re.findall(rf"^[0-9.]+ ([0-9]+) {sys.argv[3]} heard=([0-9]+)",
                  (card / "events.log").read_text(), re.M)
parts = []
for path in sorted(card.glob("heard.[0-9]*.raw"), key=lambda p: int(p.name.split(".")[1])):
    heard, number = path.read_bytes(), path.name.split(".")[1]
    ends = [int(end) * FRAME for n, end in cuts if n == number] + [len(heard)]
    for start, end in zip([0] + ends, ends):
        part = heard[start:end].rstrip(b"\0")
        part = part.ljust(-(-len(part) // FRAME) * FRAME, b"\0")
        if len(part) < (2 * FADE + KEY) * FRAME:
            continue
        steady = part[FADE * FRAME:-FADE * FRAME]
        at = song.find(steady)
        if at < 0 or at % FRAME:
            sys.exit(f"{path.name} from {start // FRAME}: not the song without a break")
        parts.append((at // FRAME - FADE, (at + len(steady)) // FRAME + FADE))
skips = [b[0] - a[1] for a, b in zip(parts, parts[1:])]
print("skips:", skips)
if not skips or max(map(abs, skips)) > RATE // 100:
    sys.exit("frames were lost or repeated")
if abs(statistics.median(skips)) > RATE // 1000:
    sys.exit("frames are lost or repeated each time")
END
}

@test "ten xruns in a row: it goes on where it was, each time" {
	play_noise
	for i in 1 2 3 4 5 6 7 8 9 10; do
		fault xrun
		wait_for "$DEADLINE" card_has_events xrun "$i"
		wait_for "$DEADLINE" card_has_events start $((i + 1))
		at=$(field elapsed)
		wait_for "$DEADLINE" elapsed_past \
			"$(awk -v at="$at" 'BEGIN { print at + 0.2 }')"
	done
	stop_rotaryd
	joins xrun
}

# The thread in the card is given up after some 3 s, with its card; another
# begins where that had come to.
@test "a write that blocks for 30 seconds: another thread takes its place" {
	play_noise
	fault block 30000
	wait_for "$DEADLINE" card_has_events block 1
	began=$SECONDS
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
    time.sleep(0.03)
print(f"answered within {max(took) * 1000:.1f} ms, mostly {statistics.median(took) * 1000:.1f}")
sys.exit(statistics.median(took) > 0.05)
END
	fault ""
	wait_for "$DEADLINE" logged 'another takes its place'
	wait_for "$DEADLINE" card_has_events start 2
	plays_on
	[ $((SECONDS - began)) -lt 30 ]
	stop_rotaryd
	[ "$EXIT" = 0 ]
	joins none
}

suspends_and_goes_on() {
	play_noise
	for i in 1 2 3; do
		fault suspend
		wait_for "$DEADLINE" card_has_events suspend "$i"
		mpd status >/dev/null
		fault ""
		plays_on
	done
	stop_rotaryd
	joins suspend
}

@test "a suspend is resumed from where it was" {
	suspends_and_goes_on
}

@test "a suspend of a card that cannot resume: on from where it was" {
	export ROTARY_TEST_CARD_RESUME=no
	suspends_and_goes_on
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
	# A sanitizer's own memory, and its time, are nobody's promise.
	[ -z "$ROTARY_SANITIZE" ] || skip "a sanitizer faults and is late itself"
	begin_playing
	before=$(rt_faults)
	wait_for 120 elapsed_past 60
	[ "$(rt_faults)" = "$before" ]
	real_time_was_kept
}

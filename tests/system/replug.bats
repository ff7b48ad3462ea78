# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A card that is pulled out and put back, again and again. ROTARY_REPLUGS is how
# often (default 5).
#
# The song is noise, so that any 64 frames of it tell where they are from. What
# the card held when it went was not heard, and must be played anew; what was
# heard must not be. A player can but reckon how far a card came that has gone:
# by the clock, up to the moment at which it heard of it. So each join may skip
# what the card would have played in that time (its log tells how long it was),
# and that time must be short.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

now_s() {
	python3 -c 'import time; print(time.monotonic())'
}

# Tells each join, and fails on a bad one; $HERE/plugged: when the card came back.
judge_joins() {
	python3 - "$CARD" "$HERE" "$1" <<'END'
import pathlib, re, statistics, sys
FRAME, FADE, KEY, RATE = 4, 300, 64, 48000
SLACK = RATE // 100  # from hearing of it to reckoning, on a busy machine
card, here, rounds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
song = (here / "song.raw").read_bytes()
bad = []

def times(kind):
    found = re.findall(rf"^([0-9.]+) [0-9]+ {kind}", (card / "events.log").read_text(), re.M)
    return [float(t) for t in found]

def place(data):
    at = song.find(data)
    if at < 0 or at % FRAME:
        sys.exit("what is no part of the song was heard")
    return at // FRAME

# Where in the song each set-up began and ended; the last fades out.
parts = []
for path in sorted(card.glob("heard.[0-9]*.raw"), key=lambda p: int(p.name.split(".")[1])):
    heard = path.read_bytes().rstrip(b"\0")
    if not heard:
        continue
    count = -(-len(heard) // FRAME)
    heard = heard.ljust(count * FRAME, b"\0")
    start = place(heard[FADE * FRAME:(FADE + KEY) * FRAME]) - FADE
    steady = heard[FADE * FRAME:]
    if len(parts) == rounds:
        steady = steady[:-FADE * FRAME]
    if not song.startswith(steady, (start + FADE) * FRAME):
        bad.append(f"{path.name} is not the song without a break")
    parts.append((start, start + count))
if len(parts) != rounds + 1:
    sys.exit(f"{len(parts)} set-ups were heard")

late = [b - a for a, b in zip(times("fault gone"), times("gone"))]
plugged = [float(t) for t in (here / "plugged").read_text().split()]
back = [min(t for t in times("start") if t > p) - p for p in plugged]
skips = [b[0] - a[1] for a, b in zip(parts, parts[1:])]
for skip, wait, silent in zip(skips, late, back):
    print(f"skipped {skip}, noticed after {wait * 1000:.2f} ms, back after {silent:.3f} s")
    if not -1 <= skip <= wait * RATE + SLACK:
        bad.append(f"a join skips {skip} frames")
# A machine may be too busy now and then, not most of the time.
if statistics.median(skips) > SLACK:
    bad.append("the loss is noticed late")
if statistics.median(back) > 1:
    bad.append("it takes more than 1 s to go on")
if len(late) != rounds or bad:
    sys.exit("\n".join(bad) or "not each loss was noticed")
END
}

@test "each time it goes on where it was" {
	local rounds=${ROTARY_REPLUGS:-5}
	export ROTARY_TEST_CARD_FORMATS=S16
	flac_song song.flac 48000 16 $((48000 * (20 + rounds)))
	flac_raw "$MUSIC/song.flac" >"$HERE/song.raw"
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.3
	for ((i = 1; i <= rounds; i++)); do
		starts=$(card_events start)
		fault gone
		wait_for "$DEADLINE" card_has_events gone "$i"
		# Open for a moment more, it may not live to see the next word.
		wait_for "$DEADLINE" card_has_events close "$i"
		now_s >>"$HERE/plugged"
		fault ""
		wait_for "$DEADLINE" card_has_events start $((starts + 1))
		at=$(field elapsed)
		wait_for "$DEADLINE" elapsed_past \
			"$(awk -v at="$at" 'BEGIN { print at + 0.3 }')"
	done
	stop_rotaryd
	judge_joins "$rounds"
}

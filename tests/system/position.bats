# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Where a song is said to be is where it is heard, after all that stops a card:
# what was heard when is told by the samples, not by the card's count, which
# has silence in it and says nothing of the time for which the card stood.

load lib

setup() {
	rotary_setup
	export ROTARY_STALL_SWITCH=$HERE/switch ROTARY_STALL_PATH=$MUSIC/share
	export ROTARY_TEST_CARD_FORMATS=S16
	mkdir -p "$MUSIC/share"
	FOLLOWER=
	flac_song share/noise.flac 96000 16 $((96000 * 20))
	flac_raw "$MUSIC/share/noise.flac" >"$HERE/song.raw"
}

teardown() {
	rm -f "$HERE/switch"
	[ -z "$FOLLOWER" ] || kill "$FOLLOWER" 2>/dev/null || :
	[ -z "$PID" ] || kill -CONT "$PID" 2>/dev/null || :
	rotary_teardown
}

# Asks where the song is until $HERE/followed is there, but not for ever.
follow() {
	timeout 60 python3 - "$SOCKET" "$HERE/followed" >"$HERE/answers" 2>&1 3>&- <<'END' &
import os, socket, sys, time
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
lines = client.makefile("r")
lines.readline()
while not os.path.exists(sys.argv[2]):
    before, elapsed = time.monotonic(), None
    client.sendall(b"status\n")
    for line in lines:
        if line.startswith("elapsed: "):
            elapsed = line.split()[1]
        if line == "OK\n":
            break
    print(before, time.monotonic(), elapsed, flush=True)
    time.sleep(0.02)
END
	FOLLOWER=$!
}

# Each answer against the samples that were heard while it was given.
position_is_what_is_heard() {
	touch "$HERE/followed"
	wait "$FOLLOWER"
	FOLLOWER=
	stop_rotaryd
	python3 - "$CARD" "$HERE" <<'END'
import pathlib, re, sys
FRAME, KEY, RATE = 4, 32, 96000
card, here = map(pathlib.Path, sys.argv[1:])
song, heard = (here / "song.raw").read_bytes(), (card / "heard.raw").read_bytes()
log = (card / "events.log").read_text()
period = int(re.findall(r" period=(\d+) ", log)[-1])
runs, began = [], None
for time, kind, at in re.findall(r"^([0-9.]+) \d+ (start|xrun|drop) heard=(\d+)", log, re.M):
    if kind == "start":
        began = float(time), int(at)
    elif began:
        runs.append((*began, float(time), int(at)))
        began = None

# Noise: two frames of it are found once, or hardly more.
places = {song[i:i + 2 * FRAME]: i // FRAME for i in range(0, len(song), FRAME)}

def find(key):
    at = places.get(key[:2 * FRAME])
    return at if at is not None and song.startswith(key, at * FRAME) else None

def song_frame(time):
    """Of the song, heard at that time; None: silence or a fade."""
    for start, first, end, last in runs:
        if start <= time < end:
            at = first + int((time - start) * RATE)
            key = heard[(at - KEY) * FRAME:at * FRAME]
            if at >= last or at < KEY:
                return None
            found = find(key)
            return None if found is None else found + KEY
    return None

def joint(at, step):
    """(song frame, frames sounding that far from a run's edge) next to it."""
    sounding = 0
    for i in range(RATE // 2):
        place = at + i * step if step > 0 else at - KEY - i
        key = heard[place * FRAME:(place + KEY) * FRAME]
        edge = place if step > 0 else place + KEY - 1
        if key.count(0) < len(key) // 2:
            found = find(key)
            if found is not None:
                return found + (0 if step > 0 else KEY), sounding
        sounding += any(heard[edge * FRAME:(edge + 1) * FRAME])
    sys.exit(f"nothing of the song near {at}")

# A run goes on where the one before it ended, but for what a busy machine
# takes to see that a card has stopped.
skips = []
for one, next_one in zip(runs, runs[1:]):
    (left, fade_out), (taken, fade_in) = joint(one[3], -1), joint(next_one[1], 1)
    skips.append(taken - fade_in - left - fade_out)
print("# frames lost from run to run:", skips)
if max(map(abs, skips)) > RATE // 100:
    sys.exit("frames were lost or repeated")

if len(runs) < 2:
    sys.exit("the card never stopped")
worst, count, after = 0, 0, 0
for line in (here / "answers").read_text().splitlines():
    before, now, elapsed = line.split()
    if elapsed == "None" or float(now) - float(before) > 0.05:
        continue
    frames = [song_frame(float(before)), song_frame(float(now))]
    if None in frames:
        continue
    said = float(elapsed) * RATE
    # Told in milliseconds.
    off = max(frames[0] - said - RATE / 1000, said - RATE / 1000 - frames[1], 0)
    worst, count = max(worst, off), count + 1
    after += float(before) > runs[1][0]
    if off > period:
        print(f"at {before}: {elapsed} s is {said:.0f}, heard {frames}")
print(f"# {count} answers, {after} of them after the first of {len(runs)} runs of the card: "
      f"worst {worst:.0f} frames off, a period is {period}")
sys.exit(worst > period or after < 10)
END
}

begin_playing() {
	[ -z "$ROTARY_SANITIZE" ] || skip "a library is preloaded: not with a sanitizer"
	# That library looks at files on real-time threads, too.
	export ROTARY_TEST_FENCE=count
	RUN_AS=(env "LD_PRELOAD=$ROTARY_BUILD/tests/kit/stall/librotary_stall.so")
	start_rotaryd --output.buffer_ms=100
	mpd "add share/noise.flac" play
	wait_for "$DEADLINE" elapsed_past 0.3
	follow
}

@test "position: the sample that is heard, after bursts of xruns" {
	begin_playing
	for i in 1 2 3; do
		fault xrun
		wait_for "$DEADLINE" card_has_events xrun "$i"
		wait_for "$DEADLINE" card_has_events start $((i + 1))
	done
	wait_for "$DEADLINE" elapsed_past 1.2
	position_is_what_is_heard
}

# No thread of the player has the CPU, and taking back is under way in between.
@test "position: the sample that is heard, after the player had no CPU" {
	begin_playing
	for i in 1 2 3; do
		mpd "setvol $((100 - i))"
		kill -STOP "$PID"
		sleep 0.7
		kill -CONT "$PID"
		wait_for "$DEADLINE" card_has_events xrun "$i"
		wait_for "$DEADLINE" card_has_events start $((i + 1))
		mpd "setvol 100"
	done
	wait_for "$DEADLINE" elapsed_past 2
	position_is_what_is_heard
}

# The decks run dry, and silence is written behind the last frame.
@test "position: the sample that is heard, after the decks ran dry" {
	begin_playing
	touch "$HERE/switch"
	wait_for 60 card_has_events xrun 1
	rm "$HERE/switch"
	wait_for "$DEADLINE" card_has_events start 2
	at=$(field elapsed)
	wait_for "$DEADLINE" elapsed_past \
		"$(awk -v at="$at" 'BEGIN { print at + 1 }')"
	position_is_what_is_heard
}

# As told, within the millisecond in which it is told, at
# the frame where the fade to the pause begins, with which it goes on.
stands_where() {
	python3 - "$HEARD" "$HERE/song.raw" "$(field elapsed)" <<'END'
import pathlib, sys
FRAME, KEY, RATE = 4, 32, 96000
heard, song = (pathlib.Path(path).read_bytes() for path in sys.argv[1:3])
at = len(heard) // FRAME - KEY
while (found := song.find(heard[at * FRAME:(at + KEY) * FRAME])) < 0:
    at -= 1
off = float(sys.argv[3]) * RATE - (found // FRAME + KEY)
print(f"# told {off:.0f} frames behind what was heard")
sys.exit(abs(off) > RATE / 1000)
END
}

@test "position: in a pause, the sample that is heard next, in each song" {
	start_rotaryd
	mpd "add share/noise.flac" "add share/noise.flac" "add share/noise.flac" \
		play >/dev/null
	for i in 0 1 2; do
		wait_for "$DEADLINE" elapsed_past 0.5
		# Asked for before it stands there, too.
		mpd "pause 1" status status status >/dev/null
		wait_for "$DEADLINE" card_has_events xrun $((i + 1))
		find_heard
		stands_where
		mpd "pause 0" next
		[ "$i" = 2 ] || wait_for "$DEADLINE" field_is song $((i + 1))
	done
}

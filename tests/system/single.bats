# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# With single, and with oneshot, a song is heard to its last sample; then the
# next one waits at its start, and behind the last all is stopped.

load lib

setup() {
	rotary_setup
	# Nothing in them is silent: a tone that begins at its top.
	export ROTARY_TEST_CARD_FORMATS=S16
	song one.flac 44100 30011
	song two.flac 44100 20003
}
teardown() { rotary_teardown; }

# song FILE RATE FRAMES: of no sample that is 0, nor quiet at its end.
song() {
	python3 - "$HERE/song.wav" "$2" "$3" <<'END'
import struct, sys, wave
name, rate, frames = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with wave.open(name, "wb") as out:
    out.setparams((2, 2, rate, frames, "NONE", ""))
    out.writeframes(b"".join(struct.pack("<hh", 6000 + n * 97 % 2003,
                                         -5000 - n * 89 % 1999)
                             for n in range(frames)))
END
	flac -s --totally-silent -f -o "$MUSIC/$1" "$HERE/song.wav"
}

# begin MODE [OPTION...]: both songs, from the first on.
begin() {
	start_rotaryd "${@:2}"
	mpd "add one.flac" "add two.flac" "single $1"
	mpd play
	wait_for "$DEADLINE" card_has_events start 1
}

waits_at_the_second() {
	wait_for "$DEADLINE" field_is state pause
	field_is song 1
	elapsed_past 0
	! elapsed_past 0.001
	wait_for "$DEADLINE" card_is_quiet
}

# sounds_of REFERENCE...: what was heard without its silences is just that.
heard_without_silence() {
	card_kept_up
	find_heard
	cat "$@" >"$HERE/reference.raw"
	python3 - "$HEARD" "$HERE/reference.raw" <<'END'
import sys
heard, reference = (open(name, "rb").read() for name in sys.argv[1:])
frames = [heard[i:i + 4] for i in range(0, len(heard), 4)]
sound = b"".join(filter(any, frames))
print(len(sound) // 4, "frames of", len(reference) // 4)
sys.exit(sound != reference)
END
}

references() {
	flac_raw "$MUSIC/one.flac" >"$HERE/one.raw"
	flac_raw "$MUSIC/two.flac" >"$HERE/two.raw"
}

@test "single: the whole song, then the next one waits, and goes on from its start" {
	references
	begin 1
	waits_at_the_second
	heard_without_silence "$HERE/one.raw"
	[ "$(field single)" = 1 ]
	mpd "pause 0"
	wait_for "$DEADLINE" field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	cat "$CARD"/heard.*.raw >"$HERE/all.raw"
	# The card may have been opened anew meanwhile.
	python3 - "$HERE/all.raw" "$HERE/one.raw" "$HERE/two.raw" <<'END'
import sys
heard, one, two = (open(name, "rb").read() for name in sys.argv[1:])
frames = [heard[i:i + 4] for i in range(0, len(heard), 4)]
sys.exit(b"".join(filter(any, frames)) != one + two)
END
}

@test "oneshot: the same, and it is off then" {
	references
	begin oneshot
	waits_at_the_second
	heard_without_silence "$HERE/one.raw"
	[ "$(field single)" = 0 ]
}

@test "single and oneshot behind the last song: stop" {
	references
	for mode in 1 oneshot; do
		rm -rf "$STATE" "$CARD"/heard*
		: >"$CARD/events.log"
		start_rotaryd
		mpd "add two.flac" "single $mode"
		play_through
		heard_without_silence "$HERE/two.raw"
		stop_rotaryd
	done
}

@test "resampled, the last samples come too" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	for mode in 1 oneshot; do
		rm -rf "$STATE" "$CARD"/heard*
		: >"$CARD/events.log"
		begin $mode --output.rate=48000
		waits_at_the_second
		find_heard
		[ "$HEARD_RATE" = 48000 ]
		card_kept_up
		# 30011 of 44100 are 32665.0 of 48000, of about 0.2 to the end.
		python3 - "$HEARD" <<'END'
import array, sys
heard = array.array("f", open(sys.argv[1], "rb").read())[::2]
sound = [i for i, x in enumerate(heard) if x != 0]
frames = sound[-1] - sound[0] + 1
print(frames, "frames, the last of", heard[sound[-1]])
assert abs(frames - 30011 * 48000 / 44100) <= 1
assert min(heard[sound[0]:sound[-1] + 1]) > 0.1
END
		stop_rotaryd
	done
}

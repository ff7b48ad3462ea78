# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A sound cut at an odd sample into two files is heard as one, with no frame
# too many or too few where they join.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

# cut_in_two BITS: a tone as $HERE/{whole,a,b}.wav, cut at an odd place.
cut_in_two() {
	wav gapless 44100 "$1" 150005 sine 441
	sox -D "$CACHE/gapless.wav" "$HERE/a.wav" trim 0 70003s
	sox -D "$CACHE/gapless.wav" "$HERE/b.wav" trim 70003s
}

encode_flac() {
	flac -s --totally-silent -f -o "$MUSIC/$2" "$1"
}

encode_vorbis() {
	oggenc -Q -q 5 -s 7 -o "$MUSIC/$2" "$1"
}

# As floats, exactly.
flac_floats() {
	flac_raw "$1" | sox -D -t raw -r 44100 -c 2 -e signed -b 16 - \
		-t raw -e float -b 32 -
}

joined_in_one_go() {
	may_be_late || [ "$(card_events start)" = 1 ]
	real_time_was_kept 1
}

@test "FLAC and FLAC" {
	cut_in_two 16
	encode_flac "$HERE/a.wav" a.flac
	encode_flac "$HERE/b.wav" b.flac
	start_rotaryd
	play_through a.flac b.flac
	sox -D "$CACHE/gapless.wav" -t raw "$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" s16
	joined_in_one_go
}

@test "Vorbis and Vorbis" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	cut_in_two 16
	encode_vorbis "$HERE/a.wav" a.ogg
	encode_vorbis "$HERE/b.wav" b.ogg
	start_rotaryd
	play_through a.ogg b.ogg
	for file in a.ogg b.ogg; do
		"$BIN/rotary_ov_raw" "$MUSIC/$file"
	done >"$HERE/reference.raw"
	[ "$(stat -c %s "$HERE/reference.raw")" = $((150005 * 8)) ]
	heard_equals "$HERE/reference.raw" float
	joined_in_one_go
}

@test "FLAC and Vorbis, on a card that takes floats" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	cut_in_two 16
	encode_flac "$HERE/a.wav" a.flac
	encode_vorbis "$HERE/b.wav" b.ogg
	start_rotaryd
	play_through a.flac b.ogg
	{
		flac_floats "$MUSIC/a.flac"
		"$BIN/rotary_ov_raw" "$MUSIC/b.ogg"
	} >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" float
	joined_in_one_go
}

@test "FLAC and Vorbis, on a card of 32 bits" {
	export ROTARY_TEST_CARD_FORMATS=S32
	cut_in_two 16
	encode_flac "$HERE/a.wav" a.flac
	encode_vorbis "$HERE/b.wav" b.ogg
	start_rotaryd
	play_through a.flac b.ogg
	{
		flac_floats "$MUSIC/a.flac"
		"$BIN/rotary_ov_raw" "$MUSIC/b.ogg"
	} >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" float 1/8388608
	joined_in_one_go
}

@test "FLAC and Vorbis, on a card that takes everything" {
	cut_in_two 16
	encode_flac "$HERE/a.wav" a.flac
	encode_vorbis "$HERE/b.wav" b.ogg
	start_rotaryd
	play_through a.flac b.ogg
	# Of the same rate and channels: there is no need to open it anew.
	joined_in_one_go
	{
		flac_floats "$MUSIC/a.flac"
		"$BIN/rotary_ov_raw" "$MUSIC/b.ogg"
	} >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" float 1.5/32768
}

@test "Twelve times the same short song" {
	local frames=5001
	# To open a song takes its time under a sanitizer: more than one lasts.
	[ -z "$ROTARY_SANITIZE" ] || frames=55001
	wav "short$frames" 44100 16 "$frames" sine 441
	encode_flac "$CACHE/short$frames.wav" short.flac
	songs=()
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		songs+=(short.flac)
		flac_raw "$MUSIC/short.flac" >>"$HERE/reference.raw"
	done
	start_rotaryd
	play_through "${songs[@]}"
	heard_equals "$HERE/reference.raw" s16
	joined_in_one_go
}

# short_songs COUNT FRAMES: 16-bit songs in which no sample is 0; sets SONGS.
short_songs() {
	python3 - "$MUSIC" "$HERE/reference.raw" "$1" "$2" <<'END'
import struct, sys, wave
music, whole, count, frames = *sys.argv[1:3], *map(int, sys.argv[3:5])
with open(whole, "wb") as reference:
    for i in range(count):
        song = b"".join(struct.pack("<hh", n % 30000 + 1, -(n % 29989) - 1)
                        for n in range(i * frames, (i + 1) * frames))
        with wave.open(f"{music}/{i:03}.wav", "wb") as out:
            out.setparams((2, 2, 44100, frames, "NONE", ""))
            out.writeframes(song)
        reference.write(song)
END
	mapfile -t SONGS < <(cd "$MUSIC" && ls)
}

# All of them, in order: a silence is where a song was opened too late.
heard_in_order() {
	card_kept_up
	[ "$HEARD_FORMAT" = s16 ]
	python3 - "$HEARD" "$HERE/reference.raw" <<'END'
import re, sys
heard, reference = (open(name, "rb").read() for name in sys.argv[1:])
frames = [heard[i:i + 4] for i in range(0, len(heard), 4)]
sounds = "".join("01"[any(frame)] for frame in frames)
print("silences:", *(len(gap) for gap in re.findall("0+", sounds.strip("0"))))
sys.exit(b"".join(filter(any, frames)) != reference)
END
}

@test "Fifty songs of 30 ms: each of them, in order" {
	export ROTARY_TEST_CARD_FORMATS=S16
	short_songs 50 1323
	start_rotaryd
	play_through "${SONGS[@]}"
	heard_in_order
}

@test "A hundred songs of one sample: each of them, in order" {
	export ROTARY_TEST_CARD_FORMATS=S16
	short_songs 100 1
	start_rotaryd
	play_through "${SONGS[@]}"
	heard_in_order
}

# Shorter than a fade (5 ms), down to a single frame, and one without any.
@test "Songs shorter than a fade, between longer ones: nothing lost, nothing added" {
	export ROTARY_TEST_CARD_FORMATS=S16
	short_songs 10 44100
	python3 - "$MUSIC" "$HERE/reference.raw" <<'END'
import sys, wave
music, whole = sys.argv[1:]
reference = b""
for i, frames in enumerate((44100, 1, 263, 2, 7, 100, 44100, 0, 1, 44100)):
    name = f"{music}/{i:03}.wav"
    with wave.open(name) as song:
        samples = song.readframes(frames)
    with wave.open(name, "wb") as song:
        song.setparams((2, 2, 44100, frames, "NONE", ""))
        song.writeframes(samples)
    reference += samples
open(whole, "wb").write(reference)
END
	start_rotaryd
	play_through "${SONGS[@]}"
	heard_in_order
	[ "$(heard_in_order)" = "silences:" ]
	real_time_was_kept 1
}

@test "At one rate for all, resampled: as long as it is, at any quality" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	flac_song a.flac 44100 16 44100 sine 441
	flac_song b.flac 96000 16 96000 sine 480
	for quality in low best; do
		rm -rf "$STATE" "$CARD"/heard*
		: >"$CARD/events.log"
		start_rotaryd --output.rate=48000 "--output.resampler=$quality"
		play_through a.flac b.flac
		[ "$HEARD_RATE" = 48000 ]
		frames=$(python3 - "$HEARD" <<'END'
import sys
heard = open(sys.argv[1], "rb").read()
frames = [heard[i:i + 8] for i in range(0, len(heard), 8)]
while frames and not any(frames[-1]):
    frames.pop()
while frames and not any(frames[0]):
    frames.pop(0)
print(len(frames))
END
		)
		echo "$quality: $frames frames"
		# The tone itself begins with a sample of 0.
		[ "$frames" -ge 95997 ] && [ "$frames" -le 96000 ]
		joined_in_one_go
		stop_rotaryd
	done
}

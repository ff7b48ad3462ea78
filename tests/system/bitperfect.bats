# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# What reaches the card is what the reference decoder makes of the file: to the
# bit and the frame for FLAC, within a step of the card's format for Vorbis.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

# flac_is_heard FILE FORMAT [OPTION...]
flac_is_heard() {
	start_rotaryd "${@:3}"
	play_through "$1"
	flac_raw "$MUSIC/$1" >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" "$2"
	real_time_was_kept 1
}

# heard_md5 BITS: of what was heard between silences, as right-justified samples
# of so many bits in as few bytes as hold them: what FLAC and WAVE files store.
heard_md5() {
	card_kept_up
	python3 - "$HEARD" "$HEARD_FORMAT" "$1" <<'END' | md5sum | cut -d ' ' -f 1
import sys
heard, form, bits = open(sys.argv[1], "rb").read(), sys.argv[2], int(sys.argv[3])
held, used = {"s16": (2, 16), "s24": (4, 24), "s24_3": (3, 24),
              "s32": (4, 32)}[form]
stored = (bits + 7) // 8
frames = [heard[i:i + 2 * held] for i in range(0, len(heard), 2 * held)]
while frames and not any(frames[0]):
    frames.pop(0)
while frames and not any(frames[-1]):
    frames.pop()
for frame in frames:
    for sample in (frame[:held], frame[held:]):
        value = int.from_bytes(sample[:used // 8], "little", signed=True)
        assert value % (1 << (used - bits)) == 0, "bits below those of the file"
        value >>= used - bits
        sys.stdout.buffer.write(value.to_bytes(stored, "little", signed=True))
END
}

# depth_is_kept BITS: noise of so many bits is heard to the bit, from FLAC, whose
# header has the md5 of what was encoded, and from WAVE.
depth_is_kept() {
	local file wanted
	python3 - "$1" "$MUSIC/depth.wav" <<'END'
import random, struct, sys
bits, frames = int(sys.argv[1]), 30011
stored = (bits + 7) // 8
random.seed(bits)
data = bytearray()
for _ in range(2 * frames):
    value = random.randrange(1, 1 << bits) - (1 << (bits - 1))
    if stored == 1:
        data.append(value + 128)
    else:
        data += (value << (8 * stored - bits)).to_bytes(
            stored, "little", signed=True)
form = struct.pack("<HHIIHH", 0xFFFE, 2, 48000, 96000 * stored, 2 * stored,
                   8 * stored) + struct.pack("<HHIH", 22, bits, 3, 1)
form += bytes.fromhex("000000001000800000aa00389b71")
body = b"WAVEfmt " + struct.pack("<I", len(form)) + form
body += b"data" + struct.pack("<I", len(data)) + data
open(sys.argv[2], "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)
END
	flac -s --totally-silent -f -o "$MUSIC/depth.flac" "$MUSIC/depth.wav"
	wanted=$(metaflac --show-md5sum "$MUSIC/depth.flac")
	for file in depth.flac depth.wav; do
		rm -f "$CARD"/heard*
		: >"$CARD/events.log"
		start_rotaryd
		mpd clear # what the last one left
		play_through "$file"
		[ "$(heard_md5 "$1")" = "$wanted" ]
		real_time_was_kept 1
		stop_rotaryd
	done
}

# vorbis_is_heard TOLERANCE: on a card of $ROTARY_TEST_CARD_FORMATS.
vorbis_is_heard() {
	vorbis_song song.ogg 44100 16 100001
	start_rotaryd
	play_through song.ogg
	"$BIN/rotary_ov_raw" "$MUSIC/song.ogg" >"$HERE/reference.raw"
	# The reference itself has the length that was encoded.
	[ "$(stat -c %s "$HERE/reference.raw")" = $((100001 * 8)) ]
	heard_equals "$HERE/reference.raw" float "$1"
	real_time_was_kept 1
}

@test "FLAC, 16 bits at 44100" {
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16
	[ "$HEARD_RATE" = 44100 ]
}

@test "FLAC, 24 bits at 96000" {
	flac_song song.flac 96000 24 200003
	flac_is_heard song.flac s24_3
	[ "$HEARD_RATE" = 96000 ]
}

@test "FLAC, 32 bits at 48000" {
	flac_song song.flac 48000 32 100003
	flac_is_heard song.flac s32
	[ "$HEARD_RATE" = 48000 ]
}

@test "FLAC, 16 bits, on a card that only takes 32" {
	export ROTARY_TEST_CARD_FORMATS=S32
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16
}

@test "FLAC, 24 bits, on a card of packed samples and little buffers" {
	export ROTARY_TEST_CARD_FORMATS=S24_3
	export ROTARY_TEST_CARD_BUFFER_BYTES=1536-24576
	flac_song song.flac 96000 24 200003
	flac_is_heard song.flac s24_3
}

@test "FLAC, on a card whose position moves in periods" {
	export ROTARY_TEST_CARD_BATCH=yes
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16
}

@test "FLAC, on a card with half a second that can be taken back" {
	flac_song song.flac 44100 16 100001
	flac_is_heard song.flac s16 --output.rewind=yes
}

@test "8 bits, by their md5" {
	depth_is_kept 8
}

@test "16 bits, by their md5" {
	depth_is_kept 16
}

@test "20 bits, by their md5" {
	depth_is_kept 20
}

@test "24 bits, by their md5" {
	depth_is_kept 24
}

@test "32 bits, by their md5" {
	depth_is_kept 32
}

@test "status says that it is bit-perfect, and that it is not at half volume" {
	flac_song song.flac 44100 16 $((44100 * 20))
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" field_is state play
	[ -n "$(field bitperfect)" ] || skip "status has no bitperfect yet"
	wait_for "$DEADLINE" field_is bitperfect 1
	mpd "setvol 50"
	wait_for "$DEADLINE" field_is bitperfect 0
}

@test "Vorbis, on a card that takes floats" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	vorbis_is_heard 0
}

@test "Vorbis, on a card of 32 bits: within a step of 24" {
	export ROTARY_TEST_CARD_FORMATS=S32
	vorbis_is_heard 1/8388608
}

@test "Vorbis, on a card of 16 bits: within one and a half steps" {
	export ROTARY_TEST_CARD_FORMATS=S16
	vorbis_is_heard 1.5/32768
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Files of more, or fewer, channels than the card has, and of high rates.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

# noise FILE RATE BITS CHANNELS FRAMES: a FLAC file of noise.
noise() {
	python3 - "$HERE/noise.raw" "$3" "$(($4 * $5))" <<'END'
import random, sys
name, bits, count = sys.argv[1], *map(int, sys.argv[2:])
top = 1 << (bits - 2)
dice = random.Random(count)
with open(name, "wb") as out:
    for _ in range(count):
        value = dice.randrange(-top, top) or 1
        out.write(value.to_bytes(bits // 8, "little", signed=True))
END
	flac -s --totally-silent -f --force-raw-format --endian=little \
		--sign=signed "--channels=$4" "--bps=$3" "--sample-rate=$2" \
		-o "$MUSIC/$1" "$HERE/noise.raw"
}

# heard_mix BITS CHANNELS: a file of that is heard in stereo, as ITU-R BS.775
# has it: the centre and each surround with -3 dB, no LFE; scaled so that the
# largest sum is 1. The channels come in the order of WAVE files.
heard_mix() {
	card_kept_up
	[ "$HEARD_FORMAT" = float ]
	python3 - "$HEARD" "$HERE/noise.raw" "$1" "$2" <<'END'
import array, math, sys
heard = array.array("f", open(sys.argv[1], "rb").read())
raw, bits, channels = open(sys.argv[2], "rb").read(), *map(int, sys.argv[3:])
size, half = bits // 8, math.sqrt(0.5)
left = {1: [1], 2: [1, 0], 6: [1, 0, half, 0, half, 0],
        8: [1, 0, half, 0, half, 0, half, 0]}[channels]
right = {1: [1], 2: [0, 1], 6: [0, 1, half, 0, 0, half],
         8: [0, 1, half, 0, 0, half, 0, half]}[channels]
scale = 1 / sum(left) / (1 << (bits - 1))
values = [int.from_bytes(raw[i:i + size], "little", signed=True)
          for i in range(0, len(raw), size)]
want = []
for i in range(0, len(values), channels):
    frame = values[i:i + channels]
    want.append(scale * sum(a * b for a, b in zip(frame, left)))
    want.append(scale * sum(a * b for a, b in zip(frame, right)))
frames = list(zip(heard[::2], heard[1::2]))
first = next(i for i, frame in enumerate(frames) if any(frame))
part = heard[2 * first:2 * first + len(want)]
worst = max(abs(a - b) for a, b in zip(part, want))
rest = max(map(abs, heard[2 * first + len(want):]), default=0)
print(len(want) // 2, "frames, off by", worst, "behind them", rest)
sys.exit(len(part) != len(want) or worst > 2e-7 or rest > 0)
END
}

@test "24 bits, 96 kHz, eight channels, on a card of two" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT ROTARY_TEST_CARD_CHANNELS=2
	noise wide.flac 96000 24 8 40001
	start_rotaryd
	play_through wide.flac
	[ "$HEARD_RATE" = 96000 ]
	heard_mix 24 8
	real_time_was_kept 1
}

@test "24 bits, 96 kHz, eight channels, on a card of eight: to the bit" {
	export ROTARY_TEST_CARD_FORMATS=S24_3 ROTARY_TEST_CARD_CHANNELS=8
	noise wide.flac 96000 24 8 40001
	start_rotaryd
	play_through wide.flac
	[ "$HEARD_RATE" = 96000 ]
	card_kept_up
	"$BIN/rotary_pcm_compare" 8 "$HEARD" "$HEARD_FORMAT" \
		"$HERE/noise.raw" s24_3
}

@test "5.1, on a card of two" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT ROTARY_TEST_CARD_CHANNELS=2
	noise wide.flac 48000 16 6 30001
	start_rotaryd
	play_through wide.flac
	heard_mix 16 6
}

@test "mono, on both sides" {
	export ROTARY_TEST_CARD_FORMATS=FLOAT ROTARY_TEST_CARD_CHANNELS=2
	noise mono.flac 44100 16 1 30001
	start_rotaryd
	play_through mono.flac
	heard_mix 16 1
}

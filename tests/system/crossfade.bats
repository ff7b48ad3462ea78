# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Songs that overlap: what is heard, by the samples that reached the card.

load lib

setup() {
	rotary_setup
	export ROTARY_TEST_CARD_FORMATS=FLOAT
}
teardown() { rotary_teardown; }

# tagged FILE TAG...
tagged() {
	local file=$1 tag
	shift
	for tag; do metaflac --set-tag="$tag" "$MUSIC/$file"; done
}

# mix SECONDS FILE... + FILE...: what should be heard of FLAC files of 44.1 kHz,
# those of a group one after the other, and groups with equal power over SECONDS,
# as floats.
mix() {
	local seconds=$1 file
	shift
	for file; do
		[ "$file" = + ] || flac_raw "$MUSIC/$file" >"$HERE/$file.s16"
	done
	python3 - "$HERE" "$seconds" "$@" <<'END'
import array, math, sys
folder, seconds, *files = sys.argv[1:]
frames = round(44100 * float(seconds))
whole, group = [], []
def end_group():
    global whole, group
    if whole:
        tail, whole = whole[-2 * frames:], whole[:-2 * frames]
        for i in range(2 * frames):
            angle = math.pi / 2 * (i // 2 + 0.5) / frames
            group[i] = tail[i] * math.cos(angle) + group[i] * math.sin(angle)
    whole, group = whole + group, []
for file in files:
    if file == "+":
        end_group()
    else:
        samples = array.array("h", open(f"{folder}/{file}.s16", "rb").read())
        group += [sample / 32768 for sample in samples]
end_group()
array.array("f", whole).tofile(open(f"{folder}/reference.raw", "wb"))
END
}

@test "songs overlap to the sample, but not within an album" {
	# The lane is a second ahead: the next song is to be open by then.
	flac_song 1.flac 44100 16 88200 sine 441
	flac_song 2.flac 44100 16 132300 sine 882
	flac_song 3.flac 44100 16 88200 sine 1323
	tagged 1.flac ALBUM=X TRACKNUMBER=7
	tagged 2.flac ALBUM=X TRACKNUMBER=8
	tagged 3.flac ALBUM=X TRACKNUMBER=3
	start_rotaryd --player.crossfade_s=1
	play_through 1.flac 2.flac 3.flac
	mix 1 1.flac 2.flac + 3.flac
	[ "$(stat -c %s "$HERE/reference.raw")" = $((6 * 44100 * 8)) ]
	heard_equals "$HERE/reference.raw" float 4/8388608
	may_be_late || [ "$(card_events start)" = 1 ]
	real_time_was_kept 1
}

# levels_follow SECONDS HZ...: of tones of 3 s at 0.4 of full scale that overlap by
# SECONDS, each has at any time the level that equal power gives it.
levels_follow() {
	python3 - "$HEARD" "$HEARD_RATE" "$@" <<'END'
import array, cmath, math, sys
heard, rate, fade, *tones = sys.argv[1:]
rate, fade, tones = int(rate), float(fade), list(map(int, tones))
samples = array.array("f", open(heard, "rb").read())
left, right = samples[::2], samples[1::2]
begin = next(i for i, sample in enumerate(left) if sample)
end = max(i for i, sample in enumerate(left) if sample) + 1
length, wanted = (end - begin) / rate, 3 * len(tones) - fade * (len(tones) - 1)
print("heard for %.4f s of %.4f" % (length, wanted))
bad = abs(length - wanted) > 0.001
def gain(tone, at):
    since = at - tone * (3 - fade)
    if not 0 < since < 3:
        return 0
    if tone > 0 and since < fade:
        return math.sin(math.pi / 2 * since / fade)
    if tone + 1 < len(tones) and since > 3 - fade:
        return math.sin(math.pi / 2 * (3 - since) / fade)
    return 1
part = rate // 20
for channel in left, right:
    for at in range(begin, end - part, part):
        for tone, hz in enumerate(tones):
            level = abs(sum(channel[at + i] *
                            cmath.exp(-2j * math.pi * hz * i / rate)
                            for i in range(part))) * 2 / part / 0.4
            time = (at - begin + part / 2) / rate
            if abs(level - gain(tone, time)) > 0.03:
                bad = True
                print("%d Hz at %.3f s: %.3f, not %.3f" %
                      (hz, time, level, gain(tone, time)))
sys.exit(bad)
END
}

@test "any rates, channels and codecs overlap, with equal power" {
	flac_song a.flac 44100 16 132300 sine 440
	vorbis_song b.ogg 48000 16 144000 sine 1000
	sox -D -R -r 96000 -n -r 96000 -b 24 -c 1 "$MUSIC/c.wav" \
		synth 288000s sine 1600 vol 0.4
	start_rotaryd --player.crossfade_s=1
	play_through a.flac b.ogg c.wav
	[ "$HEARD_RATE" = 44100 ]
	[ "$(card_events hw_params)" = 1 ]
	levels_follow 1 440 1000 1600
	real_time_was_kept 1
}

@test "the song changes where its overlap begins" {
	flac_song a.flac 44100 16 132300 sine 440
	flac_song b.flac 44100 16 176400 sine 660
	start_rotaryd
	mpd "crossfade 1" "add a.flac" "add b.flac" play >/dev/null
	wait_for "$DEADLINE" field_is song 0
	[ "$(field nextsong)" = 1 ]
	wait_for "$DEADLINE" field_is song 1
	mpd "pause 1"
	# Let run dry, it stands still.
	wait_for "$DEADLINE" card_has_events xrun 1
	find_heard
	card_kept_up
	if may_be_late && card_has_events xrun 2; then
		skip "the card starved under ThreadSanitizer"
	fi
	# It faded out in 5 ms, from where it is said to stand.
	python3 - "$HEARD" "$(field elapsed)" <<'END'
import array, sys
heard = array.array("f", open(sys.argv[1], "rb").read())[::2]
while heard and heard[0] == 0:
    heard.pop(0)
while heard and heard[-1] == 0:
    heard.pop()
elapsed, seconds = float(sys.argv[2]), len(heard) / 44100
print("elapsed %.3f s of the second song, heard %.3f s" % (elapsed, seconds))
sys.exit(abs(seconds - 2 - elapsed - 0.005) > 0.002)
END
}

@test "it is told, announced, kept and set by rotary" {
	long_song song.flac 30
	start_rotaryd --player.crossfade_s=3
	field_is xfade 3
	"$BIN/rotary_talk" "$SOCKET" "idle options" >"$HERE/idle" 3>&- &
	idler=$!
	mpd "crossfade 4"
	sleep 0.1
	"$BIN/rotary" --socket "$SOCKET" crossfade 5
	wait "$idler"
	grep -q "changed: options" "$HERE/idle"
	[ "$("$BIN/rotary" --socket "$SOCKET" crossfade)" = 5 ]
	stop_rotaryd
	start_rotaryd --player.crossfade_s=3
	field_is xfade 5
	"$BIN/rotary" --socket "$SOCKET" crossfade 0
	[ "$("$BIN/rotary" --socket "$SOCKET" crossfade)" = 0 ]
	[ -z "$(field xfade)" ]
	# A command that was given wins, also to have none.
	stop_rotaryd
	start_rotaryd --player.crossfade_s=3
	[ -z "$(field xfade)" ]
}

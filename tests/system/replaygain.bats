# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# How loud a song is heard, by the gain that its tags tell.

load lib

setup() {
	rotary_setup
	export ROTARY_TEST_CARD_FORMATS=FLOAT
}
teardown() { rotary_teardown; }

# tagged FILE TAG...: a second of a tone of 0.4 of full scale.
tagged() {
	local file=$1 tag
	shift
	case $file in
	*.ogg)
		vorbis_song "$file" 44100 16 44100 sine 441
		printf '%s\n' "$@" | vorbiscomment -q -w "$MUSIC/$file"
		;;
	*)
		flac_song "$file" 44100 16 44100 sine 441
		for tag; do metaflac --set-tag="$tag" "$MUSIC/$file"; done
		;;
	esac
}

# heard_db DB [TOLERANCE]: the tone's level in the middle of what was heard,
# against what it was without a gain.
heard_db() {
	python3 - "$HEARD" "$1" "${2:-0.02}" <<'END'
import array, math, sys
heard = array.array("f", open(sys.argv[1], "rb").read())
heard = heard[::2]
while heard and heard[0] == 0:
    heard.pop(0)
part = heard[10000:30000]
level = 10 * math.log10(sum(x * x for x in part) / len(part) / (0.4 ** 2 / 2))
print("heard at %.3f dB, peak %.4f" % (level, max(map(abs, heard))))
sys.exit(abs(level - float(sys.argv[2])) > float(sys.argv[3]))
END
}

# plays_at DB FILE [OPTION...]
plays_at() {
	start_rotaryd "${@:3}"
	play_through "$2"
	heard_db "$1" 0.1
	real_time_was_kept 1
}

@test "a track's gain is laid on it" {
	tagged song.flac "REPLAYGAIN_TRACK_GAIN=-6.02 dB"
	plays_at -6.02 song.flac --player.replaygain=track
}

@test "lower-case tags of Vorbis count, and fall back to the other kind" {
	tagged song.ogg "replaygain_album_gain=-3.5 dB"
	plays_at -3.5 song.ogg --player.replaygain=track
}

@test "R128 fields are 5 dB of the reference away" {
	tagged song.ogg R128_TRACK_GAIN=-2048
	plays_at -3 song.ogg --player.replaygain=track
}

@test "pre-amps, for songs with and without a gain" {
	tagged with.flac "REPLAYGAIN_TRACK_GAIN=-6 dB"
	plays_at -4 with.flac --player.replaygain=track --player.preamp_db=2 \
		--player.missing_preamp_db=-8
	stop_rotaryd
	rm -rf "$STATE" "$CARD"/heard*
	: >"$CARD/events.log"
	tagged without.flac
	plays_at -8 without.flac --player.replaygain=track \
		--player.preamp_db=2 --player.missing_preamp_db=-8
}

@test "a known peak is not raised past full scale" {
	tagged song.flac "REPLAYGAIN_TRACK_GAIN=20 dB" \
		REPLAYGAIN_TRACK_PEAK=0.5
	plays_at 6.02 song.flac --player.replaygain=track
}

@test "20 dB more without a peak never clips" {
	tagged song.flac "REPLAYGAIN_TRACK_GAIN=+20 dB"
	start_rotaryd --player.replaygain=track
	play_through song.flac
	# Of a tone that would be four times full scale, 7.7 dB are left.
	heard_db 7.66 0.1
	python3 - "$HEARD" <<'END'
import array, sys
heard = array.array("f", open(sys.argv[1], "rb").read())
assert max(map(abs, heard)) < 0.99, max(map(abs, heard))
END
	real_time_was_kept 1
}

@test "nonsense is as if it were not there, to the bit" {
	tagged song.flac "REPLAYGAIN_TRACK_GAIN=1e9 dB" \
		REPLAYGAIN_ALBUM_GAIN=nan REPLAYGAIN_TRACK_PEAK=abc \
		R128_TRACK_GAIN=
	start_rotaryd --player.replaygain=album
	play_through song.flac
	flac_raw "$MUSIC/song.flac" >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" s16
}

@test "a gain of 0 dB is bit-perfect" {
	tagged song.flac "REPLAYGAIN_TRACK_GAIN=-0.00 dB"
	start_rotaryd --player.replaygain=track
	play_through song.flac
	flac_raw "$MUSIC/song.flac" >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" s16
}

@test "auto is album among songs of an album, else track" {
	tagged one.flac ALBUM=A "REPLAYGAIN_TRACK_GAIN=-2 dB" \
		"REPLAYGAIN_ALBUM_GAIN=-8 dB"
	cp "$MUSIC/one.flac" "$MUSIC/two.flac"
	plays_at -2 one.flac --player.replaygain=auto
	stop_rotaryd
	rm -rf "$STATE" "$CARD"/heard*
	: >"$CARD/events.log"
	start_rotaryd --player.replaygain=auto
	play_through one.flac two.flac
	heard_db -8
}

@test "auto: each song has its own gain from its first sample on" {
	tagged alone.flac "REPLAYGAIN_TRACK_GAIN=-2 dB" \
		"REPLAYGAIN_ALBUM_GAIN=-12 dB"
	tagged one.flac ALBUM=A "REPLAYGAIN_TRACK_GAIN=-4 dB" \
		"REPLAYGAIN_ALBUM_GAIN=-8 dB"
	cp "$MUSIC/one.flac" "$MUSIC/two.flac"
	start_rotaryd --player.replaygain=auto
	play_through alone.flac one.flac two.flac alone.flac
	python3 - "$HEARD" <<'END'
import array, math, sys
heard = array.array("f", open(sys.argv[1], "rb").read())[::2]
while heard and heard[0] == 0:
    heard.pop(0)
first = 44100 - 1  # the tone's first sample is 0
for song, wanted in enumerate((-2, -8, -8, -2)):
    begin = first + (song - 1) * 44100
    for at in (begin, begin + 44000 - 400):
        part = heard[max(at, 0):at + 400]  # four periods
        level = 10 * math.log10(sum(x * x for x in part) / len(part) /
                                (0.4 ** 2 / 2))
        print("song %d from %d on: %.3f dB" % (song, at, level))
        assert abs(level - wanted) < 0.05, (song, at)
END
}

@test "the mode is told, changed, announced and kept" {
	tagged song.flac "REPLAYGAIN_TRACK_GAIN=-6 dB"
	start_rotaryd
	[ "$(mpd replay_gain_status)" = "replay_gain_mode: off" ]
	for mode in track album auto off track; do
		mpd "replay_gain_mode $mode"
		[ "$(mpd replay_gain_status)" = "replay_gain_mode: $mode" ]
	done
	run mpd "replay_gain_mode loud"
	[[ $output == "ACK [2@0] {replay_gain_mode}"* ]]
	"$BIN/rotary_talk" "$SOCKET" "idle options" >"$HERE/idle" 3>&- &
	idler=$!
	mpd "replay_gain_mode album"
	sleep 0.1
	mpd "replay_gain_mode track"
	wait "$idler"
	grep -q "changed: options" "$HERE/idle"
	stop_rotaryd
	start_rotaryd --player.replaygain=off
	[ "$(mpd replay_gain_status)" = "replay_gain_mode: track" ]
	play_through song.flac
	heard_db -6
}

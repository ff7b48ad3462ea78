# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Bad files, bad clients and bad places: the next song plays, other clients are
# served, and a sentence says what was wrong.

load lib

setup() {
	rotary_setup
	CROWD=
}

teardown() {
	[ -z "$CROWD" ] || kill "$CROWD" 2>/dev/null || :
	rotary_teardown
}

# skipped FILE: refused at the add, or skipped in front of a good song, with a
# reason. Leaves the daemon playing the good song.
skipped() {
	long_song good.flac 20
	start_rotaryd
	if mpd "add \"$1\"" >"$HERE/answer"; then
		mpd "add good.flac" "play 0"
		wait_for "$DEADLINE" plays good.flac
		wait_for "$DEADLINE" elapsed_past 0.1
		wait_for "$DEADLINE" logged "$1"
	else
		grep -q '^ACK \[' "$HERE/answer"
	fi
	fails_alone "$1"
}

# With nothing else in the queue it is the status that tells.
fails_alone() {
	mpd stop clear
	if mpd "add \"$1\"" >/dev/null && [ -n "$(mpd playlistinfo)" ]; then
		mpd "play 0" || :
		wait_for "$DEADLINE" tells_error
		wait_for "$DEADLINE" field_is state stop
		field error
	fi
	is_alive
}

tells_error() {
	[ -n "$(field error)" ]
}

plays() {
	[ "$(mpd currentsong | sed -n 's/^file: //p')" = "$1" ] &&
		field_is state play
}

keeps_playing() {
	local later
	later=$(field elapsed | awk '{ print $1 + 0.5 }')
	wait_for "$DEADLINE" elapsed_past "$later"
}

@test "an empty file" {
	: >"$MUSIC/bad.flac"
	skipped bad.flac
}

@test "random bytes" {
	head -c 100000 /dev/zero | openssl enc -aes-128-ctr -nosalt \
		-K 00112233445566778899aabbccddeeff \
		-iv 00000000000000000000000000000000 >"$MUSIC/bad.flac" \
		2>/dev/null || head -c 100000 /dev/urandom >"$MUSIC/bad.flac"
	cp "$MUSIC/bad.flac" "$MUSIC/bad.ogg"
	skipped bad.flac
	stop_rotaryd
	skipped bad.ogg
}

@test "a file cut in its header" {
	long_song bad.flac 5
	truncate -s 50 "$MUSIC/bad.flac"
	skipped bad.flac
}

@test "a file cut in its middle plays as far as it goes, then the next" {
	flac_song cut.flac 44100 16 100001
	truncate -s 150000 "$MUSIC/cut.flac"
	long_song good.flac 20
	start_rotaryd
	mpd "add cut.flac" "add good.flac" play
	wait_for "$DEADLINE" plays good.flac
	wait_for "$DEADLINE" elapsed_past 0.1
}

@test "a file with a hole in it goes on behind it" {
	flac_song holed.flac 44100 16 400001
	size=$(stat -c %s "$MUSIC/holed.flac")
	dd if=/dev/zero of="$MUSIC/holed.flac" bs=1 seek=$((size / 2)) \
		count=20000 conv=notrunc status=none
	flac_raw "$CACHE/44100_16_400001.flac" | tail -c 200000 \
		>"$HERE/tail.raw"
	start_rotaryd
	play_through holed.flac
	heard_ends_with "$HERE/tail.raw" s16
}

@test "a file that must not be read" {
	long_song bad.flac 5
	chmod 0 "$MUSIC/bad.flac"
	if [ "$(id -u)" = 0 ]; then
		# Root may read all; so the daemon is nobody.
		command -v setpriv >/dev/null || skip "root, and no setpriv"
		RUN_AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		long_song good.flac 20
		chown -R 65534:65534 "$HERE"
		chmod 755 "$HERE"
	fi
	skipped bad.flac
}

@test "a folder with the name of a song" {
	mkdir "$MUSIC/bad.flac"
	long_song good.flac 20
	start_rotaryd
	mpd "add bad.flac" || :
	mpd "add good.flac" play
	wait_for "$DEADLINE" plays good.flac
}

@test "a FIFO with the name of a song is not waited for" {
	mkfifo "$MUSIC/bad.flac"
	long_song good.flac 20
	start_rotaryd
	TALK_TIMEOUT_MS=10000 mpd "add bad.flac" >"$HERE/answer" || result=$?
	[ "${result:-0}" -le 1 ]
	mpd "add good.flac" play
	wait_for "$DEADLINE" plays good.flac
	mpd 'lsinfo ""' >/dev/null
	mpd clear 'add "/"' play
	wait_for "$DEADLINE" plays good.flac
}

@test "a queue of nothing but bad songs stops" {
	for i in 1 2 3 4 5; do
		echo nonsense >"$MUSIC/bad$i.flac"
	done
	start_rotaryd
	mpd 'add "/"' "repeat 1" >"$HERE/answer" || skip "they are not added"
	[ -n "$(mpd playlistinfo)" ] || skip "they are not added"
	mpd play || :
	wait_for "$DEADLINE" tells_error
	wait_for "$DEADLINE" field_is state stop
}

@test "lines that mean nothing" {
	start_rotaryd
	while IFS= read -r line; do
		printf '%b' "$line" | "$BIN/rotary_talk" "$SOCKET" --raw \
			>"$HERE/answer"
		head -c 200 "$HERE/answer"
		is_alive
		mpd ping
	done <<'END'
\n
 ping\n
Ping\n
nonsense\n
play "\n
play "1"2\n
play 1 2 3 4 5 6 7 8\n
add 'x'\n
add "\xff\xfe"\n
seek 0 nan\n
seekcur 1e400\n
setvol 99999999999999999999\n
command_list_begin\nidle\ncommand_list_end\n
command_list_begin\ncommand_list_begin\n
command_list_end\n
noidle\nping\n
idle nonsense\n
\0ping\n
ping\0\n
delete 5:2\n
move 0:99 -1\n
END
	[ "$(mpd nonsense || :)" = \
		'ACK [5@0] {} unknown command "nonsense"' ]
}

@test "a line that is too long loses its client, no other" {
	start_rotaryd
	# 8,192 bytes are the limit of a line.
	printf 'find "%*s"\nping\n' 9000 x | "$BIN/rotary_talk" "$SOCKET" \
		--raw >"$HERE/answer"
	[ "$(grep -cx OK "$HERE/answer")" = 0 ]
	# And one without an end.
	head -c 300000 /dev/zero | tr '\0' x | "$BIN/rotary_talk" "$SOCKET" \
		--raw >/dev/null
	is_alive
	mpd ping
}

@test "paths of 4,096 bytes, and ones that lead out" {
	start_rotaryd
	long=$(printf '%*s' 4096 '' | tr ' ' a)
	run mpd "add \"$long\""
	[[ $output == "ACK ["* ]]
	run mpd "add \"$(printf '%*s' 2000 '' | sed 's/ /a\//g')x.flac\""
	[[ $output == "ACK ["* ]]
	run mpd 'add "../../../etc/passwd"'
	[[ $output == "ACK ["* ]]
	run mpd 'lsinfo "album/../.."'
	[[ $output == "ACK ["* ]]
	mpd ping
}

@test "a command list over its limit loses its client, no other" {
	start_rotaryd
	{
		echo command_list_begin
		yes "find \"$(printf '%*s' 1000 '' | tr ' ' x)\"" |
			head -n 3000
		echo command_list_end
	} | "$BIN/rotary_talk" "$SOCKET" --raw >"$HERE/answer"
	is_alive
	mpd ping
}

@test "200 clients are served, the 257th is told" {
	start_rotaryd
	"$BIN/rotary_talk" "$SOCKET" --crowd 200
	run "$BIN/rotary_talk" "$SOCKET" --crowd 300
	[[ $output == *"ACK [52@0] {} too many clients"* ]]
	# Those that left made room.
	"$BIN/rotary_talk" "$SOCKET" --crowd 200
}

@test "a client that never reads costs little and stops nobody" {
	for i in 1 2 3 4 5; do
		long_song "song$i.flac" 30
	done
	start_rotaryd
	for _ in $(seq 60); do echo 'add "/"'; done |
		"$BIN/rotary_talk" "$SOCKET" --raw >/dev/null
	mpd play
	wait_for "$DEADLINE" field_is state play
	before=$(rss_kb)
	TALK_TIMEOUT_MS=2000 "$BIN/rotary_talk" "$SOCKET" --deaf playlistinfo \
		>"$HERE/sent" 3>&- &
	CROWD=$!
	keeps_playing
	TALK_TIMEOUT_MS=5000 mpd status >/dev/null
	wait "$CROWD"
	after=$(rss_kb)
	echo "memory: $before kB, then $after kB; it sent $(cat "$HERE/sent") bytes"
	# A sanitizer keeps its own account of all that was ever touched.
	[ -n "$ROTARY_SANITIZE" ] || [ $((after - before)) -lt 8192 ]
	[ "$(cat "$HERE/sent")" -lt 1000000 ]
	real_time_was_kept
}

@test "a socket path that is too long is refused in a sentence" {
	SOCKET=$HERE/$(printf '%*s' 100 '' | tr ' ' s)
	run timeout 20 "$BIN/rotaryd" --music "$MUSIC" --socket "$SOCKET" \
		--output null "--library.state=$STATE"
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	echo "$output"
	[[ $output == *socket* ]]
}

@test "with 64 descriptors it plays, and outlives a crowd" {
	command -v prlimit >/dev/null || skip "prlimit is missing"
	RUN_AS=(prlimit --nofile=64)
	long_song good.flac 30
	start_rotaryd
	mpd "add good.flac" play
	wait_for "$DEADLINE" field_is state play
	# More clients than descriptors.
	TALK_TIMEOUT_MS=1000 "$BIN/rotary_talk" "$SOCKET" --crowd 80 \
		>"$HERE/crowd" || :
	is_alive
	wait_for "$DEADLINE" answers
	keeps_playing
	real_time_was_kept
}

@test "a full disk under the log" {
	[ -c /dev/full ] || skip "/dev/full is missing"
	LOG_TO=/dev/full
	echo nonsense >"$MUSIC/bad.flac"
	long_song good.flac 20
	start_rotaryd
	mpd "add bad.flac" || :
	mpd "add good.flac" play
	wait_for "$DEADLINE" plays good.flac
	stop_rotaryd
	[ "$EXIT" = 0 ]
}

@test "a full disk under the state" {
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null ||
		skip "root and mount namespaces are needed"
	mkdir -p "$STATE"
	cat >"$HERE/run_full" <<END
#!/bin/sh
mount -t tmpfs -o size=256k none "$STATE" && head -c 300000 /dev/zero \
	>"$STATE/filler" 2>/dev/null
exec "\$@"
END
	chmod +x "$HERE/run_full"
	RUN_AS=(unshare -m "$HERE/run_full")
	long_song good.flac 20
	start_rotaryd
	mpd "add good.flac" play
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" elapsed_past 0.3
	stop_rotaryd
}

@test "the music folder vanishes while it plays" {
	long_song one.flac 5
	long_song two.flac 5
	start_rotaryd
	mpd "add one.flac" "add two.flac" play
	wait_for "$DEADLINE" elapsed_past 0.2
	mv "$MUSIC" "$MUSIC.gone"
	run mpd "add one.flac"
	echo "$output"
	mpd status >/dev/null
	# What is open plays on; all else is skipped, and nothing hangs.
	wait_for 60 field_is state stop
	mv "$MUSIC.gone" "$MUSIC"
	mpd "play 0"
	wait_for "$DEADLINE" elapsed_past 0.2
}

# wav_file FILE RATE CHANNELS FRAMES: of 16 bits, written by hand, so that it may
# be what no encoder makes.
wav_file() {
	python3 - "$MUSIC/$1" "$2" "$3" "$4" <<'END'
import struct, sys
name, rate, channels, frames = sys.argv[1], *map(int, sys.argv[2:])
data = b"".join(struct.pack("<h", (i * 7919) % 20000 - 10000)
                for i in range(frames * channels))
body = b"WAVEfmt " + struct.pack(
    "<IHHIIHH", 16, 1, channels, rate, rate * channels * 2 & 0xFFFFFFFF,
    channels * 2, 16) + b"data" + struct.pack("<I", len(data)) + data
open(name, "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)
END
}

# The daemon's CPU time, in ticks.
cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$PID/stat"
}

@test "files of 1 Hz and of 768 kHz are played or refused, and cost no loop" {
	wav_file slow.wav 1 2 3
	wav_file fast.wav 768000 2 768000
	long_song good.flac 20
	for rate in follow 48000; do
		rm -rf "$STATE"
		start_rotaryd "--output.rate=$rate"
		mpd "add slow.wav" "add fast.wav" "add good.flac" play
		before=$(cpu_ticks)
		# The slow one is three seconds long, if it can be played.
		wait_for 60 plays good.flac
		wait_for "$DEADLINE" elapsed_past 0.1
		after=$(cpu_ticks)
		echo "$rate: $((after - before)) ticks"
		[ -n "$ROTARY_SANITIZE" ] || [ $((after - before)) -lt 300 ]
		stop_rotaryd
	done
}

@test "files without a frame, and with 255 channels, are refused in a sentence" {
	wav_file empty.wav 44100 2 0
	wav_file wide.wav 44100 255 100
	long_song good.flac 20
	start_rotaryd
	for file in empty.wav wide.wav; do
		mpd clear
		mpd "add $file" >"$HERE/answer" || continue
		mpd "add good.flac" "play 0"
		wait_for "$DEADLINE" plays good.flac
		wait_for "$DEADLINE" logged "$file"
	done
	mpd clear
	if mpd "add wide.wav" >"$HERE/answer"; then
		mpd "play 0" || :
		wait_for "$DEADLINE" tells_error
		[[ "$(field error)" == *"8 channels"* ]]
	fi
}

@test "300 songs of a single frame are over, and the next one plays" {
	wav_file one.wav 44100 2 1
	long_song good.flac 20
	start_rotaryd
	for _ in $(seq 300); do echo '"add one.wav"'; done |
		xargs "$BIN/rotary_talk" "$SOCKET" >/dev/null
	mpd "add good.flac" play
	before=$(cpu_ticks)
	wait_for 120 plays good.flac
	wait_for "$DEADLINE" elapsed_past 0.1
	after=$(cpu_ticks)
	echo "$((after - before)) ticks"
	[ -n "$ROTARY_SANITIZE" ] || [ $((after - before)) -lt 1000 ]
}

@test "absurd gains in the options are refused, those in tags are ignored" {
	run timeout 20 "$BIN/rotaryd" --music "$MUSIC" --socket "$SOCKET" \
		--output null "--library.state=$STATE" \
		--player.preamp_db=1000000000
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	long_song loud.flac 2
	for gain in "1e9 dB" nan "-inf dB" "999999999999 dB"; do
		metaflac --set-tag="REPLAYGAIN_TRACK_GAIN=$gain" \
			"$MUSIC/loud.flac"
	done
	export ROTARY_TEST_CARD_FORMATS=FLOAT
	start_rotaryd --player.replaygain=auto
	play_through loud.flac
	flac_raw "$MUSIC/loud.flac" >"$HERE/reference.raw"
	heard_equals "$HERE/reference.raw" s16
}

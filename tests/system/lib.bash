# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2001,SC2034
# lib.bash - what every system test stands on: a daemon with a socket, a state,
# music and a sound card of its own, and what was heard.
#
# Nothing of the user is touched: HOME and all XDG folders are in $HERE, a new
# folder in each test, short since a socket's path is. Nothing sleeps to give
# something time: wait_for polls a condition up to a deadline, which is generous
# since it only bounds how long a failure takes.

: "${ROTARY_BUILD:?is set by ctest: the build folder}"
BIN=$ROTARY_BUILD/bin
CACHE=$ROTARY_BUILD/tests/system/music
DEADLINE=${ROTARY_TEST_DEADLINE:-30}
export ALSA_CONFIG_PATH=$ROTARY_BUILD/tests/kit/card/asound.conf
export TSAN_OPTIONS=suppressions=$ROTARY_SOURCE/tests/system/tsan.supp
unset MPD_HOST MPD_PORT NOTIFY_SOCKET LISTEN_FDS RUNTIME_DIRECTORY \
	STATE_DIRECTORY "${!ROTARY_TEST_CARD_@}"

rotary_setup() {
	HERE=$(mktemp -d /tmp/rotary.XXXXXX)
	SOCKET=$HERE/socket
	MUSIC=$HERE/music
	STATE=$HERE/state
	CARD=$HERE/card
	LOG=$HERE/log
	mkdir "$HERE/home" "$MUSIC" "$CARD" "$HERE/run" "$CACHE" 2>/dev/null ||
		mkdir -p "$CACHE"
	: >"$CARD/events.log"
	chmod 700 "$HERE/run"
	export HOME=$HERE/home XDG_RUNTIME_DIR=$HERE/run
	export XDG_CONFIG_HOME=$HOME/config XDG_STATE_HOME=$HOME/state
	export XDG_CACHE_HOME=$HOME/cache XDG_DATA_HOME=$HOME/data
	export ROTARY_TEST_CARD_DIR=$CARD
	# mpc takes a path as the name of a socket.
	export MPD_HOST=$SOCKET
	PID=
	RUN_AS=()
}

rotary_teardown() {
	if [ -z "${BATS_TEST_COMPLETED:-}" ]; then
		echo "--- the log's end:"
		tail -n 40 "$LOG" 2>/dev/null || :
		echo "--- the card's log's end:"
		tail -n 20 "$CARD/events.log" 2>/dev/null || :
	fi
	if [ -n "$PID" ]; then
		kill -9 "$PID" 2>/dev/null || :
		wait "$PID" 2>/dev/null || :
	fi
	# What a sanitizer has found is a failure, however the daemon ended.
	local found
	found=$(grep -sE -A 60 'Sanitizer: |: runtime error: ' "$LOG" || :)
	rm -rf "$HERE"
	[ -z "$found" ] || {
		echo "$found"
		return 1
	}
}

# wait_for SECONDS CONDITION...: until the command succeeds.
wait_for() {
	local seconds=$1 end=$((SECONDS + $1))
	shift
	until "$@"; do
		if [ -n "$PID" ] && ! kill -0 "$PID" 2>/dev/null; then
			echo "the daemon ended while waiting for: $*"
			return 1
		fi
		if ((SECONDS > end)); then
			echo "not within $seconds s: $*"
			return 1
		fi
		sleep 0.03
	done
}

# --- the daemon

# start_rotaryd [OPTION...]: RUN_AS is what it is run by.
start_rotaryd() {
	"${RUN_AS[@]}" "$BIN/rotaryd" --music "$MUSIC" --socket "$SOCKET" \
		--output alsa:rotarytest "--library.state=$STATE" \
		"--realtime.fence=${ROTARY_TEST_FENCE:-kill}" "$@" \
		>>"${LOG_TO:-$LOG}" 2>&1 3>&- &
	PID=$!
	wait_for "$DEADLINE" answers
}

answers() {
	[ -S "$SOCKET" ] && "$BIN/rotary_talk" "$SOCKET" ping >/dev/null 2>&1
}

is_alive() {
	kill -0 "$PID" 2>/dev/null
}

has_ended() {
	! kill -0 "$PID" 2>/dev/null ||
		grep -q '^State:.*Z' "/proc/$PID/status" 2>/dev/null
}

# stop_rotaryd [SIGNAL]: sets EXIT (its status) and TOOK_MS.
stop_rotaryd() {
	local start end=$((SECONDS + DEADLINE))
	start=$(date +%s%N)
	kill "-${1:-TERM}" "$PID"
	until has_ended; do
		if ((SECONDS > end)); then
			echo "the daemon does not end"
			return 1
		fi
		sleep 0.005
	done
	TOOK_MS=$((($(date +%s%N) - start) / 1000000))
	# A thread that hangs in the kernel, on a dead share, keeps its process
	# from being reaped: it has ended as far as it is up to itself.
	[ -z "${ROTARY_STALL_SWITCH:-}" ] || rm -f "$ROTARY_STALL_SWITCH"
	EXIT=0
	wait "$PID" || EXIT=$?
	PID=
}

crash_rotaryd() {
	kill -9 "$PID"
	wait "$PID" 2>/dev/null || :
	PID=
}

# mpd COMMAND...: sends each, prints the answers; fails on an ACK.
mpd() {
	"$BIN/rotary_talk" "$SOCKET" "$@"
}

# field NAME: of the status.
field() {
	mpd status | sed -n "s/^$1: //p"
}

field_is() {
	[ "$(field "$1")" = "$2" ]
}

# elapsed_past SECONDS
elapsed_past() {
	awk -v now="$(field elapsed)" -v wanted="$1" \
		'BEGIN { exit !(now != "" && now >= wanted) }'
}

logged() {
	grep -qE -- "$1" "$LOG"
}

rss_kb() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$PID/status"
}

# --- music

# Quiet enough that no codec overshoots full scale.
# Each of these makes a file once and links it to where it is wanted.
# wav NAME RATE BITS FRAMES [SOX-SYNTH...]: NAME.wav in the cache.
wav() {
	local name=$1 rate=$2 bits=$3 frames=$4
	shift 4
	[ $# -gt 0 ] || set -- whitenoise
	[ -f "$CACHE/$name.wav" ] && return
	# The rate of what comes in, too: else it would be resampled.
	sox -D -R -r "$rate" -n -r "$rate" -b "$bits" -e signed -c 2 \
		"$CACHE/$$.$name.wav" synth "${frames}s" "$@" vol 0.4
	mv "$CACHE/$$.$name.wav" "$CACHE/$name.wav"
}

put() {
	mkdir -p "$(dirname "$MUSIC/$2")"
	# A copy: tests damage files.
	cp "$CACHE/$1" "$MUSIC/$2"
}

# flac_song FILE RATE BITS FRAMES [SOX-SYNTH...]
flac_song() {
	local file=$1 name
	shift
	name=$(echo "$*" | tr -c 'a-z0-9\n' _)
	wav "$name" "$@"
	if [ ! -f "$CACHE/$name.flac" ]; then
		flac -s --totally-silent -f -o "$CACHE/$$.$name.flac" "$CACHE/$name.wav"
		mv "$CACHE/$$.$name.flac" "$CACHE/$name.flac"
	fi
	put "$name.flac" "$file"
}

# vorbis_song FILE RATE BITS FRAMES [SOX-SYNTH...]
vorbis_song() {
	local file=$1 name
	shift
	name=$(echo "$*" | tr -c 'a-z0-9\n' _)
	wav "$name" "$@"
	if [ ! -f "$CACHE/$name.ogg" ]; then
		oggenc -Q -q 5 -s 7 -o "$CACHE/$$.$name.ogg" "$CACHE/$name.wav"
		mv "$CACHE/$$.$name.ogg" "$CACHE/$name.ogg"
	fi
	put "$name.ogg" "$file"
}

# flac_raw FILE: what flac itself makes of it; of 24 bits three bytes each.
flac_raw() {
	flac -d -s -c --force-raw-format --endian=little --sign=signed "$1"
}

# A song of so many seconds of a quiet tone, for tests that don't listen.
long_song() {
	flac_song "$1" 44100 16 "$((44100 * $2))" sine "${3:-440}"
}

# --- what was heard

card_events() {
	grep -cE "^[0-9.]+ [0-9]+ $1" "$CARD/events.log" || :
}

card_has_events() {
	[ "$(card_events "$1")" -ge "$2" ]
}

fault() {
	local before
	before=$(card_events fault)
	echo "$*" >"$CARD/fault.new"
	mv "$CARD/fault.new" "$CARD/fault"
	# An open card says that it has seen it.
	if card_is_open; then
		wait_for "$DEADLINE" card_has_events fault $((before + 1))
	fi
}

card_is_open() {
	[ "$(card_events hw_params)" -gt "$(card_events close)" ]
}

card_is_quiet() {
	tail -n 1 "$CARD/events.log" | grep -qE ' (drained|drop|close) '
}

# Sets HEARD, HEARD_FORMAT (for rotary_pcm_compare), HEARD_RATE of the set-up in
# which most was heard.
find_heard() {
	local number line
	HEARD=$(find "$CARD" -name 'heard.[0-9]*.raw' -printf '%s %p\n' |
		sort -n | tail -n 1 | cut -d ' ' -f 2-)
	number=${HEARD##*/heard.}
	number=${number%.raw}
	line=$(grep -E "^[0-9.]+ $number hw_params" "$CARD/events.log" |
		tail -n 1)
	HEARD_RATE=$(sed 's/.* rate=\([0-9]*\).*/\1/' <<<"$line")
	case $line in
	*format=S16_LE*) HEARD_FORMAT=s16 ;;
	*format=S24_LE*) HEARD_FORMAT=s24 ;;
	*format=S24_3LE*) HEARD_FORMAT=s24_3 ;;
	*format=S32_LE*) HEARD_FORMAT=s32 ;;
	*format=FLOAT_LE*) HEARD_FORMAT=float ;;
	*)
		echo "nothing was set up"
		return 1
		;;
	esac
}

# play_through FILE...: the queue, from the first to the end of the last.
play_through() {
	local file
	for file; do
		mpd "add \"$file\""
	done
	mpd play
	wait_for "$DEADLINE" card_has_events start 1
	wait_for 120 field_is state stop
	wait_for "$DEADLINE" card_is_quiet
	find_heard
}

# heard_equals REFERENCE FORMAT [TOLERANCE]: that, and nothing else.
heard_equals() {
	card_kept_up
	"$BIN/rotary_pcm_compare" 2 "$HEARD" "$HEARD_FORMAT" "$@"
}

# heard_ends_with REFERENCE FORMAT [TOLERANCE]
heard_ends_with() {
	card_kept_up
	"$BIN/rotary_pcm_compare" --tail 2 "$HEARD" "$HEARD_FORMAT" "$@"
}

card_kept_up() {
	if grep -qE '^[0-9.]+ [0-9]+ lost' "$CARD/events.log"; then
		echo "the card itself was late: this run proves nothing"
		return 1
	fi
}

# --- real time

# ThreadSanitizer makes it ten times as slow.
may_be_late() {
	[ "$ROTARY_SANITIZE" = thread ]
}

# real_time_was_kept [ENDS]: no real-time thread made a call that it must not, and
# the card never starved. Where nothing is left to play (an end, a stop, a pause)
# the card is let run dry, behind a silence: that often it may have underrun.
real_time_was_kept() {
	local stats
	stats=$(mpd rtstats)
	echo "$stats"
	if [ "${ROTARY_TEST_FENCE:-kill}" = kill ] &&
		grep -q '^forbidden: ' <<<"$stats"; then
		echo "forbidden system calls"
		return 1
	fi
	# A player that fences itself (no sanitizer) says that it did.
	if [ -z "$ROTARY_SANITIZE" ]; then
		grep -q '^sealed: 1' <<<"$stats"
	fi
	! may_be_late || return 0
	if grep -qE '^xruns: [1-9]' <<<"$stats" ||
		[ "$(card_events xrun)" -gt "${1:-0}" ] ||
		[ "$(card_events late)" != 0 ]; then
		echo "the card starved, or was written too late"
		return 1
	fi
}

# Page faults of the real-time threads, all of them together.
rt_faults() {
	mpd rtstats | awk '/^(minor|major)_faults:/ { n += $2 }
		END { print n + 0 }'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The remote on the running daemon: every row of the default map, what it sends
# and what the daemon then does. Keys are pressed by `rotary key`, so what is
# between a device and the core is not tried here (unit.monitor.test_devices).
# What the daemon does not know yet (speech, menu, playlists) is seen at a relay
# between the two, which writes down each line.

load lib.bash

setup() {
	[ -x "$BIN/rotary-remote" ] || skip "rotary-remote is not built"
	rotary_setup
	unset ROTARY_HOST
	long_song one.flac 300
	SENT=$HERE/sent
	REMOTE=
	RELAY=
}

teardown() {
	[ -z "$REMOTE" ] || kill "$REMOTE" 2>/dev/null || :
	[ -z "$RELAY" ] || kill "$RELAY" 2>/dev/null || :
	[ -n "${BATS_TEST_COMPLETED:-}" ] || tail -n 20 "$HERE/remote.log" || :
	rotary_teardown
}

start_all() {
	local count=10

	start_rotaryd --output null
	while ((count-- > 0)); do mpd 'add "one.flac"' >/dev/null; done
	: >"$SENT"
	"$BIN/rotary_relay" "$HERE/relay" "$SOCKET" "$SENT" 3>&- &
	RELAY=$!
	wait_for "$DEADLINE" test -S "$HERE/relay"
	"$BIN/rotary-remote" --socket "$HERE/relay" "$@" \
		>>"$HERE/remote.log" 2>&1 3>&- &
	REMOTE=$!
	wait_for "$DEADLINE" remote_listens
}

remote_listens() {
	mpd channels | grep -q '^channel: remote'
}

sent() {
	grep -qxF -- "$1" "$SENT"
}

# key NAME[.GESTURE] LINE: pressing it sends LINE.
key() {
	local name=${1%%.*} gesture=short
	[ "$name" = "$1" ] || gesture=${1#*.}
	: >"$SENT"
	"$BIN/rotary" --socket "$SOCKET" key "$name" "$gesture"
	if ! wait_for "$DEADLINE" sent "$2"; then
		echo "$1 should send: $2; sent was:"
		cat "$SENT"
		return 1
	fi
}

# row KEY[.GESTURE] = ACTION: what it sends, and what that does.
row() {
	local key=$1 action=$3

	mpd stop 'setvol 50' 'random 0' 'repeat 0' 'play 3' 'seekcur 1' \
		'pause 1' >/dev/null
	wait_for "$DEADLINE" settled
	case $action in
	'volume +2')
		key "$key" "$action"
		wait_for "$DEADLINE" field_is volume 52
		;;
	'volume -2')
		key "$key" "$action"
		wait_for "$DEADLINE" field_is volume 48
		;;
	next)
		key "$key" next
		wait_for "$DEADLINE" field_is song 4
		;;
	previous)
		key "$key" previous
		wait_for "$DEADLINE" field_is song 2
		;;
	'play '*)
		key "$key" "$action"
		wait_for "$DEADLINE" field_is song "${action#play }"
		;;
	play | pause | toggle)
		key "$key" "${action/toggle/pause}"
		wait_for "$DEADLINE" field_is state play
		;;
	stop)
		key "$key" stop
		wait_for "$DEADLINE" field_is state stop
		;;
	mute)
		key "$key" 'setvol 0'
		wait_for "$DEADLINE" field_is volume 0
		key "$key" 'setvol 50'
		wait_for "$DEADLINE" field_is volume 50
		;;
	'toggle random' | 'toggle repeat')
		key "$key" "${action#toggle } 1"
		wait_for "$DEADLINE" field_is "${action#toggle }" 1
		key "$key" "${action#toggle } 0"
		wait_for "$DEADLINE" field_is "${action#toggle }" 0
		;;
	seekcur*)
		# From 60 s, standing still: what is said is where it went.
		mpd 'seekcur 60' >/dev/null
		wait_for "$DEADLINE" elapsed_is 60
		wait_for "$DEADLINE" settled
		action=${action%\*grow}
		key "$key" "$action"
		action=${action#seekcur }
		# With a sign by so much, else to there.
		[[ $action == [+-]* ]] && action=$((60 + action))
		wait_for "$DEADLINE" elapsed_is "$action"
		;;
	# Not in this daemon yet: what is sent is all there is to see.
	'menu enter')
		key "$key" 'menumode 1'
		sent 'chime open'
		;;
	'speech toggle') key "$key" "speech on $((speech = !${speech:-0}))" ;;
	'mode describe')
		key "$key" 'chime open'
		key HELP 'chime close'
		;;
	favourite) key "$key" 'playlistadd Favourites one.flac' ;;
	saysong | sayrepeat | 'chime error') key "$key" "$action" ;;
	'power '*)
		key "$key" "$(power_words "${action#power }")"
		key OK 'say Cancelled important'
		;;
	noop) ;;
	*)
		echo "no check for $key = $action"
		return 1
		;;
	esac
}

elapsed_is() {
	field_is elapsed "$1.000"
}

# The remote has heard of all that was set.
settled() {
	field_is state pause && field_is volume 50 &&
		field_is song 3 && [ "$(tail -n 1 "$SENT")" != status ]
}

power_words() {
	case $1 in
	off) echo 'say "Switching off in 5 seconds. Any key cancels." important' ;;
	restart) echo 'say "Restarting in 5 seconds. Any key cancels." important' ;;
	sleep) echo 'say "Going to sleep in 5 seconds. Any key cancels." important' ;;
	esac
}

@test "every row of the default map does what it says" {
	local mode key equals action rows=0 speech=0
	start_all
	while read -r mode key equals action; do
		# An axis is turned by a device only.
		[ "$mode" = play ] && [[ $key != REL_* && $key != ABS_* ]] ||
			continue
		row "$key" "$equals" "$action"
		rows=$((rows + 1))
	done < <("$BIN/rotary-remote" --check |
		sed -n '/^map: .*\/default.map/,/^map: .*\/keyboard.map/p')
	echo "$rows rows"
	[ "$rows" -gt 55 ]
}

@test "rotary key: a name that is wrong is told, with what was meant" {
	start_all
	run "$BIN/rotary" --socket "$SOCKET" key VOLUMUP
	[ "$status" = 2 ]
	[[ $output == *'no key VOLUMUP; is it VOLUMEUP?'* ]]
	run "$BIN/rotary" --socket "$SOCKET" key OK held
	[ "$status" = 2 ]
	[[ $output == *'hold, long'* ]]
	# What goes past it is told by the remote, once.
	mpd 'sendmessage remote "key NONSENSE"' 'sendmessage remote "dance"' \
		'sendmessage remote "dance"'
	key STOP stop
	[ "$(grep -c 'the channel says' "$HERE/remote.log")" = 2 ]
}

@test "what a daemon refuses is told once, and the remote goes on" {
	start_all
	key OK saysong
	key OK saysong
	key MENU 'menumode 1'
	key STOP stop
	[ "$(grep -c 'refuses saysong' "$HERE/remote.log")" = 1 ]
	grep -q 'this daemon has no menu' "$HERE/remote.log"
}

@test "a daemon that ends and comes back: keys work, none comes late" {
	start_all
	stop_rotaryd
	wait_for_log 'is lost'
	start_rotaryd --output null
	wait_for "$DEADLINE" remote_listens
	key STOP stop
}

wait_for_log() {
	local end=$((SECONDS + DEADLINE))
	until grep -q -- "$1" "$HERE/remote.log"; do
		((SECONDS < end)) || return 1
		sleep 0.03
	done
}

@test "a key map that changes is read again, a wrong one is not" {
	mkdir "$HERE/maps"
	printf 'include = default.map\n[device *]\n' >"$HERE/maps/default.map"
	rm "$HERE/maps/default.map"
	cp "$ROTARY_SOURCE/config/keymaps/default.map" "$HERE/maps/"
	start_all --keymaps "$HERE/maps"
	key GREEN 'random 1'
	sed -i 's/^SHUFFLE = toggle random/SHUFFLE = clear/' \
		"$HERE/maps/default.map"
	wait_for_log 'read again'
	key GREEN clear
	echo '[nonsense]' >>"$HERE/maps/default.map"
	wait_for_log 'stays as it was'
	key GREEN clear
	rm "$HERE/maps/default.map"
	mkfifo "$HERE/maps/default.map"
	kill -HUP "$REMOTE"
	wait_for_log 'no regular file'
	key STOP stop
}

@test "exec: only when allowed, without a shell, one at a time" {
	mkdir "$HERE/maps"
	{
		sed 's/^SHUFFLE = toggle random//' \
			"$ROTARY_SOURCE/config/keymaps/default.map"
		# shellcheck disable=SC2016 # no shell is to expand it
		printf '[play]\nGREEN = exec %s/program "a; b" $HOME\n' "$HERE"
		printf 'YELLOW = exec %s/none\n' "$HERE"
	} >"$HERE/maps/default.map"
	cat >"$HERE/program" <<END
#!/bin/bash
printf '%s|' "\$@" >>"$HERE/words"
ls /proc/self/fd >>"$HERE/fds"
while [ ! -e "$HERE/go" ]; do sleep 0.02; done
END
	chmod 755 "$HERE/program"
	start_all --keymaps "$HERE/maps" --exec yes
	"$BIN/rotary" --socket "$SOCKET" key GREEN
	wait_for "$DEADLINE" test -s "$HERE/fds"
	"$BIN/rotary" --socket "$SOCKET" key GREEN
	wait_for_log 'still runs'
	"$BIN/rotary" --socket "$SOCKET" key YELLOW
	wait_for_log 'cannot start'
	# shellcheck disable=SC2016
	[ "$(cat "$HERE/words")" = 'a; b|$HOME|' ]
	# 0, 1, 2, and the folder that ls itself has open.
	[ "$(wc -l <"$HERE/fds")" = 4 ]
	touch "$HERE/go"
	key STOP stop
}

@test "a bad command line, options that are wrong" {
	run "$BIN/rotary-remote" --socket
	[ "$status" = 2 ]
	run "$BIN/rotary-remote" --hold_ms 1
	[ "$status" = 2 ]
	[[ $output == *'from 200 to 5000'* ]]
	mkdir "$HERE/maps"
	head -c 20000 /dev/urandom >"$HERE/maps/junk.map"
	run "$BIN/rotary-remote" --check --keymaps "$HERE/maps"
	[ "$status" = 1 ]
	[[ $output == *junk.map:* ]]
}

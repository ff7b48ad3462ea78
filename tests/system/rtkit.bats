# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2016,SC2030,SC2031,SC2034,SC2154
# An ordinary user without any right to priorities plays: the real RealtimeKit
# gives the real-time threads theirs, on a system bus that is the test's own.

load lib

POLKITD=/usr/lib/polkit-1/polkitd
RTKIT=/usr/libexec/rtkit-daemon
NOBODY=65534
LIFE=120 # seconds, of whatever is started here

setup() {
	rotary_setup
	SERVERS=()
}
teardown() {
	[ "${#SERVERS[@]}" = 0 ] || kill "${SERVERS[@]}" 2>/dev/null || :
	rotary_teardown
}

must_be_possible() {
	[ -z "${ROTARY_SANITIZE:-}" ] ||
		skip "a sanitized thread may run for longer than is allowed"
	[ "$(id -u)" = 0 ] || skip "only root can start the services"
	for program in dbus-daemon setpriv prlimit chrt unshare \
		"$POLKITD" "$RTKIT"; do
		command -v "$program" >/dev/null || skip "no $program"
	done
	[ -d /etc/polkit-1/rules.d ] || skip "polkit has no rules to replace"
	unshare -m mount -t tmpfs none /etc/polkit-1/rules.d 2>/dev/null ||
		skip "no mount namespace of our own"
	chrt -r 20 true 2>/dev/null ||
		skip "real-time priority is not permitted"
}

# serve COMMAND...: its output goes through a pipe, for RealtimeKit forbids
# itself to write to files.
serve() {
	timeout "$LIFE" "$@" > >(cat >>"$HERE/servers.log") 2>&1 3>&- &
	SERVERS+=($!)
}

start_bus() {
	cat >"$HERE/bus.conf" <<-END
		<busconfig>
		  <type>system</type>
		  <listen>unix:path=$HERE/bus</listen>
		  <auth>EXTERNAL</auth>
		  <policy context="default">
		    <allow user="*"/>
		    <allow own="*"/>
		    <allow send_destination="*"/>
		    <allow receive_sender="*"/>
		  </policy>
		</busconfig>
	END
	export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$HERE/bus
	serve dbus-daemon "--config-file=$HERE/bus.conf" --nofork --nopidfile
	wait_for "$DEADLINE" test -S "$HERE/bus"
}

# Who sits at the machine may have priority; here nobody does.
start_polkit() {
	mkdir "$HERE/rules"
	cat >"$HERE/rules/10-test.rules" <<-'END'
		polkit.addRule(function(action, subject) {
			if (action.id.indexOf("org.freedesktop.RealtimeKit1.") == 0)
				return polkit.Result.YES;
		});
	END
	chmod 755 "$HERE" "$HERE/rules"
	serve unshare -m sh -c 'mount --bind "$1" /etc/polkit-1/rules.d &&
		exec "$2" --no-debug' sh "$HERE/rules" "$POLKITD"
}

has_owner() {
	dbus-send --system --print-reply --dest=org.freedesktop.DBus / \
		org.freedesktop.DBus.GetNameOwner "string:$1" >/dev/null 2>&1
}

# policies NAME: a line for each of our threads with such a name.
policies() {
	local task
	for task in /proc/"$PID"/task/*; do
		! grep -q "^$1" "$task/comm" ||
			chrt -p "${task##*/}" | sed -n 's/.*policy: //p'
	done
}

# are_served NAME: there are some, and all have what RealtimeKit gives.
are_served() {
	[ "$(policies "$1" | sort -u)" = "SCHED_RR|SCHED_RESET_ON_FORK" ]
}

@test "RealtimeKit gives an ordinary user's threads their priority" {
	must_be_possible
	start_bus
	start_polkit
	wait_for "$DEADLINE" has_owner org.freedesktop.PolicyKit1
	serve "$RTKIT" --stderr
	wait_for "$DEADLINE" has_owner org.freedesktop.RealtimeKit1
	flac_song song.flac 48000 16 480000
	chown -R "$NOBODY:$NOBODY" "$HERE"
	RUN_AS=(prlimit --rtprio=0:0 --nice=0:0 setpriv "--reuid=$NOBODY"
		"--regid=$NOBODY" --clear-groups --inh-caps=-all
		--bounding-set=-all)
	start_rotaryd
	mpd "add song.flac" play
	wait_for "$DEADLINE" elapsed_past 0.5
	mpd rtstats | grep -E '^(thread|rung)'
	are_served decoder
	are_served rotary-output
	[ "$(mpd rtstats | sed -n 's/^rung: //p' | sort -u)" = rtkit ]
	# What RealtimeKit insists on: the kernel ends who runs for longer.
	grep -E '^Max realtime timeout +200000 +200000 ' "/proc/$PID/limits"
	field_is state play
	stop_rotaryd
	[ "$EXIT" = 0 ]
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# Sound servers, by the ALSA plug-ins of PipeWire and PulseAudio: a PipeWire of
# the test's own with a null sink, whose monitor is recorded. Every sample of
# the song is there. aplay is the control: where the server loses its samples,
# too, it had no time, and this run shows nothing.
# PipeWire's plug-in is in the package pipewire-alsa; ROTARY_PIPEWIRE_ALSA may
# name an unpacked libasound_module_pcm_pipewire.so.

load lib

setup() {
	for program in pipewire wireplumber pipewire-pulse pw-record \
		dbus-daemon aplay; do
		command -v $program >/dev/null || skip "there is no $program"
	done
	rotary_setup
	PIDS=()
	unset ALSA_CONFIG_PATH
	export PULSE_SERVER=unix:$HERE/run/pulse/native
	mkdir -p "$XDG_CONFIG_HOME/pipewire/pipewire.conf.d"
	cat >"$XDG_CONFIG_HOME/pipewire/pipewire.conf.d/sink.conf" <<END
context.properties = {
	default.clock.rate = 48000
	default.clock.allowed-rates = [ 48000 ]
}
context.objects = [ { factory = adapter args = {
	factory.name = support.null-audio-sink
	node.name = nowhere
	media.class = Audio/Sink
	object.linger = true
	audio.position = [ FL FR ]
} } ]
END
	flac_song song.flac 48000 16 96000
	flac_raw "$MUSIC/song.flac" >"$HERE/song.raw"
	run_apart dbus-daemon --session --nofork --print-address=1
	wait_for "$DEADLINE" grep -q unix: "$HERE/dbus-daemon.log"
	DBUS_SESSION_BUS_ADDRESS=$(grep unix: "$HERE/dbus-daemon.log")
	export DBUS_SESSION_BUS_ADDRESS
	run_apart pipewire
	wait_for "$DEADLINE" test -S "$HERE/run/pipewire-0"
	run_apart wireplumber
	run_apart pipewire-pulse
	wait_for "$DEADLINE" test -S "$HERE/run/pulse/native"
	wait_for "$DEADLINE" has_node nowhere
}

teardown() {
	[ -n "${HERE:-}" ] || return 0
	[ ${#PIDS[@]} = 0 ] || kill "${PIDS[@]}" 2>/dev/null || :
	rotary_teardown
}

run_apart() {
	"$@" >"$HERE/$1.log" 2>&1 3>&- &
	PIDS+=($!)
}

has_node() {
	pw-cli ls Node 2>/dev/null | grep -q "\"$1\""
}

has_grown_past() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]
}

# record COMMAND...: what the sink heard meanwhile, in heard.raw.
record() {
	local recorder
	rm -f "$HERE/heard.wav"
	pw-record --target nowhere -P '{ stream.capture.sink = true }' \
		--rate 48000 --channels 2 --format s16 "$HERE/heard.wav" \
		>"$HERE/pw-record.log" 2>&1 3>&- &
	recorder=$!
	wait_for "$DEADLINE" has_grown_past "$HERE/heard.wav" 20000
	"$@"
	kill -INT $recorder
	wait $recorder || :
	sox "$HERE/heard.wav" -t raw "$HERE/heard.raw"
}

is_same() {
	"$BIN/rotary_pcm_compare" 2 "$HERE/heard.raw" s16 "$HERE/song.raw" s16
}

play_song() {
	mpd clear "add song.flac" play
	wait_for "$DEADLINE" field_is state play
	wait_for "$DEADLINE" field_is state stop
	wait_for "$DEADLINE" is_closed
}

is_closed() {
	mpd rtstats | grep -q '^output_state: closed'
}

control() {
	aplay -q -D "$1" -t raw -f S16_LE -r 48000 -c 2 "$HERE/song.raw"
	# What the server holds is heard after aplay's end.
	sleep 0.5
}

# every_sample_by DEVICE
every_sample_by() {
	local round
	start_rotaryd "--output=alsa:$1"
	for round in 1 2 3; do
		record play_song
		! is_same || return 0
	done
	for round in 1 2 3; do
		record control "$1"
		is_same || skip "the sound server loses aplay's samples as well"
	done
	echo "aplay's samples all came, ours did not"
	return 1
}

@test "PulseAudio's plug-in" {
	find /usr/lib -name libasound_module_pcm_pulse.so 2>/dev/null |
		grep -q . || skip "there is no ALSA plug-in for PulseAudio"
	every_sample_by pulse
}

@test "PipeWire's plug-in" {
	plugin=${ROTARY_PIPEWIRE_ALSA:-$(find /usr/lib \
		-name libasound_module_pcm_pipewire.so 2>/dev/null | head -n 1)}
	[ -n "$plugin" ] || skip "there is no ALSA plug-in for PipeWire"
	cat >"$HERE/asound.conf" <<END
<confdir:alsa.conf>
pcm_type.pipewire { lib "$plugin" }
pcm.server { type pipewire playback_node "-1" capture_node "-1" }
END
	export ALSA_CONFIG_PATH=/usr/share/alsa/alsa.conf:$HERE/asound.conf
	sed -i 1d "$HERE/asound.conf"
	every_sample_by server
}

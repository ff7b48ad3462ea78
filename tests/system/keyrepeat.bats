# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# A key that is held down seeks 30 times a second: the song goes where all of
# them together lead, no seek is still under way behind the last, and music never
# stops for long meanwhile.

load lib

setup() { rotary_setup; }
teardown() { rotary_teardown; }

# longest_silence: in frames, of the heard file (32 bits, stereo).
longest_silence() {
	od -An -v -t d4 -w8 "$HEARD" | awk '{
		if ($1 == 0 && $2 == 0) { if (++n > most) most = n } else n = 0
	} END { print most + 0 }'
}

held_key() {
	flac_song a.flac 44100 16 5292000
	start_rotaryd "$@"
	mpd "add a.flac" play
	wait_for "$DEADLINE" elapsed_past 0.7
	local before after
	before=$(field elapsed)
	# 40 seeks by 1 s, one each 33 ms; each is answered before the next.
	for _ in {1..40}; do
		mpd "seekcur +1"
		sleep 0.033
	done
	# With the last answer status says the new place, and goes on from there:
	# 40 s on, and no more than the time that has passed.
	after=$(field elapsed)
	awk -v a="$before" -v b="$after" -v most="$((SECONDS - START + 2))" \
		'BEGIN { d = b - a - 40; exit !(d >= -0.2 && d <= most) }' || {
		echo "from $before to $after"
		return 1
	}
	# What is heard is the song at the place that status tells.
	wait_for "$DEADLINE" elapsed_past "$(awk -v a="$after" 'BEGIN { print a + 0.5 }')"
	mpd "pause 1"
	wait_for "$DEADLINE" field_is state pause
	wait_for "$DEADLINE" card_is_quiet
	find_heard
	card_kept_up
	[ "$(longest_silence)" -lt 4410 ]
	[ "$(card_events late)" = 0 ]
}

@test "a held key on a card that can be rewound" {
	START=$SECONDS
	held_key --output.rewind=yes
}

@test "a held key on a card that cannot" {
	START=$SECONDS
	held_key --output.rewind=no
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bats disable=SC1091,SC2030,SC2031,SC2034,SC2154
# What the player's own allocator promises: real-time threads get by without the
# kernel, no file takes more than 64 MiB, and little memory is kept.

load lib

# With a sanitizer's malloc there is no limit, and nothing to see.
setup() {
	[ -z "$ROTARY_SANITIZE" ] || skip "this build has the sanitizer's malloc"
	rotary_setup
}
teardown() { [ -n "$ROTARY_SANITIZE" ] || rotary_teardown; }

# stat_of NAME: of rtstats, summed up over the threads.
stat_of() {
	mpd rtstats | awk -v name="$1:" '$1 == name { n += $2; found = 1 }
		END { print n + 0; exit !found }'
}

peak_kb() {
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$PID/status"
}

plays() {
	[ "$(mpd currentsong | sed -n 's/^file: //p')" = "$1" ] &&
		field_is state play
}

refused() {
	[ "$(stat_of zone_refusals)" -ge "$1" ]
}

rss_is_below() {
	[ "$(rss_kb)" -lt "$1" ]
}

allocator_kept_out() {
	[ "$(stat_of zone_rt_alloc_kernel)" = 0 ]
	[ "$(stat_of zone_rt_dry)" = 0 ]
	[ "$(stat_of reserve_missed)" = 0 ]
	[ "$(stat_of allocator_calls)" = 0 ]
}

@test "the daemon runs on it, and real-time threads without the kernel" {
	long_song a.flac 20
	vorbis_song b.ogg 44100 16 882000 sine 330
	start_rotaryd
	mpd 'add "a.flac"' 'add "b.ogg"' play
	wait_for "$DEADLINE" elapsed_past 1
	mpd rtstats | grep -x 'allocator: zone'
	# two active decoder threads or one, and their spare
	[ "$(stat_of alloc_marked)" -ge 2 ]
	mpd next
	wait_for "$DEADLINE" plays b.ogg
	mpd 'seekcur 8'
	wait_for "$DEADLINE" elapsed_past 8.5
	mpd 'seekcur 2' previous
	wait_for "$DEADLINE" plays a.flac
	wait_for "$DEADLINE" elapsed_past 0.5
	allocator_kept_out
	stat_of zone_purged_pages
	stat_of zone_harvests_asked
	mpd rtstats | grep -E '^zone_class: [0-9]+ slabs [0-9]+ high [0-9]+'
	"$BIN/rotary" --socket "$SOCKET" stats | grep -q 'zone'
}

@test "a Vorbis file that wants 8 GB fails, and the music plays on" {
	long_song good.flac 60
	"$BATS_TEST_DIRNAME/hungry" vorbis "$MUSIC/hungry.ogg"
	start_rotaryd
	mpd 'add "good.flac"' play 'repeat 1'
	wait_for "$DEADLINE" elapsed_past 0.5
	before=$(rss_kb)
	# its tags are read by the decoder that would play it
	mpd 'add "hungry.ogg"' || :
	[ "$(stat_of zone_refusals)" = 1 ]
	plays good.flac
	for refusals in 2 3 4; do
		mpd 'play 1'
		wait_for "$DEADLINE" refused "$refusals"
		wait_for "$DEADLINE" plays good.flac
		wait_for "$DEADLINE" elapsed_past 0.2
	done
	logged 'hungry.ogg: it wants more than 64 MiB of memory'
	[ "$(peak_kb)" -lt $((before + 72 * 1024)) ]
	wait_for "$DEADLINE" rss_is_below $((before + 6 * 1024))
	allocator_kept_out
}

# Else the one ends the process, and the other is worked at for ever.
@test "Vorbis files with codebooks of no encoder are refused" {
	long_song good.flac 60
	start_rotaryd
	mpd 'add "good.flac"' play 'repeat 1'
	wait_for "$DEADLINE" elapsed_past 0.5
	"$BATS_TEST_DIRNAME/hungry" most "$MUSIC/most.ogg"
	mpd 'add "most.ogg"'
	mpd 'play 1'
	wait_for "$DEADLINE" plays good.flac
	mpd 'delete 1'
	for kind in deep flat; do
		"$BATS_TEST_DIRNAME/hungry" "$kind" "$MUSIC/$kind.ogg"
		mpd "add \"$kind.ogg\"" || :
		mpd 'play 1'
		wait_for "$DEADLINE" logged "$kind.ogg: it"
		wait_for "$DEADLINE" plays good.flac
		mpd 'delete 1'
	done
	logged 'deep.ogg: its codebooks are larger than any encoder makes them'
	logged 'flat.ogg: it is damaged'
	logged 'most.ogg' && false
	plays good.flac
	allocator_kept_out
}

@test "metadata of 320 MiB costs no memory" {
	long_song good.flac 20
	"$BATS_TEST_DIRNAME/hungry" flac "$MUSIC/good.flac" "$MUSIC/fat.flac"
	start_rotaryd
	mpd 'add "good.flac"' play
	wait_for "$DEADLINE" elapsed_past 0.5
	before=$(rss_kb)
	mpd 'add "fat.flac"' 'play 1'
	wait_for "$DEADLINE" plays fat.flac
	wait_for "$DEADLINE" elapsed_past 0.5
	[ "$(peak_kb)" -lt $((before + 8 * 1024)) ]
	allocator_kept_out
}

@test "with little memory to lock it plays all the same, and says so" {
	long_song a.flac 20
	RUN_AS=(prlimit --memlock=65536:65536)
	# the right to lock without a limit would show nothing
	if grep -q '^CapEff:.*[4567cdef]...$' /proc/self/status; then
		command -v setpriv >/dev/null || skip "no setpriv"
		RUN_AS+=(setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock)
	fi
	start_rotaryd
	mpd 'add "a.flac"' play
	wait_for "$DEADLINE" elapsed_past 0.5
	[ "$(stat_of zone_reserve_not_locked_bytes)" -gt 0 ]
	[ "$(stat_of alloc_marked)" -ge 2 ]
	"$BIN/rotary" --socket "$SOCKET" doctor | grep -i 'locked memory'
	allocator_kept_out
}

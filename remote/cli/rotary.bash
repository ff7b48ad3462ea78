# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Completion of rotary(1) for bash. Songs and folders are asked of the daemon.

# The daemon's names below what was typed so far, files of this machine after.
_rotary_uris() {
	local word=$1 folder= line
	[[ $word == */* ]] && folder=${word%/*}
	while IFS= read -r line; do
		case $line in
		directory:\ *) line=${line#directory: }/ ;;
		file:\ *) line=${line#file: } ;;
		*) continue ;;
		esac
		[[ $line == "$word"* ]] && COMPREPLY+=("$line")
	done < <("${rotary[@]}" raw lsinfo "$folder" 2>/dev/null)
	[[ ${#COMPREPLY[@]} -gt 0 ]] && return
	mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

# Names of the outputs.
_rotary_outputs() {
	local line
	while IFS= read -r line; do
		[[ $line == outputname:\ "$1"* ]] &&
			COMPREPLY+=("${line#outputname: }")
	done < <("${rotary[@]}" raw outputs 2>/dev/null)
}

_rotary() {
	local word=${COMP_WORDS[COMP_CWORD]} verb= i
	local rotary=("${COMP_WORDS[0]}")
	local verbs="play pause toggle stop next prev seek vol crossfade add clear queue
		status watch outputs enable disable key raw stats doctor reset help"

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--socket)
			rotary+=(--socket "${COMP_WORDS[i + 1]}")
			((i++))
			;;
		--socket=*) rotary+=("${COMP_WORDS[i]}") ;;
		-*) ;;
		*)
			verb=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	if [[ ${COMP_WORDS[COMP_CWORD - 1]} == --socket ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	elif [[ $word == --* ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"--socket --json --help --version" -- "$word")
	elif [[ -z $verb || $verb == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word")
	elif [[ $verb == reset ]]; then
		mapfile -t COMPREPLY < <(compgen -W skips -- "$word")
	elif [[ $verb == key && ${COMP_WORDS[COMP_CWORD - 1]} == key ]]; then
		mapfile -t COMPREPLY < <(compgen -W "OK UP DOWN LEFT RIGHT BACK
			MENU PLAYPAUSE STOP NEXT PREVIOUS VOLUMEUP VOLUMEDOWN
			MUTE INFO RED GREEN YELLOW BLUE POWER" -- "${word^^}")
	elif [[ $verb == key ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"short press hold long repeat double release" -- "$word")
	elif [[ $verb == enable || $verb == disable || $verb == toggle ]]; then
		_rotary_outputs "$word"
	elif [[ $verb == add ]]; then
		_rotary_uris "$word"
	fi
}

complete -o filenames -o nospace -F _rotary rotary

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Completion of rotary-remote(1) for bash: its options are asked of it.
_rotary_remote() {
	local word=${COMP_WORDS[COMP_CWORD]}

	COMPREPLY=()
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--config | --learn | --socket)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	--keymaps)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$(
		"${COMP_WORDS[0]}" --help 2>/dev/null |
			sed -n 's/^  \(--[a-z_-]*\).*/\1/p'
	)" -- "$word")
}

complete -o filenames -F _rotary_remote rotary-remote

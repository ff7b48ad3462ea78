# SPDX-License-Identifier: GPL-3.0-or-later
# key_names.awk - the names of keys and axes in linux/input-event-codes.h, those
# of keys without KEY_. Left out are what only counts them, names that stand for
# another name, and those of groups, whose value is that of the first in it.
function hand_on() {
	if (name != "")
		printf "\t\"%s\",\n", name
}
$1 == "#define" && $2 ~ /^(KEY|BTN|REL|ABS)_/ && $3 ~ /^[0-9]/ &&
    $2 !~ /^(KEY|REL|ABS)_(MAX|CNT|RESERVED)$/ {
	if ($3 != value)
		hand_on()
	name = $2
	value = $3
	sub(/^KEY_/, "", name)
}
END { hand_on() }

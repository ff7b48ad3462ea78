/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - all commands, sorted by name. What is not here is not in
 * `commands`, so clients do not offer what does not work. */
#include "daemon/server/command.h"

#include "daemon/server/groups.h"
#include "daemon/server/idle.h"

#include <stdlib.h>
#include <string.h>

enum {
	NONE = PERMISSION_NONE,
	READ = PERMISSION_READ,
	ADD = PERMISSION_ADD,
	PLAYER = PERMISSION_PLAYER,
	CONTROL = PERMISSION_CONTROL,
	ADMIN = PERMISSION_ADMIN,
	LOCAL = PERMISSION_LOCAL,
};

static const struct command all[] = {
	{"add", ADD, 1, 2, add_add},
	{"addid", ADD, 1, 2, add_addid},
	{"binarylimit", NONE, 1, 1, connection_binarylimit},
	{"channels", READ, 0, 0, channels_channels},
	{"clear", PLAYER, 0, 0, queue_clear},
	{"clearerror", PLAYER, 0, 0, status_clearerror},
	{"close", NONE, 0, -1, connection_close},
	{"commands", NONE, 0, 0, connection_commands},
	{"config", ADMIN | LOCAL, 0, 0, connection_config},
	{"consume", PLAYER, 1, 1, playback_consume},
	{"crossfade", PLAYER, 1, 1, playback_crossfade},
	{"currentsong", READ, 0, 0, status_currentsong},
	{"decoders", READ, 0, 0, connection_decoders},
	{"delete", PLAYER, 1, 1, queue_delete},
	{"deleteid", PLAYER, 1, 1, queue_deleteid},
	{"disableoutput", ADMIN, 1, 1, output_disable},
	{"enableoutput", ADMIN, 1, 1, output_enable},
	{"getvol", READ, 0, 0, playback_getvol},
	{"idle", READ, 0, -1, idle_handle},
	{"kill", ADMIN | LOCAL, 0, 0, connection_kill},
	{"listall", READ, 0, 1, database_listall},
	{"listallinfo", READ, 0, 1, database_listallinfo},
	{"listfiles", READ, 0, 1, database_listfiles},
	{"listpartitions", READ, 0, 0, connection_listpartitions},
	{"lsinfo", READ, 0, 1, database_lsinfo},
	{"mixrampdb", PLAYER, 1, 1, playback_mixrampdb},
	{"mixrampdelay", PLAYER, 1, 1, playback_mixrampdelay},
	{"move", PLAYER, 2, 2, queue_move},
	{"moveid", PLAYER, 2, 2, queue_moveid},
	{"next", PLAYER, 0, 0, playback_next},
	{"notcommands", NONE, 0, 0, connection_notcommands},
	{"outputs", READ, 0, 0, output_outputs},
	{"partition", READ, 1, 1, connection_partition},
	{"pause", PLAYER, 0, 1, playback_pause},
	{"ping", NONE, 0, 0, connection_ping},
	{"play", PLAYER, 0, 1, playback_play},
	{"playid", PLAYER, 0, 1, playback_playid},
	{"playlist", READ, 0, 0, queue_playlist},
	{"playlistid", READ, 0, 1, queue_playlistid},
	{"playlistinfo", READ, 0, 1, queue_playlistinfo},
	{"plchanges", READ, 1, 2, queue_plchanges},
	{"plchangesposid", READ, 1, 2, queue_plchangesposid},
	{"previous", PLAYER, 0, 0, playback_previous},
	{"prio", PLAYER, 2, -1, queue_prio},
	{"prioid", PLAYER, 2, -1, queue_prioid},
	{"random", PLAYER, 1, 1, playback_random},
	{"readmessages", READ, 0, 0, channels_readmessages},
	{"repeat", PLAYER, 1, 1, playback_repeat},
	{"replay_gain_mode", PLAYER, 1, 1, playback_replay_gain_mode},
	{"replay_gain_status", READ, 0, 0, playback_replay_gain_status},
	{"rescan", CONTROL, 0, 1, database_update},
	{"resetskips", CONTROL, 0, 1, skips_reset},
	{"rtstats", READ, 0, 0, output_rtstats},
	{"seek", PLAYER, 2, 2, playback_seek},
	{"seekcur", PLAYER, 1, 1, playback_seekcur},
	{"seekid", PLAYER, 2, 2, playback_seekid},
	{"sendmessage", CONTROL, 2, 2, channels_sendmessage},
	{"setvol", PLAYER, 1, 1, playback_setvol},
	{"shuffle", PLAYER, 0, 1, queue_shuffle},
	{"single", PLAYER, 1, 1, playback_single},
	{"skips", READ, 0, 0, skips_skips},
	{"stats", READ, 0, 0, status_stats},
	{"status", READ, 0, 0, status_status},
	{"stop", PLAYER, 0, 0, playback_stop},
	{"subscribe", READ, 1, 1, channels_subscribe},
	{"swap", PLAYER, 2, 2, queue_swap},
	{"swapid", PLAYER, 2, 2, queue_swapid},
	{"tagtypes", NONE, 0, -1, tagtypes_handle},
	{"toggleoutput", ADMIN, 1, 1, output_toggle},
	{"unsubscribe", READ, 1, 1, channels_unsubscribe},
	{"update", CONTROL, 0, 1, database_update},
	{"urlhandlers", READ, 0, 0, connection_urlhandlers},
	{"volume", PLAYER, 1, 1, playback_volume},
};

const struct command_table command_table_all = {
	all,
	sizeof(all) / sizeof(all[0]),
};

static int
compare_name(const void *name, const void *command)
{
	return strcmp(name, ((const struct command *)command)->name);
}

const struct command *
command_find(const struct command_table *table, const char *name)
{
	return bsearch(name, table->commands, table->count,
		       sizeof(table->commands[0]), compare_name);
}

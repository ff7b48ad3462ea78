/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups.h - the handlers that the command table names, by the file they are
 * in. Threads: control. */
#ifndef ROTARY_SERVER_GROUPS_H
#define ROTARY_SERVER_GROUPS_H

#include "daemon/server/command.h"

#define HANDLER(name)                                                          \
	enum command_result name(struct session *session,                      \
				 const struct request *request)

HANDLER(add_add);
HANDLER(add_addid);

HANDLER(channels_channels);
HANDLER(channels_readmessages);
HANDLER(channels_sendmessage);
HANDLER(channels_subscribe);
HANDLER(channels_unsubscribe);

HANDLER(connection_binarylimit);
HANDLER(connection_close);
HANDLER(connection_commands);
HANDLER(connection_config);
HANDLER(connection_decoders);
HANDLER(connection_kill);
HANDLER(connection_listpartitions);
HANDLER(connection_notcommands);
HANDLER(connection_partition);
HANDLER(connection_ping);
HANDLER(connection_urlhandlers);

HANDLER(database_listall);
HANDLER(database_listallinfo);
HANDLER(database_listfiles);
HANDLER(database_lsinfo);
HANDLER(database_update);

HANDLER(output_disable);
HANDLER(output_enable);
HANDLER(output_outputs);
HANDLER(output_rtstats);
HANDLER(output_toggle);

HANDLER(playback_consume);
HANDLER(playback_crossfade);
HANDLER(playback_getvol);
HANDLER(playback_mixrampdb);
HANDLER(playback_mixrampdelay);
HANDLER(playback_next);
HANDLER(playback_pause);
HANDLER(playback_play);
HANDLER(playback_playid);
HANDLER(playback_previous);
HANDLER(playback_random);
HANDLER(playback_repeat);
HANDLER(playback_replay_gain_mode);
HANDLER(playback_replay_gain_status);
HANDLER(playback_seek);
HANDLER(playback_seekcur);
HANDLER(playback_seekid);
HANDLER(playback_setvol);
HANDLER(playback_single);
HANDLER(playback_stop);
HANDLER(playback_volume);

HANDLER(queue_clear);
HANDLER(queue_delete);
HANDLER(queue_deleteid);
HANDLER(queue_move);
HANDLER(queue_moveid);
HANDLER(queue_playlist);
HANDLER(queue_playlistid);
HANDLER(queue_playlistinfo);
HANDLER(queue_plchanges);
HANDLER(queue_plchangesposid);
HANDLER(queue_prio);
HANDLER(queue_prioid);
HANDLER(queue_shuffle);
HANDLER(queue_swap);
HANDLER(queue_swapid);

HANDLER(skips_reset);
HANDLER(skips_skips);

HANDLER(status_clearerror);
HANDLER(status_currentsong);
HANDLER(status_stats);
HANDLER(status_status);

HANDLER(tagtypes_handle);

#undef HANDLER

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* card.h - what a kind of sound card must do: alsa, null, wav, pipe.
 *
 * A worker opens and closes (both may block for seconds); between them the
 * output thread alone uses the card. Real frame counts are the card's.
 * Errors of the RT members: -EPIPE xrun, -ESTRPIPE suspended, -ENODEV gone,
 * -EAGAIN nothing now, other -errno broken. */
#ifndef ROTARY_OUTPUT_CARD_H
#define ROTARY_OUTPUT_CARD_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"

#include <poll.h>
#include <stdbool.h>

struct card;
struct text;

enum { CARD_POLL_MAX = 8 };

struct card_request {
	const char *device; /* ALSA PCM name or file name; NULL: default */
	struct audio_spec spec;
	uint32_t buffer_ms;
	uint32_t period_ms;
	int rewind;              /* -1 auto, 0 no, 1 yes */
	enum card_format format; /* of a pipe; else the card's choice */
};

struct card_info {
	struct card_spec spec;
	uint32_t buffer_frames;
	uint32_t period_frames;
	uint32_t pad_frames; /* silence to write after the last frame, before
				the card may run dry; 0: it just stops */
	bool can_rewind;     /* rewound frames are really heard anew */
	bool sealable; /* real hardware, or ours: the fence may be closed */
	bool batch;    /* position moves in periods only */
	bool greedy;   /* a plug-in: takes as much as it likes at once */
	bool slips;    /* may play slower than the clock at any time */
	char name[96]; /* for people */
};

struct card_status {
	uint32_t avail_frames; /* that can be written now */
	uint32_t delay_frames; /* written, not heard yet */
	int64_t time_ns;       /* when that was so */
	bool running;
};

struct card_ops {
	const char *name; /* the word of the driver option */

	/* The nearest the card takes to the request. On failure ret_reason
	 * holds one sentence (busy: with the holder). */
	int (*open)(const struct card_request *request, struct card **ret_card,
		    struct text *ret_reason) CALLED_ON(worker);
	/* After the output thread gave it back. Waits for nothing. */
	void (*close)(struct card *card) CALLED_ON(worker);

	/* With -ESTRPIPE ret_status is set too, if it is known. */
	int (*status)(struct card *card, struct card_status *ret_status)
		CALLED_ON(output);
	/* Gives memory for up to *ret_frames frames in the card's format, then
	 * commit says how many were filled in. */
	int (*begin)(struct card *card, void **ret_memory, size_t *ret_frames)
		CALLED_ON(output);
	int (*commit)(struct card *card, size_t frames) CALLED_ON(output);
	/* Takes back up to frames not yet heard; how many, or -errno. */
	long (*rewind)(struct card *card, size_t frames) CALLED_ON(output);
	int (*start)(struct card *card) CALLED_ON(output);
	/* Drops what is queued and makes the card ready to be filled anew. */
	int (*reset)(struct card *card) CALLED_ON(output);
	/* After -ESTRPIPE; -EAGAIN: not yet. */
	int (*resume)(struct card *card) CALLED_ON(output);
	/* Descriptors to poll besides the eventfd; how many. */
	unsigned (*poll_fds)(struct card *card, struct pollfd *ret_fds,
			     unsigned capacity) CALLED_ON(output);
	/* What revents mean: 0 or -errno. */
	int (*poll_events)(struct card *card, struct pollfd *fds,
			   unsigned count) CALLED_ON(output);
};

/* What every card begins with; info is immutable. */
struct card {
	const struct card_ops *ops;
	struct card_info info;
};

extern const struct card_ops card_alsa;
extern const struct card_ops card_null;
extern const struct card_ops card_pipe;
extern const struct card_ops card_wav;

/* True when ALSA knows a hardware sound card, looked up without opening it. */
MAY_BLOCK bool card_alsa_present(void);

#endif

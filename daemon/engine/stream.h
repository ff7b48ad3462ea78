/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.h - one thing that sounds: source, byte ring, decoder, PCM ring.
 *
 *   file --worker--> BYTE RING --decoder--> PCM RING --> its lane
 *
 *   OPENING -> PRIMING -> READY -> PLAYING -> DRAINED
 *        (FAILED and CANCELLED from any)
 *
 * The player knows a song by the id of the stream that it opened, the root.
 * Behind it the engine may open further streams of the same song by itself:
 * the next link of a chained file, and a replacement from some frame on when
 * decoded frames were lost with a deck (a lost card, a lane gone astray).
 *
 * Who may touch what: see the groups of fields. While a job is out, the
 * worker's group is the job's; from READY on it is the claim holder's, but for
 * source, which stays with the jobs.
 * Threads: control, but stream_rt.c: the claim holder, or the worker that
 * primes. */
#ifndef ROTARY_ENGINE_STREAM_H
#define ROTARY_ENGINE_STREAM_H

#include "daemon/audio/replay_gain.h"
#include "daemon/decode/decoder.h"
#include "daemon/decode/reader.h"
#include "daemon/engine/bell.h"
#include "daemon/engine/commons.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/item.h"
#include "daemon/engine/pool.h"
#include "daemon/source/source.h"
#include "daemon/work/work.h"
#include "lib/base/attr.h"
#include "lib/base/clock.h"
#include "lib/base/list.h"
#include "lib/rt/rt.h"
#include "lib/sync/byte_ring.h"
#include "lib/sync/pcm_ring.h"
#include "lib/sync/wake.h"

#include <stdbool.h>

struct resampler;

enum {
	STREAMS_MAX = 256,
	STREAM_STEP_FRAMES = 4608, /* at most: FLAC's largest usual block */
	STREAM_BYTES_MAX = 1 << 20,
	STREAM_BYTES_MIN = 128 << 10,
	STREAM_PCM_MAX = 2 << 20,
	STREAM_LEAST = 256 << 10, /* of ring memory, to be opened at all */
	/* Before it is ready: what a cut needs and a little, where real-time
	 * threads go on at once; else more. The ring holds that at least. */
	STREAM_PRIME_MS = 60,
	STREAM_STOCK_MS = 250,
	STREAM_PCM_MS = 4000,
	STREAM_OVERRUNS_MAX = 8, /* in a row of STREAM_CLEAN_STEPS */
	STREAM_CLEAN_STEPS = 256,
	STREAM_REASON_BYTES = 160,
	STREAM_PARTS_MISSED = 10, /* of a second: cut short, if more lack */
};
/* No further step is begun in a quantum that has run as long. */
#define STREAM_QUANTUM_NS NS_PER_MS
/* A quantum in its overrun may be at the mercy of a busy CPU. Longer than this
 * in all nobody waits: 2 s from the first to the failure, all told. */
#define STREAM_OVERRUN_NS (1500 * NS_PER_MS)

/* Why no further frame comes. */
enum stream_end {
	STREAM_GOES_ON,
	STREAM_ENDED,
	STREAM_LINKED, /* a chain link follows at link_offset */
	STREAM_BROKEN,
};

enum stream_phase {
	STREAM_PHASE_OPEN,  /* source, decoder, seek; primes if it can */
	STREAM_PHASE_PRIME, /* with a PCM ring that control had to find */
	STREAM_PHASE_FILL,  /* reads ahead; decodes, where rt is false */
	STREAM_PHASE_CLOSE,
};

/* A stream whose worker never came back, and the engine's end. */
enum stream_parting { STREAM_TOGETHER, STREAM_RETURNED, STREAM_ENGINE_GONE };

/* A resampler that several streams of a lane pass through in turn; control's
 * (engine_plan.c). */
struct stream_resampler {
	struct resampler *resampler;
	uint32_t in_hz;
	unsigned references;
	struct list retired; /* in engine.retired_resamplers */
	uint64_t generation; /* the last plan that may name it */
};

struct engine;

struct stream {
	struct item item;

	/* immutable from READY on */
	uint64_t id;
	uint64_t root;
	uint64_t parent;     /* the stream whose chain link this is, or 0 */
	uint64_t base_frame; /* in the song, of the first frame */
	struct audio_spec spec;
	uint32_t channel_mask;
	struct replay_gain replay_gain; /* as its tags say */
	struct rt_subject subject;      /* whose fault a crash would be */
	struct commons *commons;        /* a reference; NULL: in tests */
	const struct bell *bell;
	struct wake *wake; /* the decoder threads' */
	bool rt;

	/* the worker's, then the claim holder's */
	struct reader reader;
	struct decoder *decoder;
	const struct decoder_info *live_info; /* the decoder's own */
	uint64_t starved_at; /* bytes written when it starved */
	uint64_t gap_frames; /* silence for damage, as far as it was seen */
	uint64_t gap_told;   /* of these */
	bool starved;
	bool cut; /* as the decoder tells, before end */
	bool bursting;
	uint32_t clean_steps;

	/* atomic; who writes: */
	ATOMIC(uint32_t) end;          /* enum stream_end, claim holder */
	ATOMIC(uint64_t) link_offset;  /* claim holder, before end */
	ATOMIC(uint32_t) link_awaited; /* claim holder sets, control clears */
	ATOMIC(uint32_t) refill;       /* claim holder sets, control clears */
	ATOMIC(uint32_t)
	hungry;                     /* claim holder sets, a job clears: it
				       is to be woken when bytes come */
	ATOMIC(uint32_t) overruns;  /* claim holder */
	ATOMIC(int64_t) overrun_ns; /* claim holder: waited for them */
	ATOMIC(uint64_t) taken_cut; /* lane: that it was taken from in */
	ATOMIC(uint32_t) left;      /* lane: it was taken to its end */
	ATOMIC(uint64_t)
	overlapped_at; /* lane: the frame of the song at which
			  the next one began to be heard with
			  it; UINT64_MAX: none did */
	/* lane: frames of the song before this one are mixed with the song
	   before */
	ATOMIC(uint64_t) mixed_until;
	ATOMIC(uint32_t) shown_state; /* PRIMING, by the worker */
	ATOMIC(uint32_t) parting;     /* enum stream_parting */
	struct byte_ring bytes;
	struct pcm_ring pcm;

	/* the jobs' */
	struct source *source;
	int fill_error; /* -errno of the read-ahead */
	const char
		*open_reason; /* static; why it could not be opened, or, by
				 the claim holder before end, went no further */
	struct work_job job;
	enum stream_phase phase;

	/* control's */
	struct engine *engine; /* NULL: gone */
	struct list link;      /* engine.streams */
	enum stream_state state;
	enum lane_id lane;
	char *uri;
	uid_t uid;
	int64_t start_ns;      /* where to begin, in the song */
	bool start_exact;      /* base_frame tells where to begin */
	bool hasty;            /* the decoder threads are real-time ones */
	bool album;            /* the song is one of an album */
	uint64_t chain_offset; /* byte offset of its chain link, or 0 */
	uint64_t chain_base;   /* frames of the song before that link */
	uint32_t chain_hz;     /* of chain_base; 0: not known */
	const struct decoder_ops *chain_ops;
	struct pool_extent extent;     /* byte ring, and PCM ring if it fits */
	struct pool_extent pcm_extent; /* where it does not */
	struct decoder_info info;      /* a copy; of an older part before */
	uint64_t song_frame; /* base_frame, where it is wanted before */
	int64_t fade_ns;     /* with the end of the song before it */
	uint64_t kept_cut;   /* in which the card was kept for it, or 0 */
	struct stream_resampler *resampler;
	bool job_out;
	bool orphan; /* its job was abandoned */
	bool closed; /* decoder and source are gone, or never were */
	bool in_set; /* until it is reclaimed */
	bool leaving_set;
	bool leaving_line;
	bool linked_on; /* its next link was opened */
	bool in_line;   /* a lane's line holds it */
	bool released;
	bool failed_told;
	uint64_t plan_generation; /* the last plan that names it, or 0 */
	char reason[STREAM_REASON_BYTES]; /* why it failed, or "" */
};

/* Life (stream.c). Links nothing; the caller does. */
struct stream *stream_create(uint64_t id, enum lane_id lane,
			     const struct source_ref *ref);
/* Everything it holds; when no job and no real-time thread can touch it.
 * MAY_BLOCK in the source's close: control calls it only for streams that have
 * none. */
void stream_destroy(struct stream *stream);
/* What a worker must do before control may destroy it. */
MAY_BLOCK void stream_close(struct stream *stream);

/* The jobs' work (stream_job.c). Worker. */
MAY_BLOCK int stream_run_phase(struct stream *stream);

/* Any thread (stream_rt.c). */
RT_SAFE enum stream_end stream_get_end(const struct stream *stream);

/* Real time (stream_rt.c). One decode step; false: nothing could be done.
 * Also the worker's, while it primes. */
RT_DEVICE bool stream_step(struct stream *stream);
/* The claim holder: true when a quantum would do something. Asks for bytes
 * where they run low. */
RT_DEVICE bool stream_wants_quantum(struct stream *stream);
/* Its ring is so empty that a quantum should not wait. */
RT_SAFE bool stream_is_urgent(const struct stream *stream);
/* Begins no further step when it has run for STREAM_QUANTUM_NS, or urgent_ns
 * where little is left in its PCM ring. */
RT_DEVICE enum item_work stream_quantum(struct stream *stream,
					int64_t urgent_ns);

#endif

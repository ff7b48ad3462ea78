/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decoder.h - one file format, one constant table.
 *
 * A decoder is opened, asked for its tags, primed and sought on a worker, with
 * its reader in DIRECT mode. Then, if rt is true, decoder threads call decode
 * with the reader in RING mode; else a worker goes on calling it in DIRECT.
 * Fed in scraps of any size it gives the same samples as from the whole file.
 * Damage is filled with silence of exactly the missing length, so that time
 * does not shift.
 * A decoder, its library included, lives on a heap of its own of at most
 * DECODER_BYTES_MAX, which is freed whole behind destroy. What wants more is
 * left in the middle of its call by longjmp() and never entered again. So a
 * decoder holds nothing but memory and its reader, no lock, and calls nothing
 * that does; its reader allocates nothing. Where the program's malloc is not
 * lib/zone there is no such heap, and no limit.
 * Errors: -EINVAL (not this format, or broken beyond use), -ENOTSUP (a valid
 * file of a kind that we do not play), -ENOMEM, -E2BIG (it wants more memory
 * than it may have), -errno of the source. */
#ifndef ROTARY_DECODE_DECODER_H
#define ROTARY_DECODE_DECODER_H

#include "daemon/audio/format.h"
#include "lib/base/attr.h"

#include <stdbool.h>

struct allocator;
struct decoder;
struct reader;
struct zone_heap;

enum { DECODER_BYTES_MAX = 64 << 20 };

enum decode_status {
	DECODE_OK,      /* *ret_frames frames; 0: a step was spent on damage,
			   call again */
	DECODE_STARVED, /* nothing lost: call again when more bytes are there */
	DECODE_END,     /* all frames were given */
	DECODE_LINK,    /* this chain link is over; the next one begins at
			   decoder_info::link_offset and is another stream */
	DECODE_ERROR,   /* no further frame can be had */
};

struct decoder_info {
	struct audio_spec spec;
	uint32_t channel_mask; /* the places, see channels.h; 0: as usual */
	uint64_t frames; /* in all, as far as the header tells; 0: unknown */
	uint32_t skip_frames; /* encoder delay, already left out */
	uint32_t trim_frames; /* padding at the end, already left out */
	uint32_t bitrate_bps; /* average; 0: unknown */
	bool chained; /* another link follows, as the file's end tells */
	uint64_t link_offset; /* byte offset, valid after DECODE_LINK */
	uint64_t gap_frames;  /* silence put in for damage so far */
	bool cut; /* valid after DECODE_END: the end itself never came */
};

/* Takes "ARTIST", "name" pairs; values need not be valid UTF-8. */
typedef void decoder_tag_fn(void *context, const char *name, const char *value,
			    size_t value_length);

struct decoder_ops {
	const char *name;              /* "flac" */
	const char *const *suffixes;   /* NULL-terminated, lower case */
	const char *const *mime_types; /* NULL-terminated */
	bool rt;                       /* fit for decoder threads */

	/* Pure. How sure the first length bytes of a file make us: 0 no, 50
	 * by suffix only, 100 yes. */
	int (*probe)(const uint8_t *head, size_t length);
	/* The reader stands at the file's first byte, or at a link's. It is
	 * not owned and outlives the decoder. allocator NULL: malloc. */
	int (*open)(struct allocator *allocator, struct reader *reader,
		    struct decoder **ret_decoder) CALLED_ON(worker);
	/* Valid as long as the decoder; decode may update it. */
	const struct decoder_info *(*info)(const struct decoder *decoder);
	/* Calls back for each tag of the file (of the link it stands in). */
	int (*tags)(struct decoder *decoder, decoder_tag_fn *tag, void *context)
		CALLED_ON(worker);
	/* Up to capacity frames of info's channels and kind into ret_samples.
	 * One bounded step of work. */
	enum decode_status (*decode)(struct decoder *decoder, void *ret_samples,
				     size_t capacity, size_t *ret_frames)
		CALLED_ON(decoder);
	/* The next frame that decode gives is exactly frame; past the end: the
	 * next decode gives DECODE_END. Leaves the reader DIRECT. */
	int (*seek)(struct decoder *decoder, uint64_t frame) CALLED_ON(worker);
	void (*destroy)(struct decoder *decoder) CALLED_ON(worker);
};

/* What every decoder begins with. */
struct decoder {
	const struct decoder_ops *ops;
	struct zone_heap *heap; /* decoder_open()'s; NULL: there is none */
	bool overdrawn;         /* left by longjmp(): only to be destroyed */
};

/* All formats, best first; NULL-terminated. */
extern const struct decoder_ops *const decoder_registry[];

/* True when some format has this file name's suffix. */
bool decoder_knows_suffix(const char *file_name);

/* Finds the format by content first and suffix second, and opens it. The
 * reader stands at offset 0. ret_reason, a static string, says what is wrong
 * in a user's words. */
MAY_BLOCK NODISCARD int decoder_open(struct allocator *allocator,
				     struct reader *reader,
				     const char *file_name,
				     struct decoder **ret_decoder,
				     const char **ret_reason);
/* The same for a format that is known. */
MAY_BLOCK NODISCARD int decoder_open_as(const struct decoder_ops *ops,
					struct allocator *allocator,
					struct reader *reader,
					struct decoder **ret_decoder,
					const char **ret_reason);

/* The decoder's own decode, seek, tags and destroy, on its heap.
 * DECODE_ERROR or -E2BIG, and overdrawn, when it wanted too much. */
enum decode_status decoder_decode(struct decoder *decoder, void *ret_samples,
				  size_t capacity, size_t *ret_frames);
MAY_BLOCK NODISCARD int decoder_seek(struct decoder *decoder, uint64_t frame);
/* tag is called outside of the heap. */
MAY_BLOCK NODISCARD int decoder_tags(struct decoder *decoder,
				     decoder_tag_fn *tag, void *context);
MAY_BLOCK void decoder_destroy(struct decoder *decoder); /* NULL is allowed */

/* Why an overdrawn one failed, in a user's words. */
extern const char decoder_overdrawn_reason[];

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wave_view.c - a seek costs nothing until something is read there: then the
 * reader is moved, unless it stands there already. */
#include "daemon/decode/wave_view.h"

#include "daemon/decode/id3.h"
#include "daemon/decode/reader.h"

#include <errno.h>
#include <string.h>

enum { CALLS_MAX = 100 * 1000, BYTES_MAX = 64 << 20 };

static sf_count_t
view_length(void *context)
{
	return (sf_count_t)((struct wave_view *)context)->length;
}

static sf_count_t
view_tell(void *context)
{
	return (sf_count_t)((struct wave_view *)context)->at;
}

static sf_count_t
view_seek(sf_count_t offset, int whence, void *context)
{
	struct wave_view *view = context;
	sf_count_t from = 0;

	if (whence == SEEK_CUR)
		from = (sf_count_t)view->at;
	else if (whence == SEEK_END)
		from = (sf_count_t)view->length;
	if (offset < -from || offset > INT64_MAX / 2)
		return -1;
	view->at = (uint64_t)(from + offset);
	return (sf_count_t)view->at;
}

size_t
wave_view_take(struct wave_view *view, uint8_t *ret_bytes, size_t length)
{
	const uint64_t place = view->base + view->at;
	size_t done = 0;
	int error = 0;

	if (view->at >= view->length || view->calls == 0 || view->error < 0)
		return 0;
	view->calls--;
	if (length > view->length - view->at)
		length = (size_t)(view->length - view->at);
	if (length > view->bytes)
		length = (size_t)view->bytes;
	view->bytes -= length;
	if (reader_offset(view->reader) != place)
		error = reader_seek(view->reader, place);
	while (error == 0 && done < length) {
		size_t count = 0;

		switch (reader_read(view->reader, ret_bytes + done,
				    length - done, &count)) {
		case READER_OK:
			done += count;
			reader_mark(view->reader);
			break;
		case READER_ERROR:
			error = reader_error(view->reader);
			break;
		default:
			length = done;
			break;
		}
	}
	view->error = error;
	view->at += done;
	return done;
}

static sf_count_t
view_read(void *bytes, sf_count_t length, void *context)
{
	struct wave_view *view = context;
	uint8_t *to = bytes;
	const uint64_t from = view->at;
	size_t done = 0;

	if (length <= 0)
		return 0;
	done = wave_view_take(view, to, (size_t)length);
	if (view->is_bw64 && from == 0 && done >= 4)
		memcpy(to, "RF64", 4);
	return (sf_count_t)done;
}

static sf_count_t
view_write(const void *bytes, sf_count_t length, void *context)
{
	(void)bytes;
	(void)length;
	(void)context;
	return 0;
}

int
wave_view_init(struct wave_view *view, struct reader *reader)
{
	const uint64_t length = reader_length(reader);
	uint8_t head[ID3_HEAD_BYTES];
	uint64_t id3 = 0;

	*view = (struct wave_view){
		.reader = reader,
		.base = reader_offset(reader),
		.calls = CALLS_MAX,
		.bytes = BYTES_MAX,
	};
	if (!reader_can_seek(reader) || length > INT64_MAX / 2)
		return -ESPIPE;
	do {
		view->base += id3;
		view->length = length > view->base ? length - view->base : 0;
		view->at = 0;
		if (wave_view_take(view, head, sizeof(head)) < sizeof(head))
			return view->error < 0 ? view->error : -EINVAL;
		id3 = id3_tag_bytes(head, sizeof(head));
	} while (id3 > 0);
	view->is_bw64 = memcmp(head, "BW64", 4) == 0;
	view->at = 0;
	return 0;
}

const SF_VIRTUAL_IO wave_view_io = {
	.get_filelen = view_length,
	.seek = view_seek,
	.read = view_read,
	.write = view_write,
	.tell = view_tell,
};

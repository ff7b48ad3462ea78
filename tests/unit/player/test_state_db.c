/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state.db: what is saved comes back, what is broken is put aside, and what a
 * save costs. The system calls that SQLite writes with are ours here, so that
 * they can be counted and made to fail. */
#include "daemon/player/state_db.h"

#include "daemon/player/song_pack.h"
#include "lib/base/log.h"
#include "tests/unit/player/saved_queue.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

static unsigned syncs;
static size_t written_bytes;
static int write_error;        /* errno of every write, 0: none */
static unsigned writes_before; /* that work before write_error */

int
fdatasync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

int
fsync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fsync, fd);
}

static ssize_t
write_at(int fd, const void *bytes, size_t length, off_t offset)
{
	if (write_error != 0) {
		if (writes_before == 0) {
			errno = write_error;
			return -1;
		}
		writes_before--;
	}
	written_bytes += length;
	return syscall(SYS_pwrite64, fd, bytes, length, offset);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	return write_at(fd, bytes, length, offset);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t length, off_t offset)
{
	return write_at(fd, bytes, length, offset);
}

static int
save(struct state_db *db, struct play_queue *queue, uint32_t since)
{
	struct play_queue_view *view = play_queue_view(queue);
	const struct state_image image = {
		.player = {.volume = 30, .song = 1, .elapsed_ns = 5 * NS_PER_S},
		.queue = view,
		.since_version = since,
		.all = since == 0,
	};
	const int error = state_db_save(db, &image);

	play_queue_view_unref(view);
	return error;
}

static int
save_position(struct state_db *db, int64_t elapsed_ns)
{
	const struct state_image image = {
		.player = {.volume = 30, .song = 1, .elapsed_ns = elapsed_ns},
	};

	return state_db_save(db, &image);
}

static void
assert_loads(const struct play_queue *queue)
{
	struct play_queue *loaded = play_queue_create();
	struct state_db *db = open_db(false);
	struct player_saved saved;

	assert_int_equal(state_db_load(db, loaded, &saved), 0);
	assert_true(same_queue(queue, loaded));
	state_db_close(db);
	play_queue_destroy(loaded);
}

static void
test_pack(void **state)
{
	struct song *song = tagged_song(12);
	struct text pack = {0};
	struct dice dice = dice_seeded(3);

	(void)state;
	song_pack(song, &pack);
	/* Any damage to it gives some song. */
	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[256];
		size_t length = pack.length;
		struct song *other;

		memcpy(bytes, pack.bytes, length);
		for (uint32_t n = dice_roll(&dice, 4); n > 0; n--)
			bytes[dice_roll(&dice, (uint32_t)length)] =
				(uint8_t)dice_roll(&dice, 256);
		if (i % 3 == 0)
			length = dice_roll(&dice, (uint32_t)length + 1);
		other = song_unpack("x", bytes, length);
		assert_non_null(other);
		assert_true(song_duration_ns(other) >= -1);
		song_unref(other);
	}
	text_finish(&pack);
	song_unref(song);
}

static void
test_round(void **state)
{
	const struct state_image image = {
		.player = {.volume = 73,
			   .repeat = true,
			   .single = PLAYER_ONESHOT,
			   .consume = PLAYER_ON,
			   .mixramp_db = -17.25,
			   .mixramp_delay_s = 2.5,
			   .has_crossfade = true,
			   .crossfade_s = 4000000000,
			   .state = PLAYER_PAUSE,
			   .song = 123456,
			   .elapsed_ns = 90 * NS_PER_S},
	};
	struct play_queue *queue = play_queue_create();
	struct state_db *db = open_db(false);
	struct player_saved saved;

	(void)state;
	assert_int_equal(state_db_load(db, queue, &saved), -ENOENT);
	assert_int_equal(state_db_save(db, &image), 0);
	assert_int_equal(state_db_load(db, queue, &saved), 0);
	assert_int_equal(saved.volume, 73);
	assert_true(saved.repeat && !saved.random);
	assert_int_equal(saved.single, PLAYER_ONESHOT);
	assert_int_equal(saved.consume, PLAYER_ON);
	assert_int_equal(saved.state, PLAYER_PAUSE);
	assert_int_equal(saved.song, 123456);
	assert_true(saved.mixramp_db == -17.25);
	assert_true(saved.mixramp_delay_s == 2.5);
	assert_true(saved.has_crossfade);
	assert_int_equal(saved.crossfade_s, 4000000000);
	assert_true(saved.elapsed_ns == 90 * NS_PER_S);
	state_db_close(db);
	play_queue_destroy(queue);
}

/* Only rows that a change touched are written, and still the file is right. */
static void
test_changes(void **state)
{
	struct play_queue *queue = play_queue_create();
	struct dice dice = dice_seeded(1);
	struct state_db *db = open_db(false);
	uint32_t saved = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		for (uint32_t n = dice_roll(&dice, 5); n > 0; n--)
			edit_queue(queue, &dice);
		assert_int_equal(save(db, queue, saved), 0);
		saved = play_queue_version(queue);
		if (i % 10 == 0) {
			state_db_close(db);
			assert_loads(queue);
			db = open_db(false);
		}
	}
	state_db_close(db);
	assert_loads(queue);
	play_queue_destroy(queue);
}

static void
test_cost(void **state)
{
	enum { SAVES = 100 };
	struct play_queue *queue = play_queue_create();
	struct state_db *db = open_db(false);
	uint32_t version;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		insert_song(queue, i, i);
	assert_int_equal(save(db, queue, 0), 0);
	version = play_queue_version(queue);
	syncs = 0;
	written_bytes = 0;
	for (int i = 0; i < SAVES; i++)
		assert_int_equal(save_position(db, i * NS_PER_S), 0);
	assert_int_equal(syncs, SAVES);
	assert_true(written_bytes <= SAVES * 8192);
	/* A song more is not a queue more. */
	insert_song(queue, 1000, 1000);
	written_bytes = 0;
	syncs = 0;
	assert_int_equal(save(db, queue, version), 0);
	assert_int_equal(syncs, 1);
	assert_true(written_bytes <= 8 * 4200);
	state_db_close(db);
	play_queue_destroy(queue);
}

/* A disk that gets full, at each write in turn: all or nothing is saved. */
static void
test_full_disk(void **state)
{
	struct play_queue *before = play_queue_create();
	struct play_queue *after = play_queue_create();
	struct state_db *db = open_db(false);
	unsigned n = 0;
	int error = -1;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		insert_song(before, i, i);
		insert_song(after, i, i + 100);
	}
	assert_int_equal(save(db, before, 0), 0);
	for (n = 0; error < 0; n++) {
		write_error = n % 2 == 0 ? ENOSPC : EIO;
		writes_before = n;
		error = save(db, after, 0);
		write_error = 0;
		state_db_close(db);
		assert_true(error == 0 || error == -ENOSPC || error == -EIO);
		assert_loads(error == 0 ? after : before);
		db = open_db(false);
	}
	assert_true(n > 2);
	state_db_close(db);
	play_queue_destroy(before);
	play_queue_destroy(after);
}

/* Damage. */

static unsigned
count_broken(void)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		count += strncmp(entry->d_name, "state.db.broken-", 16) == 0 &&
			 strchr(entry->d_name + 16, '-') == NULL;
	closedir(dir);
	return count;
}

static void
write_file(const char *name, const void *bytes, size_t length)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
}

static void
test_not_a_database(void **state)
{
	struct dice dice = dice_seeded(5);
	static uint8_t bytes[10000];
	struct state_db *db;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)dice_roll(&dice, 256);
	write_file("state.db", bytes, sizeof(bytes));
	db = open_db(true);
	assert_int_equal(count_broken(), 1);
	assert_int_equal(save_position(db, 1), 0);
	state_db_close(db);
	write_file("state.db", "short", 5);
	db = open_db(true);
	assert_int_equal(count_broken(), 2);
	state_db_close(db);
	/* Empty is as good as none. */
	write_file("state.db", "", 0);
	db = open_db(false);
	assert_int_equal(save_position(db, 1), 0);
	state_db_close(db);
	assert_int_equal(count_broken(), 2);
}

static size_t
read_db(uint8_t *ret_bytes, size_t capacity)
{
	char path[128];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "%s/state.db", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	length = read(fd, ret_bytes, capacity);
	close(fd);
	assert_true(length > 0);
	return (size_t)length;
}

/* Whatever the damage: it ends with a file that can be saved to, and what was
 * read is a queue that can be played. */
static void
open_damaged(void)
{
	struct play_queue *queue = play_queue_create();
	struct player_saved saved = {.song = -1};
	struct state_db *db;
	bool is_new;
	int error;

	assert_int_equal(state_db_open(folder, &db, &is_new), 0);
	error = state_db_load(db, queue, &saved);
	assert_true(error == 0 || error == -ENOENT || error == -EUCLEAN);
	assert_in_range(saved.song + 1, 0, QUEUE_SONGS_MAX);
	assert_true(saved.elapsed_ns >= 0 && saved.volume <= 100);
	error = error == -EUCLEAN ? error : save(db, queue, 0);
	assert_true(error == 0 || error == -EUCLEAN);
	state_db_close(db);
	if (error == -EUCLEAN) {
		state_db_put_aside(folder);
		db = open_db(false);
		assert_int_equal(save(db, queue, 0), 0);
		state_db_close(db);
	}
	assert_loads(queue);
	play_queue_destroy(queue);
}

static void
test_damage(void **state)
{
	enum { SIZE = 1 << 20 };
	static uint8_t good[SIZE];
	static uint8_t bad[SIZE];
	struct play_queue *queue = play_queue_create();
	struct dice dice = dice_seeded(9);
	struct state_db *db = open_db(false);
	size_t length;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		insert_song(queue, i, i);
	assert_int_equal(save(db, queue, 0), 0);
	state_db_close(db);
	play_queue_destroy(queue);
	length = read_db(good, sizeof(good));
	for (int i = 0; i < 36; i++) {
		size_t left = length;

		memcpy(bad, good, length);
		if (i % 3 == 0)
			left = dice_roll(&dice, (uint32_t)length);
		else
			for (int n = 0; n < i * 3; n++)
				bad[dice_roll(&dice, (uint32_t)length)] =
					(uint8_t)dice_roll(&dice, 256);
		if (i % 3 == 2)
			memset(bad + dice_roll(&dice, (uint32_t)length - 4096),
			       0, 4096);
		write_file("state.db", bad, left);
		open_damaged();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack), FOLDER_TEST(test_round),
		FOLDER_TEST(test_changes),   FOLDER_TEST(test_cost),
		FOLDER_TEST(test_full_disk), FOLDER_TEST(test_not_a_database),
		FOLDER_TEST(test_damage),
	};

	log_init(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fixture.h - a test card for one test, and an application that plays on it.
 * Failures are cmocka's; one thread. */
#ifndef ROTARY_KIT_CARD_FIXTURE_H
#define ROTARY_KIT_CARD_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include <alsa/asoundlib.h>

enum { RATE = 48000, CHANNELS = 2, BUFFER = 2400, PERIOD = 240 };
enum { SOUND = 6000, LOG_MAX = 65536, DEADLINE_S = 20 };

struct fixture {
	char dir[64];
	snd_pcm_t *pcm;
	snd_pcm_format_t format;
	bool mmap;
	size_t frame_bytes;
	unsigned char *sound; /* SOUND frames of noise */
	char log[LOG_MAX];
};

/* Of every cmocka test: a new folder; the card runs at four times the rate. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Whole or not at all, as the card must see it. */
void fixture_write_file(const struct fixture *fixture, const char *name,
			const char *text);
const char *fixture_log(struct fixture *fixture);
unsigned fixture_count(struct fixture *fixture, const char *text);
/* Sets the faults and waits until the card has seen it. */
void fixture_fault(struct fixture *fixture, const char *text);

int fixture_open(struct fixture *fixture);
/* Opens a card of this format and makes noise for it. */
void fixture_begin(struct fixture *fixture, snd_pcm_format_t format, bool mmap);
void fixture_end(struct fixture *fixture);
snd_pcm_sframes_t fixture_write_some(struct fixture *fixture, size_t from,
				     size_t frames);
/* Frames [from, to) of the sound, waiting where the card is full. */
void fixture_write(struct fixture *fixture, size_t from, size_t to);
void fixture_drain(struct fixture *fixture);
/* Plays, stops the card's clock, and gives the delay, which is exact then. */
snd_pcm_sframes_t fixture_play_and_stall(struct fixture *fixture,
					 size_t frames);
void fixture_await_state(struct fixture *fixture, snd_pcm_state_t wanted);

/* What was heard in the newest set-up; the card must be closed. */
unsigned char *fixture_read_heard(struct fixture *fixture, size_t *ret_frames);
void fixture_assert_heard(struct fixture *fixture, const void *sound,
			  size_t frames);

#endif

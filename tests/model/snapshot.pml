/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.pml - lib/sync/snapshot.c for spin: READERS readers that enter and
 * leave for ever, and a writer that publishes GENERATIONS objects, reclaims and
 * asks what was passed in between, in every order. Each access to a shared word
 * is a step of its own, a scan looks at one slot at a time; memory is
 * sequentially consistent. Object g is the one of generation g; 0 is none. An
 * object is used until the step that leaves.
 *
 * Asserted:
 *   - no object is used that was released;
 *   - nobody gets an object older than what was published when it entered;
 *   - once snapshot_passed(g) was true, nobody uses an older object.
 *
 * -DFAULT=n plants one of these; spin must then find an error:
 *   1  the slot is stored after the pointer is loaded, as a weaker store than
 *      seq_cst allows
 *   2  the slot holds the generation found after the pointer was loaded
 *   3  the writer stores the generation before the pointer
 *   4  a reader that finds generation 0 leaves its slot idle
 *   5  the slots are scanned before the new pointer is stored
 *   6  what has the generation of the oldest slot is released too
 *   7  a reader leaves before its last use
 *   8  snapshot_passed() does not ask whether the generation is published */
#ifndef READERS
#define READERS 2
#endif
#ifndef GENERATIONS
#define GENERATIONS 4
#endif
#ifndef FAULT
#define FAULT 0
#endif

#define NOBODY 255

byte current;
byte generation;
byte slot[READERS];

/* Ghosts. */
bool released[GENERATIONS + 1];
byte published; /* snapshot_publish() has returned this */
byte passed;    /* the last that was told to be passed */

#define use(object)                                                           \
	assert(!released[object]);                                             \
	assert(object == 0 || object >= passed)

active [READERS] proctype reader()
{
	byte seen;
	byte object;
	byte least;

end:
	do
	:: atomic { least = published; seen = generation };
#if FAULT == 1
	   object = current;
	   slot[_pid] = (seen == 0 -> 1 : seen);
#elif FAULT == 2
	   object = current;
	   seen = generation;
	   slot[_pid] = (seen == 0 -> 1 : seen);
#elif FAULT == 4
	   slot[_pid] = seen;
	   object = current;
#else
	   slot[_pid] = (seen == 0 -> 1 : seen);
	   object = current;
#endif
	   d_step { assert(object >= least); seen = 0; least = 0 };
#if FAULT == 7
	   slot[_pid] = 0;
	   d_step { use(object); object = 0 }
#else
	   d_step { use(object); slot[_pid] = 0; object = 0 }
#endif
	od
}

inline scan()
{
	oldest = NOBODY;
	i = 0;
	do
	:: i < READERS ->
		d_step {
			if
			:: slot[i] != 0 && slot[i] < oldest -> oldest = slot[i]
			:: else
			fi;
			i++
		}
	:: else -> break
	od;
	i = 0
}

#if FAULT == 6
#define may_go(g) (g <= oldest)
#else
#define may_go(g) (g < oldest)
#endif

/* Retired are all objects but the last one published. */
inline release_passed()
{
	d_step {
		i = 1;
		do
		:: i < mine && may_go(i) -> released[i] = true; i++
		:: else -> break
		od;
		i = 0;
		oldest = 0
	}
}

active proctype writer()
{
	byte mine; /* generations published */
	byte oldest;
	byte wanted;
	byte i;

end:
	do
	:: mine < GENERATIONS ->
#if FAULT == 5
		scan();
#endif
		mine++;
#if FAULT == 3
		generation = mine;
		current = mine;
#else
		current = mine;
		generation = mine;
#endif
		published = mine;
#if FAULT == 5
		release_passed()
#endif
#if FAULT != 5
	:: mine > 1 && !released[mine - 1] ->
		scan();
		release_passed()
#endif
	:: mine > 0 && passed <= mine ->
		/* The next one is not published yet. */
		if
		:: wanted = mine
		:: mine < GENERATIONS -> wanted = mine + 1
		fi;
		scan();
		d_step {
			if
#if FAULT == 8
			:: oldest >= wanted -> passed = wanted
#else
			:: wanted <= mine && oldest >= wanted -> passed = wanted
#endif
			:: else
			fi;
			oldest = 0;
			wanted = 0
		}
	od
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim.pml - the claim word of daemon/engine/item.c, the event count of
 * lib/sync/wake.c and the loop of daemon/engine/decoder_rt.c for spin:
 * DECODERS decoder threads, ITEMS items, and MAKERS threads that make work and
 * post, all for ever and in every order. Each access to a word that another
 * thread writes is a step of its own; memory is sequentially consistent, as
 * the code asks for with seq_cst. No sleep has a time limit here.
 *
 * The count is told by what matters of it: moved[d] says that it was raised
 * since decoder d read it last. So it never comes round, and the states are
 * finite. rotary_pull() is one step: rotary.pml is about it. A futex wake may
 * choose any sleeper. A decoder looks ITEMS times before it sleeps; the code
 * looks oftener. A quantum may leave work behind. With -DCHAIN it may end with a
 * post that wakes the next sleeper, as the code does it for a second stream.
 * Merged are steps that nobody can tell apart: finding work and doing it (until
 * then only more of it can come); leaving the sleep and no longer being counted
 * (a poster that counts nobody wakes fewer).
 *
 * With -DDEMOTE there is one turn less than there are decoders; a decoder may
 * lose its turn in a quantum, a parked one takes it, and who lost it parks
 * after the quantum. (The parking lot is an event count too; its sleep is
 * taken for right here.)
 *
 * Asserted:
 *   - no item is run by two threads at once;
 *   - when all that have a turn sleep, and nobody is about to post, there is
 *     no work: a time limit for safety would never fire, which is why the code
 *     has none.
 *
 * -DBLIND: a release does not look whether anybody bounced off. That is no fault
 * while who loses its turn posts always: a thread whose look came too early for
 * some work has read the count too early as well, and will not sleep.
 *
 * -DFAULT=n plants one of these; spin must then find an error:
 *   1  the count is read after the looks
 *   2  a quantum that left work does not begin the round anew
 *   3  a poster looks at the sleepers before it raises the count
 *   4  a sleeper does not compare the count once it is counted
 *   5  work is made after the post
 *   6  a claim is a load and a store
 *   7  a bounce is a plain store
 *   8  a round is a look short of the number of items
 *   9  a sleeper is not counted
 *  10  who lost its turn parks without a post (-DDEMOTE)
 *  11  who lost its turn posts before it releases the item (-DDEMOTE)
 *  12  a post wakes without raising the count */
#ifndef DECODERS
#define DECODERS 3
#endif
#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef MAKERS
#define MAKERS 1
#endif
#ifndef FAULT
#define FAULT 0
#endif

#if FAULT == 8
#define LOOKS (ITEMS - 1)
#else
#define LOOKS ITEMS
#endif

mtype = { FREE, CLAIMED, BOUNCED };

mtype claim[ITEMS] = FREE;
bool work[ITEMS];
byte head;
bool moved[DECODERS];
bool asleep[DECODERS]; /* in the kernel's queue */
byte sleepers;
#ifdef DEMOTE
byte turns = DECODERS - 1;
bool parked[DECODERS] = true;
#define has_lost_turn lost
#define rests(d) (asleep[d] || (parked[d] && turns == 0))
#else
#define has_lost_turn false
#define rests(d) asleep[d]
#endif

/* Ghosts. */
byte runners[ITEMS];
byte posting; /* threads that have made work and not ended their post */

hidden byte k;
hidden byte busy;

inline nothing_is_forgotten()
{
	busy = posting;
	k = 0;
	do
	:: k < DECODERS -> busy = (busy || !rests(k)); k++
	:: else -> break
	od;
	k = 0;
	do
	:: k < ITEMS -> assert(busy || !work[k]); k++
	:: else -> break
	od;
	k = 0;
	busy = false
}

inline raise()
{
	d_step {
#if FAULT != 12
		k = 0;
		do
		:: k < DECODERS -> moved[k] = true; k++
		:: else -> break
		od;
		k = 0
#else
		skip
#endif
	}
}

/* Any of those that sleep. */
inline wake_one()
{
	if
	:: asleep[0] -> asleep[0] = false
#if DECODERS > 1
	:: asleep[1] -> asleep[1] = false
#endif
#if DECODERS > 2
	:: asleep[2] -> asleep[2] = false
#endif
#if DECODERS > 3
	:: asleep[3] -> asleep[3] = false
#endif
	:: else
	fi
}

inline wake_all_seen()
{
	d_step {
		k = 0;
		do
		:: k < DECODERS -> asleep[k] = asleep[k] && !see; k++
		:: else -> break
		od;
		k = 0
	}
}

/* see = somebody sleeps; the wake is the next step. */
inline begin_post()
{
#if FAULT == 3
	see = (sleepers != 0);
	raise()
#else
	raise();
	see = (sleepers != 0)
#endif
}

active [DECODERS] proctype decoder()
{
	byte item;
	byte looks;
	bool see;
	bool worked;
#ifdef DEMOTE
	bool lost;

park:
	atomic { turns > 0 -> turns--; parked[_pid] = false };
#endif

round:
#if FAULT != 1
	moved[_pid] = false;
#endif

pull:
	atomic { item = head; head = (head + 1) % ITEMS; looks++ };

claim_it:
#if FAULT == 6
	see = (claim[item] == FREE);
	atomic {
		if
		:: see ->
			see = false;
			claim[item] = CLAIMED;
			runners[item]++;
			goto quantum
		:: !see && claim[item] == FREE -> goto claim_it
		:: else
		fi
	};
#endif
	atomic {
		if
		:: claim[item] == FREE ->
			claim[item] = CLAIMED;
			runners[item]++;
			goto quantum
		:: claim[item] == BOUNCED -> goto turn_over
		:: claim[item] == CLAIMED
		fi
	};
	atomic {
		if
#if FAULT == 7
		:: claim[item] = BOUNCED; goto turn_over
#else
		:: claim[item] == CLAIMED ->
			claim[item] = BOUNCED;
			goto turn_over
		:: claim[item] == BOUNCED -> goto turn_over
		:: claim[item] == FREE -> goto claim_it
#endif
		fi
	};

quantum:
	atomic {
		assert(runners[item] == 1);
		if
		:: !work[item] -> goto release
		:: work[item] -> worked = true; work[item] = false
		:: work[item] -> worked = true
		fi;
#if FAULT != 2
		looks = 0;
#endif
#ifdef DEMOTE
		if
		:: lost = true; turns++
		:: skip
		fi
#endif
	};
#ifdef CHAIN
	if
	:: begin_post();
	   atomic {
		if
		:: see -> wake_one()
		:: else
		fi;
		see = false
	   }
	:: skip
	fi;
#endif
#if FAULT == 11
	if
	:: lost -> begin_post(); atomic { wake_all_seen(); see = false }
	:: else
	fi;
#endif

release:
	atomic {
		assert(runners[item] == 1);
		runners[item]--;
#ifndef BLIND
		worked = (worked || claim[item] == BOUNCED);
#endif
		claim[item] = FREE;
		item = 0;
#if FAULT == 2
		worked = false;
#endif
		if
		:: !worked && !has_lost_turn -> goto turn_over
		:: worked && !has_lost_turn ->
			worked = false;
			looks = 0;
			goto round
#ifdef DEMOTE
		:: lost -> worked = false; looks = 0
#endif
		fi
	};
#ifdef DEMOTE
#if FAULT != 10 && FAULT != 11
	begin_post();
#endif
	atomic {
		wake_all_seen();
		see = false;
		parked[_pid] = true;
		lost = false;
		d_step { nothing_is_forgotten() };
		goto park
	};
#endif

turn_over:
	atomic {
		item = 0;
		if
		:: looks < LOOKS -> goto pull
		:: else -> looks = 0
		fi
	};

#if FAULT == 1
	moved[_pid] = false;
#endif
#if FAULT != 9
	sleepers++;
#endif
sleep:
	atomic {
		if
#if FAULT != 4
		:: moved[_pid] -> goto awake
#endif
		:: else -> asleep[_pid] = true; d_step { nothing_is_forgotten() }
		fi
	};
	atomic {
		!asleep[_pid];
#if FAULT != 4
		if
		:: moved[_pid]
		:: else -> goto sleep
		fi;
#endif
awake:
#if FAULT != 9
		sleepers--;
#endif
		goto round
	}
}

active [MAKERS] proctype maker()
{
	byte item;
	bool see;

end:
	do
	:: atomic {
		if
		:: item = 0
#if ITEMS > 1
		:: item = 1
#endif
#if ITEMS > 2
		:: item = 2
#endif
		fi;
		posting++;
#if FAULT != 5
		work[item] = true;
		item = 0
#endif
	   };
	   begin_post();
	   atomic {
		if
		:: see -> wake_one()
		:: else
		fi;
		see = false;
#if FAULT == 5
	   };
	   atomic {
		work[item] = true;
		item = 0;
#endif
		posting--;
		d_step { nothing_is_forgotten() }
	   }
	od
}

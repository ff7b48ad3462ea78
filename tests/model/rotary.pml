/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotary.pml - the rotary set of lib/sync/rotary.c for spin: READERS readers
 * that pull or look for ever, and one writer that inserts, removes and takes
 * steps of the reclaim for ever, in every order, over NODES nodes whose memory
 * is used again and again. Nothing bounds the number of steps: the states are
 * finite by themselves. Memory is sequentially consistent here, as the code
 * asks for with seq_cst.
 *
 * Each access to a word that another thread writes is a step of its own, but:
 *
 *   - what only the writer writes (links, marks) it reads together with the
 *     step before;
 *   - a reader's hazard goes together with the last step that needs it. In the
 *     code it goes later. Nobody but a scan reads hazards, and a scan that
 *     finds one changes nothing; so a hazard that is missing for longer only
 *     adds runs in which more is released.
 *   - with -DCOARSE, for the same reason, a hazard also comes as late as it
 *     may: in one step with the second look that confirms it. The first look
 *     and the store before it then leave no trace, and go.
 *
 * The count in the head's word is told by what matters of it: same[r] says that
 * the word has not changed since reader r looked last. So it never comes round.
 * The writer moves the head off a node in one step; in the code, which looks
 * first, it may find that a reader did so, and that another brought it back,
 * which may happen right after it too.
 *
 * A released node is one whose words nobody may read. Asserted:
 *   - no reader reads a released node;
 *   - when a reader finds the mark clear, no removal of that node has returned
 *     (with -DHISTORY the weaker promise of the header instead: no pull that
 *     began after rotary_remove() returned yields the node);
 *   - in every state, a pull that from there on ran alone would end: nobody
 *     waits for the writer or another reader;
 *   - between two calls of the writer, what rotary.c states as invariants;
 *   - with -DFAIR, between two turns of one node each other one that is there
 *     all the time has a turn.
 * With -DTURNS=n there is no writer but one that fills the set: each reader
 * pulls n times, and each node must get floor or ceil of its share of turns.
 *
 * -DFAULT=n plants one of these; spin must then find an error:
 *   1  one hazard, one scan, then release
 *   2  two hazards, one scan, then release
 *   3  as 2, the head looked at before and after the scan
 *   4  a pull returns its node although its exchange failed (-DTURNS)
 *   5  no deletion mark (-DHISTORY)
 *   6  retired nodes are not redirected
 *   7  hazards are not confirmed by a second look
 *   8  the last node is marked before it leads nowhere
 *   9  the second look comes before others can see the hazard: what a weaker
 *      store than seq_cst allows
 *  10  the reclaim's second scan is left out
 *  11  the head is not moved off a retired node before the second scan
 *  12  a node is linked before its own link leads on
 *  13  the head has no count (-DFAIR)
 *  14  an insertion does not change the count (-DFAIR) */
#ifndef NODES
#define NODES 3
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef FAULT
#define FAULT 0
#endif

#define NIL NODES

mtype = { RELEASED, PRESENT, LINKED, ORPHANED, UNSEEN };

mtype state[NODES] = RELEASED; /* PRESENT until rotary_remove() has returned */
byte next[NODES] = NIL;
byte prev[NODES] = NIL; /* the writer's own */
bool removed[NODES];
byte head = NIL;
bool same[READERS];
byte length;

/* hazard[2 * r] is reader r's on the head, the one behind it on its next. */
byte hazard[2 * READERS] = NIL;

#define my_head hazard[2 * _pid]
#define my_next hazard[2 * _pid + 1]
#define is_retired(n) (state[n] != RELEASED && state[n] != PRESENT)
#define alive(n) assert(state[n] != RELEASED)

#ifdef HISTORY
bool banned[NODES]; /* removed before reader 0's pull began */
#endif
#ifdef TURNS
byte turns[NODES];
byte finished;
bool filled;
#endif

#if FAULT == 13
#define same_word (head == node)
#else
#define same_word (head == node && same[_pid])
#endif

inline count()
{
	k = 0;
	do
	:: k < READERS -> same[k] = false; k++
	:: else -> break
	od;
	k = 0
}
hidden byte k;

#ifdef FAIR
bool owed[NODES * NODES]; /* since the turn of n, to m: [n * NODES + m] */
byte coming = NIL;        /* being inserted */

inline nothing_is_owed(n)
{
	k = 0;
	do
	:: k < NODES ->
		owed[n * NODES + k] = false;
		owed[k * NODES + n] = false;
		k++
	:: else -> break
	od;
	k = 0
}

inline has_turn(n)
{
	k = 0;
	do
	:: k < NODES ->
		assert(!owed[n * NODES + k]);
		owed[n * NODES + k] =
			(k != n && k != coming && state[k] == PRESENT &&
			!removed[k] && !removed[n]);
		owed[k * NODES + n] = false;
		k++
	:: else -> break
	od;
	k = 0
}
#else
#define nothing_is_owed(n)
#define has_turn(n)
#endif

/* Follows what a pull would do if it ran alone; the NODES + 1st move of the
 * head would meet a node for the second time. */
hidden byte solo;
hidden byte solo_moves;
inline ends_alone()
{
	solo = head; solo_moves = 0;
	do
	:: solo == NIL || !removed[solo] -> break
	:: else ->
		alive(solo);
		assert(solo_moves < NODES);
		solo = next[solo];
		solo_moves++
	od;
	solo = 0; solo_moves = 0
}

active [READERS] proctype reader()
{
	byte node = NIL;
	byte after = NIL;
#ifdef TURNS
	byte left = TURNS;

	filled;
#endif

pull:
#ifdef TURNS
	atomic {
		if
		:: left == 0 -> finished++; goto done
		:: else -> left--
		fi
	};
#endif
#ifdef HISTORY
	atomic {
		if
		:: _pid == 0 ->
			d_step {
				do
				:: k < NODES -> banned[k] = is_retired(k); k++
				:: else -> break
				od;
				k = 0
			}
		:: else
		fi
	};
#endif
retry:
#ifdef COARSE
	atomic {
		node = head;
		d_step {
			ends_alone();
			my_head = node;
			same[_pid] = (node != NIL)
		};
		if
		:: node == NIL -> goto pull
		:: else
		fi
	};
#elif FAULT == 9
	node = head;
	d_step {
		ends_alone();
		if
		:: head != node -> node = NIL
		:: else -> same[_pid] = (node != NIL)
		fi
	};
	if
	:: node == NIL -> goto retry
	:: else -> my_head = node
	fi;
#else
	atomic {
		node = head;
		d_step { ends_alone() };
		if
		:: node == NIL -> goto pull
		:: else
		fi;
#if FAULT == 7
		same[_pid] = true
#endif
	};
	my_head = node;
#if FAULT != 7
	atomic {
		if
		:: head == node -> same[_pid] = true
		:: else -> my_head = NIL; node = NIL; goto retry
		fi
	};
#endif
#endif

#ifndef TURNS
	/* rotary_head() looks at the mark at once, and goes on only if it is
	 * set, as a pull does. */
	if
	:: atomic {
		alive(node);
		if
		:: removed[node]
		:: else -> same[_pid] = false; goto use
		fi
	}
	:: skip
	fi;
#endif

#ifdef COARSE
	d_step { alive(node); after = next[node]; my_next = after };
#else
	d_step { alive(node); after = next[node] };
#if FAULT != 1
#if FAULT != 9
	my_next = after;
#endif
#if FAULT != 7
	atomic {
		alive(node);
		if
		:: next[node] == after
		:: else ->
			d_step { my_head = NIL; my_next = NIL };
			d_step { node = NIL; after = NIL; same[_pid] = false };
			goto retry
		fi
	};
#endif
#if FAULT == 9
	my_next = after;
#endif
#endif
#endif

	atomic {
		if
		:: same_word ->
			d_step {
				head = after;
				count();
				has_turn(node);
				my_next = NIL;
				after = NIL
			}
		:: else ->
			d_step { my_next = NIL; after = NIL; same[_pid] = false };
#if FAULT == 4
			skip
#else
			d_step { my_head = NIL; node = NIL };
			goto retry
#endif
		fi
	};

#if FAULT != 5
	atomic {
		alive(node);
		if
		:: removed[node] ->
			d_step { my_head = NIL; node = NIL };
			goto retry
		:: else
		fi;
#if FAULT == 0
		assert(state[node] == PRESENT)
#endif
	};
#endif

use:
	/* The quantum on the item, then rotary_release(). */
	atomic {
		alive(node);
#ifdef HISTORY
		assert(_pid != 0 || !banned[node]);
#endif
#ifdef TURNS
		turns[node]++;
#endif
		my_head = NIL;
		node = NIL
	};
	goto pull;
#ifdef TURNS
done:
	skip
#endif
}

#include "rotary_writer.pml"

active proctype writer()
{
	byte node;
	byte before = NIL;
	byte after = NIL;
	byte i;
	bool found;

#ifdef TURNS
	do
	:: node < NODES -> insert(node); node++
	:: else -> break
	od;
	filled = true;
	finished == READERS;
	node = 0;
	do
	:: node < NODES ->
		assert(turns[node] >= READERS * TURNS / NODES &&
			turns[node] <= (READERS * TURNS + NODES - 1) / NODES);
		node++
	:: else -> break
	od
#else
end:
	do
	:: atomic {
#if FAULT == 0
		d_step { invariants() };
#endif
		node = 0;
		do
		:: node < NODES - 1 -> node++
		:: break
		od
	   };
	   if
	   :: state[node] == RELEASED -> insert(node)
	   :: state[node] == PRESENT -> unlink(node)
	   :: is_retired(node) -> reclaim(node)
	   fi;
	   node = 0
	od
#endif
}

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
 * A released node is one whose words nobody may read. Asserted:
 *   - no reader reads a released node;
 *   - when a reader finds the mark clear, no removal of that node has returned
 *     (with -DHISTORY the weaker promise of the header instead: no pull that
 *     began after rotary_remove() returned yields the node);
 *   - in every state, a pull that from there on ran alone would end: nobody
 *     waits for the writer or another reader;
 *   - between two calls of the writer, what rotary.c states as invariants.
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
 *  12  a node is linked before its own link leads on */
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
#ifdef HISTORY
	byte k;
#endif
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
		d_step { ends_alone(); my_head = node };
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
		:: else
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
		fi
	};
	my_head = node;
#if FAULT != 7
	atomic {
		if
		:: head == node
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
		:: else -> goto use
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
			d_step { node = NIL; after = NIL };
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
		:: head == node -> d_step { head = after; my_next = NIL; after = NIL }
		:: else ->
			d_step { my_next = NIL; after = NIL };
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

/* One look a step, until the first hit. */
inline scan(n)
{
	i = 0;
	do
	:: atomic { i < 2 * READERS && hazard[i] != n -> i++ }
	:: atomic { i < 2 * READERS && hazard[i] == n -> found = true; break }
	:: atomic { i == 2 * READERS -> break }
	od;
	i = 0
}

inline release(n)
{
	d_step {
		state[n] = RELEASED; removed[n] = false;
		next[n] = NIL; prev[n] = NIL
	}
}

inline insert(n)
{
	d_step {
		before = head;
		removed[n] = false;
		state[n] = PRESENT;
#ifdef HISTORY
		banned[n] = false;
#endif
		length++;
		if
		:: length == 1 ->
			assert(before == NIL);
			prev[n] = n;
			next[n] = n
		:: else ->
			assert(before != NIL);
			alive(before);
			if
			:: is_retired(before) -> before = next[before]
			:: else
			fi;
			after = next[before];
			assert(after != NIL);
			prev[n] = before;
			prev[after] = n;
#if FAULT != 12
			next[n] = after
#endif
		fi
	};
	if
	:: before == NIL -> head = n
	:: else -> next[before] = n
	fi;
#if FAULT == 12
	if
	:: before != NIL -> next[n] = after
	:: else
	fi;
#endif
	d_step { before = NIL; after = NIL }
}

/* One store a step. */
inline redirect(n, to)
{
	i = 0;
	do
	:: atomic {
		i < NODES && (!is_retired(i) || next[i] != n) -> i++
	}
	:: atomic {
		i < NODES && is_retired(i) && next[i] == n ->
		next[i] = to;
		i++
	}
	:: atomic { i == NODES -> break }
	od;
	i = 0
}

inline unlink(n)
{
	d_step {
		after = (next[n] == n -> NIL : next[n]);
		length--
	};
#if FAULT == 8
	removed[n] = true;
#endif
	if
	:: after == NIL -> next[n] = NIL
	:: else
	fi;
#if FAULT != 5 && FAULT != 8
	removed[n] = true;
#endif
	if
	:: after != NIL ->
		d_step { prev[after] = prev[n]; next[prev[n]] = after }
	:: else
	fi;
#if FAULT != 6
	redirect(n, after);
#endif
	d_step {
		if
		:: after == NIL -> head = NIL
		:: after != NIL && head == n -> head = after
		:: else
		fi;
		state[n] = LINKED;
		after = NIL
	}
}

inline reclaim(n)
{
#if FAULT == 3
	if
	:: head == n -> found = true
	:: else
	fi;
#endif
	if
	:: state[n] == LINKED ->
		scan(n);
		if
#if FAULT == 3
		:: !found && head != n -> release(n)
#elif FAULT == 1 || FAULT == 2
		:: !found -> release(n)
#else
		:: !found -> state[n] = ORPHANED
#endif
		:: else
		fi
	:: state[n] == ORPHANED ->
#if FAULT == 10
		d_step {
			if
			:: head == n -> head = next[n]
			:: else
			fi
		};
		release(n)
#else
		d_step {
#if FAULT != 11
			if
			:: head == n -> head = next[n]
			:: else
			fi;
#endif
			state[n] = UNSEEN
		}
#endif
	:: state[n] == UNSEEN ->
		scan(n);
		if
		:: !found -> release(n)
		:: else
		fi
	fi;
	found = false
}

/* Between two calls of the writer. */
inline invariants()
{
	assert((length == 0) == (head == NIL));
	i = 0;
	do
	:: i < NODES ->
		assert(state[i] == RELEASED || next[i] == NIL ||
			state[next[i]] == PRESENT);
		i++
	:: else -> break
	od;
	i = 0;
	assert(head == NIL || state[head] != RELEASED)
}

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

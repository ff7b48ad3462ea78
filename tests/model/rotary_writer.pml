/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotary_writer.pml - the writer's side of rotary.pml: what rotary_insert(),
 * rotary_remove() and one step of rotary_reclaim() do to node n, with the
 * writer's variables. */

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
#ifdef FAIR
		coming = n;
#endif
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
	:: before == NIL -> d_step { head = n; count() }
	:: else -> next[before] = n
	fi;
#if FAULT == 12
	if
	:: before != NIL -> next[n] = after
	:: else
	fi;
#endif
	d_step {
#if FAULT != 14
		count();
#endif
#ifdef FAIR
		coming = NIL;
#endif
		before = NIL;
		after = NIL
	}
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

inline mark(n)
{
	d_step { removed[n] = true; nothing_is_owed(n) }
}

inline unlink(n)
{
	d_step {
		after = (next[n] == n -> NIL : next[n]);
		length--
	};
#if FAULT == 8
	mark(n);
#endif
	if
	:: after == NIL -> next[n] = NIL
	:: else
	fi;
#if FAULT != 5 && FAULT != 8
	mark(n);
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
		:: after != NIL && head == n -> head = after; count()
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
			:: head == n -> head = next[n]; count()
			:: else
			fi
		};
		release(n)
#else
		d_step {
#if FAULT != 11
			if
			:: head == n -> head = next[n]; count()
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zone.pml - the allocator's three ways between threads for spin, each a model
 * of its own. Each access to a word that another thread writes is a step;
 * memory is sequentially consistent, as the code asks for with seq_cst where
 * that matters. model_zone.c searches the code itself, with delayed stores but
 * a bounded number of preemptions; here are all the orders.
 *
 * -DREMOTE: lib/zone/remote.c and who uses it in bin.c. Two slots of a heap, two
 * blocks in a word of each. FREERS threads free a block of their own again and
 * again, once the owner has given it out again; the owner harvests by flags, or
 * takes the bits of a full slab without looking at its flag. Asserted:
 *   - no bit is set twice or taken twice;
 *   - when no free is under way and the owner has looked, no bit lies there
 *     without a flag and its summary.
 *
 * -DSTACK: lib/zone/stack.c. THREADS threads pop and push ITEMS items, OPS
 * operations each, in any order. The counter goes round after 64 exchanges,
 * which are more than there are. Asserted:
 *   - no item has two holders;
 *   - none is lost.
 *
 * -DADOPT: heaps on the stack of orphans. OWNERS threads adopt one, write to it,
 * harvest and abandon it; the first to find none makes one; meanwhile a thread
 * frees blocks of a heap that has an owner or none. Asserted:
 *   - no heap has two owners, and each sees what the one before wrote;
 *   - a bit that was set is taken by some owner;
 *   - at the end all heaps are orphans.
 *
 * -DFAULT=n plants one of these; spin must then find an error:
 *   REMOTE  1 the slot's flag is not raised
 *           2 the summary is not raised
 *           3 the owner takes the bits before it clears the flag
 *           4 the flags are raised before the bit is set
 *           5 the owner does not raise the summary for flags it leaves
 *           6 a flag is raised by a load and a store
 *           7 bits are taken by a load and a store
 *             (needs two freers of one word: -DFREERS=3)
 *           8 the owner clears the summary after the flag
 *   STACK   1 no counter: a head that came back is taken for the same
 *           2 a push that failed does not write its link again
 *           3 an exchange is a load and a store
 *           4 a pop that failed keeps the link it read
 *           5 a push that gave up says that it did not
 *   ADOPT   1 the heap is written to after it was abandoned
 *           2 who adopts looks at the head, but does not take it
 *           3 a thread that found nothing pending does not abandon
 *           4 a free to an orphan is dropped
 *           5 who adopts clears the flag and does not look */
#ifndef FAULT
#define FAULT 0
#endif

#ifdef REMOTE

#ifndef FREERS
#define FREERS 2
#endif
#ifndef FREES
#define FREES 3
#endif
#define SLOT(who) ((who) % 2)
#define BIT(who)  (1 << (who) / 2)

byte word[2];      /* bits that others freed, a word for each slot */
byte pending;      /* a flag for each slot */
bit summary;
byte given = 15;   /* blocks in use, by freer: only those may be freed */
byte busy;         /* frees under way; the code has no such thing */
byte freed, taken; /* how many */

inline raise_pending(slot) {
#if FAULT == 6
	seen = pending;
	if
	:: seen & (1 << slot)
	:: else -> pending = seen | (1 << slot)
	fi
#elif FAULT != 1
	if
	:: pending & (1 << slot)
	:: else -> pending = pending | (1 << slot)
	fi
#else
	skip
#endif
}

inline raise_summary() {
#if FAULT != 2
	if
	:: summary
	:: else -> summary = 1
	fi
#else
	skip
#endif
}

inline set_bit() {
	atomic {
		assert(!(word[SLOT(who)] & BIT(who)));
		word[SLOT(who)] = word[SLOT(who)] | BIT(who)
	}
}

inline free_block() {
	atomic {
		given & (1 << who) -> given = given & ~(1 << who);
		busy++;
		freed++
	}
#if FAULT != 4
	set_bit();
#endif
	raise_pending(SLOT(who));
	raise_summary();
#if FAULT == 4
	set_bit();
#endif
	busy--
}

proctype freer(byte who) {
	byte count;
#if FAULT == 6
	byte seen;
#endif
	do
	:: count < FREES ->
		free_block();
		count++
	:: else -> break
	od
}

/* bits: of which freers; what comes back is given out again. */
inline give_out() {
	d_step {
		i = 0;
		do
		:: i < FREERS ->
			if
			:: SLOT(i) == slot && (bits & BIT(i)) ->
				assert(!(given & (1 << i)));
				given = given | (1 << i);
				taken++
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0;
		bits = 0
	}
}

inline take_word() {
	if
	:: word[slot] == 0
	:: else ->
#if FAULT == 7
		bits = word[slot];
		word[slot] = 0;
#else
		d_step { bits = word[slot]; word[slot] = 0 };
#endif
		give_out()
	fi
}

inline harvest() {
	if
	:: !summary
	:: else ->
#if FAULT != 8
		summary = 0;
#endif
		flags = pending;
		if
		:: flags == 0
		:: else ->
			slot = (flags & 1 -> 0 : 1);
#if FAULT == 3
			take_word();
#endif
			pending = pending & ~(1 << slot);
#if FAULT == 8
			summary = 0;
#endif
#if FAULT != 5
			if
			:: flags == 3 -> raise_summary()
			:: else
			fi;
#endif
#if FAULT != 3
			take_word()
#endif
		fi;
		d_step { flags = 0; slot = 0 }
	fi
}

proctype owner() {
	byte flags, slot, bits, i;

	do
	:: harvest()
	:: slot = 0; take_word(); slot = 0
	:: slot = 1; take_word(); slot = 0
	:: atomic {
		busy == 0 && !summary ->
		assert(word[0] == 0 && word[1] == 0);
		assert(freed == taken);
		if
		:: freed == FREERS * FREES -> break
		:: else
		fi
	}
	od
}

init {
	byte i;

	atomic {
		run owner();
		do
		:: i < FREERS -> run freer(i); i++
		:: else -> break
		od
	}
}
#endif

#if defined(STACK) || defined(ADOPT)

#ifndef ITEMS
#define ITEMS 3
#endif

byte head;    /* index; 0: empty */
byte counter; /* the other half of the head's word */
byte link[ITEMS + 1];

/* What a load or an exchange of the whole word costs is one step. */
inline load_head() {
	atomic { old = head; count = counter }
}

#if FAULT == 1 && defined(STACK)
#define SAME (head == old)
#else
#define SAME (head == old && counter == count)
#endif

#if FAULT == 3 && defined(STACK)
#define EXCHANGE(to)                                                           \
	same = SAME;                                                           \
	if                                                                     \
	:: same -> atomic { head = to; counter = (counter + 1) % 64 }          \
	:: else                                                                \
	fi
#else
#define EXCHANGE(to)                                                           \
	atomic {                                                               \
		same = SAME;                                                   \
		if                                                             \
		:: same -> head = to; counter = (counter + 1) % 64             \
		:: else -> old = head; count = counter                         \
		fi                                                             \
	}
#endif

/* Into item, 0: empty. */
inline pop() {
	load_head();
	same = false;
	below = 255;
	do
	:: old == 0 || same -> break
	:: else ->
#if FAULT == 4 && defined(STACK)
		if
		:: below == 255 -> below = link[old]
		:: else
		fi;
#else
		below = link[old];
#endif
		item = old;
		EXCHANGE(below)
	od;
	atomic {
		if
		:: !same -> item = 0
		:: else
		fi;
		old = 0;
		count = 0;
		below = 0;
		same = false
	}
}

inline push(what) {
	load_head();
	same = false;
#if FAULT == 2 && defined(STACK)
	link[what] = old;
#endif
	do
	:: same -> break
	:: else ->
#if FAULT != 2 || !defined(STACK)
		link[what] = old;
#endif
		EXCHANGE(what)
	od;
	atomic { old = 0; count = 0; same = false }
}
#endif

#ifdef STACK

#ifndef THREADS
#define THREADS 3
#endif
#ifndef OPS
#define OPS 3
#endif

byte holder[ITEMS + 1]; /* thread, 0: nobody */
byte ended;

inline hold() {
	atomic {
		if
		:: item != 0 ->
			assert(holder[item] == 0);
			holder[item] = _pid
		:: else
		fi;
		item = 0
	}
}

/* One exchange at most, as a real-time thread does it. */
inline push_once(what) {
	load_head();
	link[what] = old;
	EXCHANGE(what);
	if
	:: same
	:: else ->
#if FAULT != 5
		holder[what] = _pid
#endif
	fi;
	atomic { old = 0; count = 0; same = false }
}

proctype thread() {
	byte old, count, below, item, ops, mine;
	bool same;

	do
	:: ops < OPS ->
		ops++;
		if
		:: pop(); hold()
		:: atomic {
			mine = 1;
			do
			:: mine <= ITEMS && holder[mine] != _pid -> mine++
			:: else -> break
			od
		   };
		   if
		   :: mine <= ITEMS ->
			holder[mine] = 0;
			if
			:: push(mine)
			:: push_once(mine)
			fi
		   :: else
		   fi;
		   mine = 0
		fi
	:: else -> break
	od;
	ended++
}

init {
	byte i, found;

	atomic {
		i = 1;
		do
		:: i <= ITEMS -> link[i] = head; head = i; i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < THREADS -> run thread(); i++
		:: else -> break
		od
	}
	atomic {
		ended == THREADS;
		i = head;
		do
		:: i != 0 && found <= ITEMS ->
			assert(holder[i] == 0);
			found++;
			i = link[i]
		:: else -> break
		od;
		i = 1;
		do
		:: i <= ITEMS ->
			if
			:: holder[i] != 0 -> found++
			:: else
			fi;
			i++
		:: else -> break
		od;
		assert(found == ITEMS)
	}
}
#endif

#ifdef ADOPT

#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef FREES
#define FREES 3
#endif

byte owner[ITEMS + 1];   /* thread, 0: an orphan or not made */
byte written[ITEMS + 1]; /* by its owners, in two steps each */
byte before[ITEMS + 1];
bit bits[ITEMS + 1];     /* freed by others */
bit flag[ITEMS + 1];
byte made, ended, freed, taken;

inline look() {
	if
	:: !flag[item]
	:: else ->
		flag[item] = 0;
#if FAULT == 5
		if
		:: adopted
		:: else ->
			atomic { taken = taken + bits[item]; bits[item] = 0 }
		fi
#else
		atomic { taken = taken + bits[item]; bits[item] = 0 }
#endif
	fi
}

inline adopt() {
#if FAULT == 2
	item = head;
#else
	pop();
#endif
	if
	:: item == 0 ->
		atomic {
			if
			:: made < ITEMS -> made++; item = made
			:: else
			fi
		}
#if FAULT == 5
		adopted = false
	:: else -> adopted = true
#else
	:: else
#endif
	fi
}

inline use() {
	atomic {
		assert(owner[item] == 0);
		assert(written[item] == before[item]);
		owner[item] = _pid;
		written[item]++
	};
	look();
	before[item]++
}

proctype user() {
	byte old, count, below, item, lives;
	bool same;
#if FAULT == 5
	bool adopted;
#endif
	do
	:: lives < 2 ->
		lives++;
		adopt();
		if
		:: item == 0
		:: else ->
			use();
#if FAULT == 3
			if
			:: flag[item] -> owner[item] = 0; push(item)
			:: else
			fi;
#elif FAULT == 1
			owner[item] = 0;
			push(item);
			written[item]++;
			before[item]++;
#else
			owner[item] = 0;
			push(item);
#endif
			item = 0
		fi
	:: else -> break
	od;
	ended++
}

proctype freer() {
	byte count, to;

	do
	:: count < FREES ->
		to = (made > 1 && count % 2 -> 2 : 1);
		if
		:: atomic {
			made >= to && !bits[to] ->
#if FAULT == 4
			if
			:: owner[to] != 0 -> bits[to] = 1
			:: else
			fi;
#else
			bits[to] = 1;
#endif
			freed++
		   }
		:: ended == OWNERS -> break
		fi;
		if
		:: flag[to]
		:: else -> flag[to] = 1
		fi;
		count++;
		to = 0
	:: else -> break
	od;
	ended++
}

init {
	byte i, found, left;

	atomic {
		run freer();
		do
		:: i < OWNERS -> run user(); i++
		:: else -> break
		od
	}
	atomic {
		ended == OWNERS + 1;
		i = head;
		do
		:: i != 0 && found <= ITEMS ->
			assert(owner[i] == 0);
			assert(flag[i] || !bits[i]);
			left = left + bits[i];
			found++;
			i = link[i]
		:: else -> break
		od;
		assert(found == made);
		assert(freed == taken + left)
	}
}
#endif

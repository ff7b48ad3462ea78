# SPDX-License-Identifier: GPL-3.0-or-later
"""What each workload tells, and the goals that the figures are held against.

A goal is a workload, a figure, what is asked for in words, and a function of
our median, the medians of the rivals by name, and our other medians, that says
whether it is met. A rival that was not compared raises KeyError, and the goal
is skipped with that reason. Ticks and nanoseconds are of the machine on which
the goals were set (Zen 5, 2.6 GHz counter): elsewhere the ratios tell more.
"""

# Workload: its figures, and whether less is better.
WORKLOADS = {
    "storm": [("sum_cut", True), ("sum_net", True), ("malloc_p99.9", True),
              ("malloc_p99.99", True), ("free_p99.9", True),
              ("free_p99.99", True), ("noise_p99.9", True),
              ("noise_p99.99", True), ("peak_mb", True)],
    "stormbig": [("sum_cut", True), ("sum_net", True), ("malloc_p99.99", True),
                 ("free_p99.99", True), ("warm_malloc_p99.99", True),
                 ("warm_free_p99.99", True), ("noise_p99.99", True),
                 ("peak_mb", True)],
    "hot": [("malloc_p99.9", True), ("free_p99.9", True),
            ("noise_p99.9", True)],
    "tree": [("ms", True), ("peak_mb", True)],
    "churn": [("ns", True), ("peak_mb", True)],
    "churnrealloc": [("ns", True), ("peak_mb", True)],
    "reall": [("grow_ms", True), ("random_ns", True), ("peak_mb", True)],
    "frag": [("peak_per_live", True), ("end_per_live", True)],
    "xfree": [("m_per_s", False), ("peak_mb", True)],
    "xfreeboth": [("m_per_s", False), ("peak_mb", True)],
    "larson": [("m_per_s", False), ("peak_mb", True)],
    "spawn": [("us", True), ("minor_faults", True)],
    "nothing": [("peak_mb", True)],
    "decode": [("seconds", True), ("mticks_cut", True), ("mticks", True),
               ("malloc_p99.99", True), ("calloc_p99.99", True),
               ("free_p99.99", True), ("peak_mb", True)],
    "replay": [("ns", True), ("peak_mb", True)],
    "replay-rotaryd": [("ns", True), ("peak_mb", True)],
    "replay-espeak-ng": [("ns", True), ("peak_mb", True)],
    "rt": [("period_p50_us", True), ("worst_period_us", True),
           ("worst_touched_us", True), ("worst_call", True),
           ("noise_period_us", True), ("noise_call", True),
           ("minor_faults", True), ("peak_mb", True)],
    "rt-mlock": [("worst_period_us", True), ("worst_call", True),
                 ("noise_period_us", True), ("minor_faults", True),
                 ("peak_mb", True)],
    "sizes": [],
    "age": [],
}

SIZE_CLASS_RIVALS = ("jemalloc", "tcmalloc", "mimalloc", "tbb")


def at_most(limit, noise=None):
    """Or as much as the machine itself did."""
    def holds(zone, _rivals, own):
        return zone <= max(limit, own.get(noise, 0))
    return holds


def ratio(name, limit):
    return lambda zone, rivals, _own: zone <= limit * rivals[name]


def at_least(name, factor):
    return lambda zone, rivals, _own: zone >= factor * rivals[name]


GOALS = [
    ("storm", "sum_cut", "<= 85 ticks", at_most(85)),
    ("storm", "sum_cut", "<= .60 of glibc", ratio("glibc", .60)),
    ("storm", "malloc_p99.9", "<= 208 or noise", at_most(208, "noise_p99.9")),
    ("storm", "malloc_p99.99", "<= 450 or noise",
     at_most(450, "noise_p99.99")),
    ("storm", "free_p99.9", "<= 260 or noise", at_most(260, "noise_p99.9")),
    ("storm", "free_p99.99", "<= 450 or noise", at_most(450, "noise_p99.99")),
    ("stormbig", "sum_cut", "<= 230 ticks", at_most(230)),
    ("stormbig", "sum_cut", "<= .75 of jemalloc", ratio("jemalloc", .75)),
    ("stormbig", "sum_net", "<= .13 of glibc, slow calls too",
     ratio("glibc", .13)),
    ("stormbig", "malloc_p99.99", "<= 4000 or noise",
     at_most(4000, "noise_p99.99")),
    ("stormbig", "free_p99.99", "<= 1500 or noise",
     at_most(1500, "noise_p99.99")),
    ("stormbig", "warm_malloc_p99.99", "<= 1000 or noise",
     at_most(1000, "noise_p99.99")),
    ("stormbig", "warm_free_p99.99", "<= 1000 or noise",
     at_most(1000, "noise_p99.99")),
    ("hot", "malloc_p99.9", "<= 104", at_most(104, "noise_p99.9")),
    ("hot", "free_p99.9", "<= 104", at_most(104, "noise_p99.9")),
    ("tree", "ms", "<= .92 of glibc", ratio("glibc", .92)),
    ("tree", "peak_mb", "<= 1.01 of mimalloc", ratio("mimalloc", 1.01)),
    ("churn", "ns", "<= 22.5", at_most(22.5)),
    ("churn", "ns", "<= tcmalloc", ratio("tcmalloc", 1)),
    ("churn", "peak_mb", "<= each size-class rival",
     lambda z, r, _: z <= min(r[n] for n in SIZE_CLASS_RIVALS)),
    ("churnrealloc", "ns", "<= .44 of glibc", ratio("glibc", .44)),
    ("xfree", "m_per_s", ">= 70", lambda z, _r, _o: z >= 70),
    ("xfree", "m_per_s", ">= 1.5 of the best rival",
     lambda z, r, _: z >= 1.5 * max(r.values())),
    ("xfree", "m_per_s", ">= 1.5 of snmalloc", at_least("snmalloc", 1.5)),
    ("xfreeboth", "m_per_s", ">= .97 of tcmalloc", at_least("tcmalloc", .97)),
    ("xfreeboth", "peak_mb", "<= half of tcmalloc", ratio("tcmalloc", .5)),
    ("larson", "m_per_s", ">= 1.25 of snmalloc", at_least("snmalloc", 1.25)),
    ("larson", "m_per_s", ">= 1.25 of the best rival",
     lambda z, r, _: z >= 1.25 * max(r.values())),
    ("larson", "peak_mb", "<= 11", at_most(11)),
    ("reall", "grow_ms", "<= 1.4 of glibc", ratio("glibc", 1.4)),
    ("reall", "random_ns", "<= 480", at_most(480)),
    ("reall", "peak_mb", "<= 40", at_most(40)),
    ("frag", "peak_per_live", "<= 6.0", at_most(6)),
    ("frag", "end_per_live", "<= 11", at_most(11)),
    ("spawn", "us", "<= 1.08 of glibc", ratio("glibc", 1.08)),
    ("spawn", "minor_faults", "<= 57", at_most(57)),
    ("nothing", "peak_mb", "<= 1.11 of glibc", ratio("glibc", 1.11)),
    ("decode", "mticks_cut", "<= .69 of glibc", ratio("glibc", .69)),
    ("decode", "malloc_p99.99", "<= 1440", at_most(1440)),
    ("decode", "calloc_p99.99", "<= 1536", at_most(1536)),
    ("decode", "free_p99.99", "<= 450", at_most(450)),
    ("rt", "worst_period_us", "<= 20 or noise",
     at_most(20, "noise_period_us")),
    ("rt", "worst_touched_us", "<= 25 or noise",
     at_most(25, "noise_period_us")),
    ("rt", "worst_call", "<= 6000 ticks or noise", at_most(6000, "noise_call")),
    ("rt", "minor_faults", "0", at_most(0)),
    ("rt-mlock", "worst_period_us", "<= 20 or noise",
     at_most(20, "noise_period_us")),
    ("rt-mlock", "peak_mb", "<= 50", at_most(50)),
]

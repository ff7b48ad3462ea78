# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose xrun was it? Bare SCHED_FIFO writers, one on each CPU, feed cards of the
same model beside the player: an xrun of ours within 50 ms of one of their xruns
or late wake-ups is the machine's, and is counted apart."""

import os
import subprocess
import time

import player

WINDOW_S = 0.050
# Priority just below the output thread's own, as a fair neighbour.
PRIORITY = "44"
FAULTS = ("minor_faults", "major_faults", "forbidden")


def buffer_options(buffer_ms):
    """Of a rotaryd; none for its own default, which is None."""
    if buffer_ms is None:
        return []
    return [f"--output.buffer_ms={buffer_ms}",
            f"--output.period_ms={max(1, buffer_ms // 4)}"]


def start_playing(client):
    client.ask('add "/"')
    client.ask("repeat 1")
    client.ask("play")


class Writers:
    """A bare writer on each CPU, for some seconds from now on: wherever the
    player's thread is, one stands beside it. step_us: how long it sleeps, 0 for
    half the buffer. A delay is what is left of the CPU's absence when a sleep
    ends, so those who sleep shorter see longer ones: only writers with the
    player's own rhythm can be compared with it."""

    def __init__(self, folder, buffer_ms, seconds, step_us=0):
        late_us = buffer_ms * 1000 // 4
        self.processes, cards = [], []
        for cpu in sorted(os.sched_getaffinity(0)):
            card = folder / str(cpu)
            card.mkdir()
            cards.append(card)
            self.processes.append(subprocess.Popen(
                ["taskset", "-c", str(cpu), player.BUILD / "bin" /
                 "bare_writer", f"rotarytest:DIR={card}", str(buffer_ms),
                 PRIORITY, str(seconds), str(late_us), str(step_us)],
                env={**os.environ, "ALSA_CONFIG_PATH": str(player.CARD_CONF)},
                stdout=subprocess.PIPE, text=True))
        # What they miss at the beginning would be put down to the player.
        while not all(self._has_started(card) for card in cards):
            if any(process.poll() is not None for process in self.processes):
                raise RuntimeError("a bare writer failed")
            time.sleep(0.01)

    @staticmethod
    def _has_started(card):
        try:
            return " start " in (card / "events.log").read_text("ascii")
        except FileNotFoundError:
            return False

    def finish(self):
        """(times of xruns and late wake-ups, closing lines)."""
        times, closings = [], []
        for process in self.processes:
            output, _ = process.communicate()
            if process.returncode != 0:
                raise RuntimeError("a bare writer failed")
            lines = output.splitlines()
            times += [float(line.split()[0]) for line in lines[:-1]]
            closings.append(lines[-1])
        return times, closings


def card_xruns(folder, ended):
    """Times of the xruns that the card saw. What comes later than ended is the
    daemon's own end, with nothing left to play."""
    times = []
    for line in open(folder / "events.log", encoding="ascii"):
        words = line.split()
        if len(words) > 2 and words[2] == "xrun":
            times.append(float(words[0]))
    return [when for when in times if when < ended]


def own_xruns(xruns, reasons):
    return [when for when in xruns
            if all(abs(when - other) > WINDOW_S for other in reasons)]


def rtstats(client):
    """The output thread's figures, and of each real-time thread the FAULTS."""
    figures, thread = {"forbidden": []}, None
    for name, value in client.ask("rtstats"):
        if name == "thread":
            thread = value
        elif name in FAULTS:
            figures.setdefault(name, []).append(f"{thread} {value}")
        elif thread and thread.startswith("output"):
            figures[name] = value
    return figures


def total(figures, name):
    """Of one of the FAULTS, over all real-time threads."""
    return sum(int(text.rsplit(" ", 1)[1]) for text in figures[name])


def print_figures(closings, figures):
    for closing in closings:
        print(f"  bare writer: {closing} (us)")
    print("  output thread: " + ", ".join(
        f"{name} {value}" for name, value in figures.items()
        if not isinstance(value, list)))
    for name in FAULTS:
        print(f"  {name}: {', '.join(figures[name] or ['none'])}")

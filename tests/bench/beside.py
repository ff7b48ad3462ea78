# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose xrun was it? A bare SCHED_FIFO writer feeds a card of the same model
beside the player: an xrun of ours within 50 ms of one of its xruns or late
wake-ups is the machine's, and is counted apart."""

import subprocess

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


class Writer:
    """The bare writer, for some seconds from now on."""

    def __init__(self, folder, buffer_ms, seconds):
        late_us = buffer_ms * 1000 // 4
        self.process = subprocess.Popen(
            [player.BUILD / "bin" / "bare_writer", f"rotarytest:DIR={folder}",
             str(buffer_ms), PRIORITY, str(seconds), str(late_us)],
            env={"ALSA_CONFIG_PATH": str(player.CARD_CONF)},
            stdout=subprocess.PIPE, text=True)

    def finish(self):
        """(times of xruns and late wake-ups, closing line)."""
        output, _ = self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError("the bare writer failed")
        lines = output.splitlines()
        return [float(line.split()[0]) for line in lines[:-1]], lines[-1]


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
    figures, thread = {}, None
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


def print_figures(closing, figures):
    print(f"  bare writer: {closing} (us)")
    print("  output thread: " + ", ".join(
        f"{name} {value}" for name, value in figures.items()
        if not isinstance(value, list)))
    for name in FAULTS:
        print(f"  {name}: {', '.join(figures.get(name, ['none']))}")

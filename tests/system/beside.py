#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What several test cards heard of one song, of 16 bits: a sine in its left
channel, noise in its right one.

  beside.py whole CARD SONG         the song from its first frame on, unchanged
  beside.py part CARD SONG          some of the song, unchanged
  beside.py smooth CARD HZ [LEVEL]  the sine, with no step and no gap; LEVEL: and
                                    as loud as that (0 to 32767) all the time
  beside.py faded CARD HZ           the sine, with gaps that it fades into
  beside.py behind CARD OTHER SONG US  by how much OTHER hears it later: by less
                                    than before, and US at the end

CARD is a card's folder; what it heard in its longest set-up is looked at, or in
set-up N of CARD:N. A song that was cut off has faded out: the last 20 ms are not
looked at.
"""

import array
import math
import pathlib
import re
import sys

EDGE_MS = 20
RUN = re.compile(r"^([0-9.]+) ([0-9]+) (\w+)(.*)$", re.M)


class Heard:
    def __init__(self, folder):
        folder, _, number = folder.partition(":")
        folder = pathlib.Path(folder)
        files = sorted(folder.glob(f"heard.{number or '[0-9]*'}.raw"), key=lambda p: p.stat().st_size)
        if not files:
            sys.exit(f"{folder}: nothing was heard")
        self.name = f"{folder.name}/{files[-1].name}"
        self.number = files[-1].name.split(".")[1]
        self.log = (folder / "events.log").read_text()
        self.rate = int(re.search(rf"^[0-9.]+ {self.number} hw_params.* rate=([0-9]+)",
                                  self.log, re.M).group(1))
        samples = read(files[-1])
        self.left, self.right = samples[0::2], samples[1::2]

    def time_of(self, frame):
        """When it was heard, in seconds."""
        found = None
        for time, number, kind, rest in RUN.findall(self.log):
            if number == self.number and kind == "start":
                base = int(re.search(r"heard=([0-9]+)", rest).group(1))
                if base <= frame or found is None:
                    found = float(time) + (frame - base) / self.rate
        return found

    def sounding(self):
        """From the first frame that is not silent to the last, less the edges."""
        edge = self.rate * EDGE_MS // 1000
        loud = [i for i in range(0, len(self.left), 16) if abs(self.left[i]) > 200]
        if not loud or loud[-1] - loud[0] < 4 * edge:
            sys.exit(f"{self.name}: silence")
        return loud[0] + edge, loud[-1] - edge


def read(path):
    samples = array.array("h")
    data = pathlib.Path(path).read_bytes()
    samples.frombytes(data[: len(data) // 4 * 4])
    return samples


def find_exact(heard, song, least):
    """Frames of the song in a row, from where to where in the heard ones."""
    both = array.array("h", [0]) * (2 * len(heard.left))
    both[0::2], both[1::2] = heard.left, heard.right
    first, last = heard.sounding()
    key = both[2 * first : 2 * first + 256].tobytes()
    at = song.tobytes().find(key)
    if at < 0 or at % 4:
        sys.exit(f"{heard.name}: frame {first} is not of the song")
    there, frames = at // 4, last - first
    if both[2 * first : 2 * last] != song[2 * there : 2 * (there + frames)]:
        for i in range(frames):
            if both[2 * (first + i)] != song[2 * (there + i)]:
                sys.exit(f"{heard.name}: not the song from frame {first + i} on,"
                         f" after {i} frames of it")
    if frames < least * heard.rate:
        sys.exit(f"{heard.name}: only {frames} frames")
    print(f"{heard.name}: {frames} frames of the song, from {there} on")
    return first, there


def whole(folder, path):
    heard = Heard(folder)
    first, there = find_exact(heard, read(path), 0.5)
    if there > heard.rate * EDGE_MS // 1000 + 400:
        sys.exit(f"{heard.name}: the song's beginning is missing: {there} frames")


def part(folder, path):
    find_exact(Heard(folder), read(path), 0.5)


def levels(heard):
    """The loudest sample of each 10 ms."""
    first, last = heard.sounding()
    cell = heard.rate // 100
    return [max(map(abs, heard.left[i : i + cell])) for i in range(first, last - cell, cell)]


def steady(heard, hz):
    """No step; a fade of 5 ms has corners of a sixtieth of one."""
    first, last = heard.sounding()
    factor = 2 * math.cos(2 * math.pi * float(hz) / heard.rate)
    left, worst, where = heard.left, 0, 0
    for i in range(first, last):
        off = abs(left[i - 1] + left[i + 1] - factor * left[i])
        if off > worst:
            worst, where = off, i
    print(f"{heard.name}: {last - first} frames, the largest step {worst:.0f} at {where}")
    if worst > 100:
        sys.exit("a step: something was lost, repeated or cut off")


def smooth(folder, hz, level=None):
    heard = Heard(folder)
    steady(heard, hz)
    peaks = levels(heard)
    if min(peaks) < 0.05 * max(peaks):
        sys.exit("a gap")
    if level is None:
        return
    if max(peaks) > 1.02 * float(level) or min(peaks) < 0.98 * float(level):
        sys.exit(f"from {min(peaks)} to {max(peaks)}, not {level}")


def faded(folder, hz):
    steady(Heard(folder), hz)


def find_near(heard, frame, song, guess, reach, key=256):
    """The frame of the song (and the part of one) that is heard at a frame."""
    part = heard[frame : frame + key]
    best, found = -1.0, 0
    scores = {}
    for at in range(max(guess - reach, 0), guess + reach):
        other = song[at : at + key]
        if len(other) < key:
            break
        scores[at] = sum(a * b for a, b in zip(part, other))
        if scores[at] > best:
            best, found = scores[at], at
    # Between two frames noise is like neither.
    if best < 0.5 * sum(a * a for a in part):
        return None
    near = scores.get(found - 1, 0), scores[found], scores.get(found + 1, 0)
    bend = near[0] - 2 * near[1] + near[2]
    return found + (0.5 * (near[0] - near[2]) / bend if bend else 0)


def behind(folder, other_folder, path, told_us):
    heard, other = Heard(folder), Heard(other_folder)
    song = read(path)
    first, there = find_exact(heard, song, 0.5)
    noise = song[1::2]
    begin, end = other.sounding()
    lags, guess = [], None
    for part_of in range(1, 6):
        frame = begin + (end - begin) * part_of // 6
        time = other.time_of(frame)
        # Where in the song the first card is at that time.
        at = there + (time - heard.time_of(first)) * heard.rate
        found = find_near(other.right, frame, noise, int(at), int(0.3 * heard.rate))
        if found is None:
            sys.exit(f"{other.name}: frame {frame} is not of the song thereabouts")
        lags.append((at - found) / heard.rate * 1000)
    print(f"{other.name} is behind {heard.name} by",
          " ".join(f"{lag:.2f}" for lag in lags), "ms")
    told = int(told_us) / 1000
    if abs(lags[-1] - told) > 5 or min(lags) < -5 or lags[-1] > lags[0] + 0.5:
        sys.exit(f"and not by {told} ms")


{f.__name__: f for f in (whole, part, smooth, faded, behind)}[sys.argv[1]](*sys.argv[2:])

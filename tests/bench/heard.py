# SPDX-License-Identifier: GPL-3.0-or-later
"""What the test card played, and when: each frame of what was heard with its
monotonic time, as the card's README tells, and the first that differs from what
would have been heard next."""

import array
import bisect
import pathlib
import re
import subprocess

RATE = 44100
START = re.compile(r"^(\d+)\.(\d{9}) (\d+) start heard=(\d+)$")


class Song:
    """A song's own samples, 16 bits stereo, to be found again."""

    def __init__(self, path):
        self.bytes = subprocess.run(
            ["flac", "-d", "-s", "-c", "--force-raw-format",
             "--endian=little", "--sign=signed", path],
            check=True, stdout=subprocess.PIPE).stdout
        self.samples = array.array("h", self.bytes)

    def find(self, samples):
        """The frame at which these samples stand, or -1."""
        wanted = array.array("h", samples).tobytes()
        at = self.bytes.find(wanted)
        while at >= 0 and at % 4 != 0:
            at = self.bytes.find(wanted, at + 1)
        return at // 4 if at >= 0 else -1


class Heard:
    """What the card in folder has played so far, of its newest set-up."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def _runs(self, number):
        """(first frame, its time) of each run of that set-up."""
        runs = []
        for line in (self.folder / "events.log").read_text("ascii").split("\n"):
            match = START.match(line)
            if match and int(match[3]) == number:
                runs.append((int(match[4]),
                             int(match[1]) * 10**9 + int(match[2])))
        return runs

    def number(self):
        link = (self.folder / "heard.raw").readlink().name
        return int(link.split(".")[1])

    def late(self):
        """Frames that came when the card had fetched those they replace."""
        text = (self.folder / "events.log").read_text("ascii")
        return sum(int(n) for n in re.findall(r" late frames=(\d+)", text))

    def lost(self):
        text = (self.folder / "events.log").read_text("ascii")
        return len(re.findall(r" lost ", text))

    def period_frames(self):
        text = (self.folder / "events.log").read_text("ascii")
        return int(re.findall(r" hw_params .* period=(\d+)", text)[-1])

    def window(self, number, from_ns, before, frames):
        """Frames from `before` ones before the time on, in 32 bits stereo, and
        the time of each."""
        runs = self._runs(number)
        at = bisect.bisect_right([run[1] for run in runs], from_ns) - 1
        at = max(at, 0)
        first = runs[at][0] + max(0, -(-(from_ns - runs[at][1]) * RATE //
                                       10**9))
        # Past the end of a run that ended before: the next one's first.
        if at + 1 < len(runs):
            first = min(first, runs[at + 1][0])
        first = max(0, first - before)
        with open(self.folder / f"heard.{number}.raw", "rb") as file:
            file.seek(first * 8)
            raw = file.read((before + frames) * 8)
        samples = array.array("i", raw[:len(raw) // 8 * 8])
        firsts = [run[0] for run in runs]

        def time_ns(index):
            frame = first + index
            run = runs[max(0, bisect.bisect_right(firsts, frame) - 1)]
            return run[1] + (frame - run[0]) * 10**9 // RATE

        return samples, time_ns

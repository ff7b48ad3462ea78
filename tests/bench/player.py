# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benches share: a rotaryd of their own, a client, music, figures."""

import array
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("ROTARY_BUILD", ROOT / "build" / "debug"))
CARD = BUILD / "tests" / "kit" / "card"
CARD_CONF = CARD / "asound.conf"
# The test card as hardware whose position moves in periods.
BATCH = {"ROTARY_TEST_CARD_BATCH": "yes",
         "LD_PRELOAD": str(CARD / "librotary_batch.so")}


def make_music(folder, seconds, count):
    """count songs of pink noise, FLAC and Vorbis in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        kind = "ogg" if number % 2 else "flac"
        song = folder / f"song{number}.{kind}"
        if song.exists():
            continue
        subprocess.run(
            ["sox", "-n", "-r", "44100", "-c", "2", "-b", "16", song, "synth",
             str(seconds), "pinknoise", "vol", "0.5"],
            check=True, stderr=subprocess.DEVNULL)


def make_noise(folder, songs):
    """Songs of white noise, by their names the seconds: no two frames of one
    are alike. A quarter of full scale, so that two may sound at once."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, seconds in songs.items():
        song = folder / f"{name}.flac"
        if song.exists():
            continue
        frames = int(seconds * 44100)
        samples = array.array("h", random.Random(name).randbytes(frames * 4))
        raw = array.array("h", (sample >> 2 for sample in samples)).tobytes()
        subprocess.run(
            ["flac", "-s", "-f", "-o", song, "--force-raw-format",
             "--endian=little", "--sign=signed", "--channels=2", "--bps=16",
             "--sample-rate=44100", "-"], input=raw, check=True)


class Client:
    """The protocol, as far as a bench needs it."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")
        greeting = self.file.readline()
        if not greeting.startswith(b"OK MPD "):
            raise RuntimeError(f"no greeting: {greeting!r}")

    def ask(self, line):
        """The answer's pairs, in order."""
        self.socket.sendall(line.encode() + b"\n")
        pairs = []
        for raw in self.file:
            text = raw.decode().rstrip("\n")
            if text == "OK":
                return pairs
            if text.startswith("ACK"):
                raise RuntimeError(f"{line}: {text}")
            name, _, value = text.partition(": ")
            pairs.append((name, value))
        raise RuntimeError(f"{line}: hung up")

    def status(self):
        return dict(self.ask("status"))


class Daemon:
    """A rotaryd in a folder of its own, ended with the with-block."""

    def __init__(self, music, output, options=(), binary=None, env=None,
                 wrap=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rotary-bench."))
        self.socket_path = self.folder / "socket"
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [*wrap, binary or BUILD / "bin" / "rotaryd", "--music", str(music),
             "--socket", str(self.socket_path), "--output", output,
             f"--library.state={self.folder}/state", *options],
            env={**os.environ, "ALSA_CONFIG_PATH": str(CARD_CONF),
                 "XDG_CONFIG_HOME": str(self.folder), **(env or {})},
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "log", "wb"))
        self.client = self._connect()

    def _connect(self):
        while self.process.poll() is None:
            try:
                return Client(self.socket_path)
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.01)
        raise RuntimeError("rotaryd did not start:\n" +
                           (self.folder / "log").read_text())

    def memory_kib(self):
        """(RSS, PSS) in KiB."""
        figures = {}
        path = f"/proc/{self.process.pid}/smaps_rollup"
        for line in open(path, encoding="ascii"):
            words = line.split()
            if words[0] in ("Rss:", "Pss:"):
                figures[words[0]] = int(words[1])
        return figures["Rss:"], figures["Pss:"]

    def wait_for(self, condition, seconds):
        """Polls status until condition(status) holds; False on time-out."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition(self.client.status()):
                return True
            time.sleep(0.05)
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def spread(values):
    """'mean ± deviation' of some numbers."""
    mean = statistics.fmean(values)
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{mean:.1f} ± {deviation:.1f}"


def verdict(met):
    return "met" if met else "NOT met"

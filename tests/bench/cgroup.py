# SPDX-License-Identifier: GPL-3.0-or-later
"""A control group with a limit of memory, version 2 or 1, below our own where
that may be and gone afterwards."""

import os
import pathlib
import time

ROOT = pathlib.Path("/sys/fs/cgroup")


class Unavailable(Exception):
    """No control group can be made here; the text says why."""


def _own(controller):
    """Our own group's path in that hierarchy; version 2 has the name ""."""
    for line in open("/proc/self/cgroup", encoding="ascii"):
        _, controllers, path = line.rstrip("\n").split(":", 2)
        if controller in controllers.split(","):
            return path.lstrip("/")
    raise Unavailable("/proc/self/cgroup does not name our group")


def _share_out(group, controller):
    """Lets groups below have the controller; systemd has done that before."""
    subtree = group / "cgroup.subtree_control"
    if controller in subtree.read_text(encoding="ascii").split():
        return
    try:
        subtree.write_text(f"+{controller}\n", encoding="ascii")
    except OSError as error:
        raise Unavailable(f"{subtree}: {controller}: "
                          f"{error.strerror}") from error


def _parent():
    """(folder to make the group in, name of the file with the limit)."""
    if os.geteuid() != 0:
        raise Unavailable("only root makes control groups")
    if (ROOT / "cgroup.subtree_control").exists():
        # A group with processes in it can't share out memory: not below ours.
        _share_out(ROOT, "memory")
        return ROOT, "memory.max"
    if (ROOT / "memory" / "memory.limit_in_bytes").exists():
        own = ROOT / "memory" / _own("memory")
        return (own if own.is_dir() else ROOT / "memory",
                "memory.limit_in_bytes")
    raise Unavailable(f"{ROOT} has no memory controller")


class Cgroup:
    """with Cgroup(name, bytes) as group: enter it by group.wrap."""

    def __init__(self, name, limit_bytes):
        parent, limit_file = _parent()
        self.path = parent / f"{name}.{os.getpid()}"
        try:
            self.path.mkdir()
        except OSError as error:
            raise Unavailable(f"{self.path}: {error.strerror}") from error
        try:
            (self.path / limit_file).write_text(f"{limit_bytes}\n",
                                                encoding="ascii")
        except OSError as error:
            self.path.rmdir()
            raise Unavailable(f"{self.path / limit_file}: "
                              f"{error.strerror}") from error

    @property
    def wrap(self):
        """What goes before a command that shall run in the group."""
        return ["/bin/sh", "-c",
                f'echo $$ >"{self.path}/cgroup.procs" && exec "$@"', "sh"]

    def figures(self):
        """The group's counters, name -> number."""
        pairs = {}
        for line in open(self.path / "memory.stat", encoding="ascii"):
            name, value = line.split()
            pairs[name] = int(value)
        return pairs

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The last process of it may be on its way out still.
        for _ in range(100):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.05)
        self.path.rmdir()

"""A rank's signs of life during an evaluation, which the warden of its node reads."""

import mmap
import os
import subprocess
import sys
import tempfile
import time

from mpi_es import warden
from mpi_es.comm import Comm, bcast_object, gather_objects, of_this_node
from mpi_es.errors import expected
from mpi_es.rollout import Episode, Source
from mpi_es.waiting import wait


class Watch:
    """This rank's place in the table of its node."""

    def __init__(self, table: mmap.mmap, place: int) -> None:
        self.table, self.begin = table, place * warden.SLOT

    def write(self, text: str) -> None:
        """Give a sign of life, with what is under way; nothing: the rank waits for others."""
        room = warden.SLOT - warden.HEAD.size
        content = text.encode()[:room].ljust(room, b"\0")
        self.table[self.begin + warden.HEAD.size : self.begin + warden.SLOT] = content
        warden.HEAD.pack_into(self.table, self.begin, time.monotonic() if text else 0.0)


class Watched:
    """A source whose every episode that begins or ends is a sign of life."""

    def __init__(self, source: Source, watch: Watch) -> None:
        self.source, self.watch = source, watch
        self.under_way: dict[int, str] = {}

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        episode = self.source.take(block)
        if episode is not None:
            self.under_way[episode.unit] = f"candidate {episode.candidate}, episode seed {episode.seed}"
            self._write()
        return episode

    def done(self, unit: int, length: int) -> None:
        """Note an episode that is over."""
        del self.under_way[unit]
        self._write()
        self.source.done(unit, length)

    def poll(self) -> None:
        """Do what cannot wait."""
        self.source.poll()

    def _write(self) -> None:
        self.watch.write("; ".join(self.under_way.values()))


def start(comm: Comm, patience: float) -> Watch:
    """Have a warden end a rank that gives no sign for so many seconds. Collective."""
    if not hasattr(os, "pidfd_open"):
        raise expected("--evaluation-timeout", "0 on a system that is not Linux", patience)
    node = of_this_node(comm)
    ranks = gather_objects(node, f"{os.getpid()}:{comm.rank}")
    size = node.size * warden.SLOT
    path = _create(size) if ranks else ""
    with open(bcast_object(node, path), "r+b") as file:
        table = mmap.mmap(file.fileno(), size)
        wait(node.Ibarrier())
        if ranks:
            os.unlink(path)  # it lives on while somebody has it open
            _post(file.fileno(), patience, ranks)
        return Watch(table, node.rank)


def _create(size: int) -> str:
    """Return the path of a file of zeros."""
    memory = "/dev/shm"
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.NamedTemporaryFile(dir=place, prefix="mpi_es-", delete=False) as file:
        file.truncate(size)
        return file.name


def _post(table: int, patience: float, ranks: list[str]) -> None:
    """Start the warden of a node, which stays as long as any of its ranks."""
    command = [sys.executable, "-I", "-S", warden.__file__, str(table), str(patience), *ranks]
    subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[table], start_new_session=True)

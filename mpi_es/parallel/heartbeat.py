"""A rank's signs of life during an evaluation, which the hang killer of its node reads."""

import mmap
import os
import subprocess
import sys
import tempfile
import time

from mpi_es.errors import expected
from mpi_es.parallel import hang_killer, shared_memory
from mpi_es.parallel.collectives import Comm, bcast_object, free, gather_objects, of_this_node
from mpi_es.parallel.waiting import wait


class Heartbeat:
    """This rank's place in the table of its node.

    Args:
        killer: the hang killer, on the rank that started it.
    """

    def __init__(self, table: mmap.mmap, place: int, killer: "subprocess.Popen[bytes] | None" = None) -> None:
        self.table, self.begin, self.killer = table, place * hang_killer.SLOT, killer

    def write(self, text: str) -> None:
        """Give a sign of life, with what is under way; nothing: the rank waits for others."""
        room = hang_killer.SLOT - hang_killer.HEAD.size
        content = text.encode()[:room].ljust(room, b"\0")
        self.table[self.begin + hang_killer.HEAD.size : self.begin + hang_killer.SLOT] = content
        hang_killer.HEAD.pack_into(self.table, self.begin, time.monotonic() if text else 0.0)

    def end(self) -> None:
        """End the hang killer, and give the table back: no other evaluation follows."""
        self.table.close()
        if self.killer is not None:
            self.killer.kill()
            self.killer.wait()


def start(comm: Comm, timeout: float) -> Heartbeat:
    """Have a rank killed that gives no sign for `timeout` seconds. Collective."""
    if not hasattr(os, "pidfd_open"):
        raise expected("--evaluation-timeout", "0 on a system that is not Linux", timeout)
    node = of_this_node(comm)
    ranks = gather_objects(node, f"{os.getpid()}:{comm.rank}")
    size = node.size * hang_killer.SLOT
    path = _create(size) if ranks else ""
    with open(bcast_object(node, path), "r+b") as file:
        table = mmap.mmap(file.fileno(), size)
        wait(node.Ibarrier())
        place, killer = node.rank, None
        free(node, comm)
        if ranks:
            os.unlink(path)  # it lives on while somebody has it open
            killer = _start_hang_killer(file.fileno(), timeout, ranks)
        return Heartbeat(table, place, killer)


def _create(size: int) -> str:
    """Return the path of a file of zeros."""
    memory = shared_memory.DIRECTORY
    # A write to a file without room would end the rank, by SIGBUS.
    place = memory if os.access(memory, os.W_OK) and shared_memory.room(memory) > 2 * size else None
    with tempfile.NamedTemporaryFile(dir=place, prefix="mpi_es-", delete=False) as file:
        file.truncate(size)
        return file.name


def _start_hang_killer(table: int, timeout: float, ranks: list[str]) -> "subprocess.Popen[bytes]":
    """Start the hang killer of a node, which stays as long as any of its ranks, if nobody ends it."""
    command = [sys.executable, "-I", "-S", hang_killer.__file__, str(table), str(timeout), *ranks]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[table], start_new_session=True)

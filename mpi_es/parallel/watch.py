"""A rank and the watchdog of its node, which reports it if it dies and kills it if it hangs."""

import mmap
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from mpi_es.errors import expected
from mpi_es.parallel import watchdog
from mpi_es.parallel.collectives import Comm, SerialComm, bcast_object, free, gather_objects, of_this_node
from mpi_es.parallel.rank_loss import END, BeginAnew, RankLost, losses, shrink, survivable
from mpi_es.parallel.waiting import wait


class Connection:
    """This rank's connection to a watchdog, and its slot for the heartbeat.

    Args:
        process: the watchdog, on the rank that started it.
    """

    def __init__(self, rank: str, address: Any, process: "subprocess.Popen[bytes] | None") -> None:
        self.socket, self.process = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), process
        file = os.memfd_create("slot")
        os.ftruncate(file, watchdog.SLOT)
        self.slot = mmap.mmap(file, watchdog.SLOT)
        with suppress(OSError):  # the watchdog is gone already, or in another container
            self.socket.connect(address)
            socket.send_fds(self.socket, [rank.encode()], [file])
            self.socket.recv(1)  # once it watches this rank
        os.close(file)

    def end(self) -> None:
        """Tell the watchdog that this rank ends normally."""
        with self.socket, suppress(OSError):
            self.socket.send(watchdog.ALL_WELL)
        if self.process is not None:
            self.process.wait()


_connection: ContextVar[Connection | None] = ContextVar("_connection", default=None)


@contextmanager
def watched(comm: Comm) -> Iterator[None]:
    """Report which rank dies inside the block; all ranks leave it together. Collective."""
    if comm.size == 1:
        yield
        return
    with losses(comm):
        connection = _start(comm) if sys.platform == "linux" else None
    token = _connection.set(connection)
    try:
        with losses(comm):
            yield
    except (RankLost, BeginAnew):
        if connection:
            connection.end()
        raise
    finally:
        _connection.reset(token)
    if connection:
        connection.end()
    with suppress(RankLost), losses(comm):
        wait(comm.Ibarrier())  # no rank ends before every watchdog knows that it may
    if survivable():
        shrink(comm, END)


def _start(comm: Comm) -> Connection:
    """Start a watchdog on each node, by one of its ranks; return this rank's connection to it. Collective."""
    node, rank, process = of_this_node(comm), f"{os.getpid()}:{comm.rank}", None
    ranks = gather_objects(node, rank)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        if ranks:
            listener.bind("")  # to an abstract name that Linux chooses
            listener.listen(len(ranks))
            reported = watchdog.NONE if comm.size == 1 else watchdog.EACH if survivable() else watchdog.FIRST
            program = [sys.executable, "-I", "-S", watchdog.__file__]
            process = subprocess.Popen(
                [*program, reported, str(listener.fileno()), *ranks],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # it survives the signals with which a launcher cleans up
                pass_fds=[listener.fileno()],
            )
        address = bcast_object(node, listener.getsockname())
    free(node, comm)
    return Connection(rank, address, process)


class Heartbeat:
    """The heartbeat of this rank, which is killed after `timeout` seconds without a beat."""

    def __init__(self, timeout: float) -> None:
        if sys.platform != "linux":
            raise expected("--evaluation-timeout", "0 on a system that is not Linux", timeout)
        shared = _connection.get()
        self.timeout, self.connection, self.alone = timeout, shared or _start(SerialComm()), shared is None

    def write(self, text: str) -> None:
        """Write a heartbeat, with the running episodes;
        an empty text means that the rank waits for others.
        """
        slot, begin = self.connection.slot, watchdog.HEAD.size
        slot[begin:] = text.encode()[: watchdog.SLOT - begin].ljust(watchdog.SLOT - begin, b"\0")
        watchdog.HEAD.pack_into(slot, 0, time.monotonic() if text else 0.0, self.timeout)

    def end(self) -> None:
        """End the watchdog of a single rank: no other evaluation follows."""
        if self.alone:
            self.connection.end()

"""A process that watches the ranks of a node: it reports which rank died, and kills one that hangs.

Launchers name any of the ranks that they ended. This process sees the end of a rank before the launcher can
end the others. A simulator that hangs may never release the GIL, so its rank is killed from outside. watch.py
runs this as a script, which imports only the standard library, to start at once.

A dying process closes its files a moment before its own end can be seen. On busy cores that moment is long
enough for a launcher, at the other end of such a file, to end the others. So every rank keeps a connection to
this process: Linux closes the files opened last first, and the launcher's file was opened earlier.
"""

import contextlib
import os
import select
import signal
import socket
import struct
import sys
import time

ON_WATCH, ALL_WELL = b"!", b"."
# Whose death to report: each one's if the others outlive it; none for a single rank.
FIRST, EACH, NONE = "first", "each", "none"
SLOT = 512  # bytes per rank: time of its last heartbeat (0: idle), the timeout, and the running episodes
HEAD = struct.Struct("dd")
_LOOK = 1.0  # seconds between checks of the slots
_STOPPED = 5.0  # seconds between two checks that mean that this process was stopped


class Watchdog:
    """Watches ranks, each given as `process:rank`, until the first one reports a normal end or all end.

    Args:
        listener: the socket on which each rank connects and names itself.
    """

    def __init__(self, reported: str, listener: socket.socket, ranks: list[str]) -> None:
        self.reported, self.listener, self.first = reported, listener, ranks[0]
        self.left = set(ranks)
        self.connections: dict[int, tuple[socket.socket, str]] = {}
        self.processes: dict[int, str] = {}
        self.slots: dict[str, int] = {}  # the files with the ranks' heartbeats
        self.looked = self.resumed = time.monotonic()
        self.poll = select.epoll()  # returns events in the order in which they happened
        self.poll.register(listener, select.EPOLLIN)
        for rank in ranks:
            self._open(rank)

    def _open(self, rank: str) -> None:
        """Watch a rank's process, too: its child processes may keep the socket open."""
        try:
            handle = os.pidfd_open(_process(rank))
        except ProcessLookupError:
            self._dead(rank)
            return
        self.processes[handle] = rank
        self.poll.register(handle, select.EPOLLIN)

    def run(self) -> None:
        """Watch until no rank is left to watch."""
        while self.left:
            for place, _ in self.poll.poll(_LOOK, maxevents=1):
                if place == self.listener.fileno():
                    self._accept()
                elif place in self.connections:
                    self._receive(place)
                else:
                    self.poll.unregister(place)
                    self._dead(self.processes.pop(place))
            self._kill_hanging()

    def _accept(self) -> None:
        """Accept a rank's connection."""
        connection, _ = self.listener.accept()
        rank, files = received(connection)
        self.connections[connection.fileno()] = connection, rank.decode()
        self.slots |= {rank.decode(): file for file in files}
        self.poll.register(connection, select.EPOLLIN)
        with contextlib.suppress(OSError):  # it may be gone already
            connection.send(ON_WATCH)

    def _receive(self, place: int) -> None:
        """Read a rank's message: its normal end, or its death."""
        self.poll.unregister(place)
        connection, rank = self.connections[place]
        if received(connection)[0] != ALL_WELL:
            self._dead(rank)
        elif rank == self.first:
            self.left.clear()  # this rank waits for this process to end, and others may wait for it
        self.left.discard(rank)

    def _dead(self, rank: str) -> None:
        """Report a rank that has ended, unless it reported a normal end before."""
        if rank in self.left:
            self.left.discard(rank)
            now = time.time()
            clock = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03d}"
            if self.reported != NONE:  # if several nodes report a rank, the earliest is the cause
                report(rank, f"(process {_process(rank)}) died at {clock}")
            if self.reported == FIRST:
                self.left.clear()
            if rank == self.first:
                # /dev/null: the launcher may wait until no process holds the rank's output open.
                os.dup2(1, 2)

    def _kill_hanging(self) -> None:
        """Kill the ranks without a heartbeat for too long."""
        now = time.monotonic()
        if now - self.looked > _STOPPED:  # the ranks were stopped too, as when Slurm suspends a job
            self.resumed = now
        self.looked = now
        for process, rank in self.processes.items():
            if rank not in self.slots:
                continue
            slot = os.pread(self.slots[rank], SLOT, 0)
            since, timeout = HEAD.unpack_from(slot)
            if since and now - max(since, self.resumed) > timeout:
                episodes = slot[HEAD.size :].rstrip(b"\0").decode(errors="replace")
                rule = f"no episode began or ended for {timeout:g} s (--evaluation-timeout)"
                report(rank, f"hangs: {rule}; running: {episodes}")
                # Then the launcher ends the job, or the other ranks continue.
                signal.pidfd_send_signal(process, signal.SIGKILL)
                del self.slots[rank]


def _process(rank: str) -> int:
    return int(rank.partition(":")[0])


def received(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return a rank's message and files; empty if it is gone, or went before it had read everything."""
    try:
        return socket.recv_fds(connection, 64, 1)[:2]
    except OSError:
        return b"", []


def report(rank: str, what: str) -> None:
    """Print an error about a rank."""
    os.write(2, f"error: rank {rank.partition(':')[2]} on {socket.gethostname()} {what}\n".encode())


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Slurm signals every process of a step
    Watchdog(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), sys.argv[3:]).run()

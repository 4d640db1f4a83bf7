"""Watches the ranks of a node, as a process: reports which rank died, and kills one that hangs.

Launchers name any rank that they ended. This process sees the end of a rank before the launcher can end the
others. A simulator that hangs may never give Python's lock back, so it is killed from outside. watch.py runs
this as a script, which imports nothing but the standard library, to be there at once.

A dying process closes its files a moment before its own end can be seen. On busy cores that moment is long
enough for a launcher, at the other end of such a file, to end the others. So every rank keeps a line to this
process: Linux closes last what was opened first, and the launcher's file was.
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
# Whose death to report. Where the others outlive a rank, each is worth a line; one that is alone just ends.
FIRST, EACH, NONE = "first", "each", "none"
SLOT = 512  # bytes of a rank: the time of its last sign, 0 for idle, the timeout, and the running episodes
HEAD = struct.Struct("dd")
_LOOK = 1.0  # seconds between two looks at the slots


class Watchdog:
    """Watches ranks, `process:rank` each, until the first of them says that all is well, or until all end.

    Args:
        door: where each rank opens its line, and says which it is.
    """

    def __init__(self, whom: str, door: socket.socket, ranks: list[str]) -> None:
        self.whom, self.door, self.first = whom, door, ranks[0]
        self.left = set(ranks)
        self.lines: dict[int, tuple[socket.socket, str]] = {}
        self.processes: dict[int, str] = {}
        self.slots: dict[str, int] = {}  # the files in which the ranks give signs of life
        self.poll = select.epoll()  # it returns what happened in the order in which it did
        self.poll.register(door, select.EPOLLIN)
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
        """Watch."""
        while self.left:
            for place, _ in self.poll.poll(_LOOK, maxevents=1):
                if place == self.door.fileno():
                    self._let_in()
                elif place in self.lines:
                    self._hear(place)
                else:
                    self.poll.unregister(place)
                    self._dead(self.processes.pop(place))
            self._kill_hanging()

    def _let_in(self) -> None:
        """Open a line."""
        line, _ = self.door.accept()
        rank, files = heard(line)
        self.lines[line.fileno()] = line, rank.decode()
        self.slots |= {rank.decode(): file for file in files}
        self.poll.register(line, select.EPOLLIN)
        with contextlib.suppress(OSError):  # it may be gone already
            line.send(ON_WATCH)

    def _hear(self, place: int) -> None:
        """Note what a rank says: that all is well; or that it is gone."""
        self.poll.unregister(place)
        line, rank = self.lines[place]
        if heard(line)[0] != ALL_WELL:
            self._dead(rank)
        elif rank == self.first:
            self.left.clear()  # it waits for the end of this process, and others may wait for it
        self.left.discard(rank)

    def _dead(self, rank: str) -> None:
        """Report a rank that has ended, unless it said before that all is well."""
        if rank in self.left:
            self.left.discard(rank)
            now = time.time()
            clock = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03d}"
            if self.whom != NONE:  # where several nodes report one, the earliest is the cause
                report(rank, f"(process {_process(rank)}) died at {clock}")
            if self.whom == FIRST:
                self.left.clear()
            if rank == self.first:
                os.dup2(1, 2)  # to nowhere: the rank's launcher may wait until nobody holds its output open

    def _kill_hanging(self) -> None:
        """Kill the ranks that have given no sign for too long."""
        for process, rank in self.processes.items():
            if rank not in self.slots:
                continue
            slot = os.pread(self.slots[rank], SLOT, 0)
            since, timeout = HEAD.unpack_from(slot)
            if since and time.monotonic() - since > timeout:
                episodes = slot[HEAD.size :].rstrip(b"\0").decode(errors="replace")
                rule = f"no episode began or ended for {timeout:g} s (--evaluation-timeout)"
                report(rank, f"hangs: {rule}; running: {episodes}")
                # The launcher ends the job, or the others go on without it.
                signal.pidfd_send_signal(process, signal.SIGKILL)
                del self.slots[rank]


def _process(rank: str) -> int:
    return int(rank.partition(":")[0])


def heard(line: socket.socket) -> tuple[bytes, list[int]]:
    """Return what a rank says; nothing if it is gone, which is an error where it had not read all."""
    try:
        return socket.recv_fds(line, 64, 1)[:2]
    except OSError:
        return b"", []


def report(rank: str, what: str) -> None:
    """Write a line on a rank."""
    os.write(2, f"error: rank {rank.partition(':')[2]} on {socket.gethostname()} {what}\n".encode())


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Slurm signals every process of a step
    Watchdog(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), sys.argv[3:]).run()

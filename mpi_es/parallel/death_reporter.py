"""Reports which rank died, as a process on each node: launchers name any rank that they ended.

It sees the end of a rank before the launcher can end the others, and writes one line. It is run as a script
by program.py and imports nothing but the standard library, to be there at once.

A dying process closes its files a moment before its own end can be seen. On busy cores that moment is long
enough for a launcher, at the other end of such a file, to end the others. So every rank keeps a line to this
process: Linux closes last what was opened first, and the launcher's file was.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import time

ON_WATCH, ALL_WELL = b"!", b"."
FIRST, EACH = "first", "each"  # whom to report: one that outlives others is worth a line of its own


def main(whom: str, door: int, ranks: list[str]) -> None:
    """Report ranks, `process:rank` each, that end before the first of them says that all is well.

    Args:
        door: the descriptor of the socket at which each rank opens its line, and says which it is.
    """
    poll = select.epoll()  # it returns what happened in the order in which it did
    poll.register(door, select.EPOLLIN)
    watched = {}
    for word in ranks:
        try:
            handle = os.pidfd_open(int(word.partition(":")[0]))  # a child of its may hold its line open
        except ProcessLookupError:
            report(word)
            if whom == FIRST:
                return
            continue
        watched[handle] = word
        poll.register(handle, select.EPOLLIN)
    entrance, lines, dead = socket.socket(fileno=door), {}, set()
    while True:
        first = poll.poll(maxevents=1)[0][0]
        if first == door:
            line, _ = entrance.accept()
            lines[line.fileno()] = line
            watched[line.fileno()] = heard(line).decode()
            poll.register(line, select.EPOLLIN)
            with contextlib.suppress(OSError):  # it may be gone already
                line.send(ON_WATCH)
            continue
        poll.unregister(first)
        rank = watched[first]
        if first in lines and heard(lines[first]) == ALL_WELL:
            if rank == ranks[0]:
                return
        elif rank in ranks and rank not in dead:
            report(rank)
            dead.add(rank)
            if whom == FIRST or rank == ranks[0]:
                return  # nobody is left who could say that all is well


def heard(line: socket.socket) -> bytes:
    """Return what a rank says; nothing if it is gone, which is an error where it had not read all."""
    try:
        return line.recv(64)
    except OSError:
        return b""


def report(word: str) -> None:
    """Write the line on a rank; where several nodes write one, the earliest names the cause."""
    process, rank = word.split(":")
    now = time.time()
    clock = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03d}"
    text = f"error: rank {rank} on {socket.gethostname()} (process {process}) died at {clock}\n"
    os.write(2, text.encode())


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Slurm signals every process of a step
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])

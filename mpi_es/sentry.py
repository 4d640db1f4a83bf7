"""Who died: a process beside the ranks of a node, since launchers name any rank that they ended.

It sees the end of a rank before the launcher can end the others, and writes one line. It is run as a script
by program.py and imports nothing but the standard library, to be there at once.
"""

import os
import select
import signal
import socket
import sys
import time

ALL_WELL = b"."
FIRST, EACH = "first", "each"  # whom to report: one that outlives others is worth a line of its own


def main(whom: str, ranks: list[str]) -> None:
    """Report ranks, `process:rank` each, that end before the word comes that all is well."""
    poll = select.epoll()  # it returns what happened in the order in which it did
    watched = {}
    for word in ranks:
        try:
            handle = os.pidfd_open(int(word.partition(":")[0]))
        except ProcessLookupError:
            report(word)
            if whom == FIRST:
                return
            continue
        watched[handle] = word
        poll.register(handle, select.EPOLLIN)
    poll.register(0, select.EPOLLIN)
    while True:
        first = poll.poll()[0][0]
        if first == 0 and os.read(0, 1) == ALL_WELL:
            return
        # A dying process closes its files a moment before its own end can be seen, and the launcher may
        # have ended others meanwhile: without the word, the pipe's end is that of the rank that holds it.
        gone = ranks[0] if first == 0 else watched[first]
        report(gone)
        if whom == FIRST or gone == ranks[0]:
            return  # nobody is left who could say that all is well
        poll.unregister(first)


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
    main(sys.argv[1], sys.argv[2:])

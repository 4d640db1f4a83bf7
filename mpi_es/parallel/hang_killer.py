"""Kills a rank that hangs, as a process on each node: its episodes no longer begin or end.

It stands outside, since a simulator that hangs may never give Python's lock back. It is run as a script by
heartbeat.py and imports nothing but the standard library.
"""

import contextlib
import os
import select
import signal
import socket
import struct
import sys
import time

SLOT = 512  # bytes of a rank: the time of its last sign, 0 for idle, and in text what is under way
HEAD = struct.Struct("d")


def main(table: int, timeout: float, ranks: list[str]) -> None:
    """Look at the slots of the ranks, `process:rank` each, as long as any lives, and end those that hang."""
    poll = select.poll()  # it sees the end of a process that nobody has waited for yet, too
    alive = {}
    for place, word in enumerate(ranks):
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(int(word.partition(":")[0]))
            alive[handle] = (place, word)
            poll.register(handle, select.POLLIN)
    while alive:
        for handle, _ in poll.poll(1000 * min(1.0, timeout / 4)):
            poll.unregister(handle)
            del alive[handle]
        for handle, (place, word) in alive.items():
            slot = os.pread(table, SLOT, place * SLOT)
            (since,) = HEAD.unpack_from(slot)
            if since and time.monotonic() - since > timeout:
                report(word, timeout, slot[HEAD.size :].rstrip(b"\0").decode(errors="replace"))
                # The launcher ends the job, or the others go on without it.
                signal.pidfd_send_signal(handle, signal.SIGKILL)


def report(word: str, timeout: float, episodes: str) -> None:
    """Write a line on a rank that hangs."""
    rank = word.partition(":")[2]
    text = (
        f"error: rank {rank} on {socket.gethostname()} hangs: no episode began or ended for "
        f"{timeout:g} s (--evaluation-timeout); under way: {episodes}\n"
    )
    os.write(2, text.encode())


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the ranks
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])

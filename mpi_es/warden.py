"""Who hangs: a process beside the ranks of a node that ends one whose episodes no longer begin or end.

It stands outside, since a simulator that hangs may never give Python's lock back. It is run as a script by
watch.py and imports nothing but the standard library.
"""

import os
import select
import signal
import socket
import struct
import sys
import time

SLOT = 512  # bytes of a rank: the time of its last sign, 0 for idle, and in text what is under way
HEAD = struct.Struct("d")


def main(table: int, patience: float, ranks: list[str]) -> None:
    """Look at the slots of the ranks, `process:rank` each, until standard input ends or one hangs."""
    while not select.select([0], [], [], min(1.0, patience / 4))[0]:
        for place, word in enumerate(ranks):
            slot = os.pread(table, SLOT, place * SLOT)
            (since,) = HEAD.unpack_from(slot)
            if since and time.monotonic() - since > patience:
                end(word, patience, slot[HEAD.size :].rstrip(b"\0").decode(errors="replace"))
                return


def end(word: str, patience: float, episodes: str) -> None:
    """Tell of a rank that hangs and kill it, upon which the launcher ends the job."""
    process, rank = word.split(":")
    text = (
        f"error: rank {rank} on {socket.gethostname()} hangs: no episode began or ended for "
        f"{patience:g} s (--evaluation-timeout); under way: {episodes}\n"
    )
    os.write(2, text.encode())
    os.kill(int(process), signal.SIGKILL)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the rank that holds its input
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])

"""Who hangs: a process beside the ranks of a node that ends one whose episodes no longer begin or end.

It stands outside, since a simulator that hangs may never give Python's lock back. It is run as a script by
watch.py and imports nothing but the standard library.
"""

import os
import signal
import socket
import struct
import sys
import time

SLOT = 512  # bytes of a rank: the time of its last sign, 0 for idle, and in text what is under way
HEAD = struct.Struct("d")


def main(table: int, patience: float, ranks: list[str]) -> None:
    """Look at the slots of the ranks, `process:rank` each, as long as any lives, and end those that hang."""
    alive = dict(enumerate(ranks))
    while alive := {place: word for place, word in alive.items() if lives(word)}:
        time.sleep(min(1.0, patience / 4))
        for place, word in alive.items():
            slot = os.pread(table, SLOT, place * SLOT)
            (since,) = HEAD.unpack_from(slot)
            if since and time.monotonic() - since > patience and lives(word):
                end(word, patience, slot[HEAD.size :].rstrip(b"\0").decode(errors="replace"))


def lives(word: str) -> bool:
    """Tell whether a rank's process is there."""
    try:
        os.kill(int(word.partition(":")[0]), 0)
    except ProcessLookupError:
        return False
    return True


def end(word: str, patience: float, episodes: str) -> None:
    """Tell of a rank that hangs and kill it: the launcher ends the job, or the others go on without it."""
    process, rank = word.split(":")
    text = (
        f"error: rank {rank} on {socket.gethostname()} hangs: no episode began or ended for "
        f"{patience:g} s (--evaluation-timeout); under way: {episodes}\n"
    )
    os.write(2, text.encode())
    os.kill(int(process), signal.SIGKILL)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the ranks
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])

"""Becomes a program that ends when its parent does: python ends_with_parent.py PARENT PROGRAM [ARGUMENT …].

It is run as a script where a library starts the program and says nothing about its end; Linux only.
"""

import ctypes
import os
import signal
import sys

_SET_SIGNAL_OF_PARENT_S_END = 1  # PR_SET_PDEATHSIG of linux/prctl.h


def main(parent: int, program: str, *arguments: str) -> None:
    """Become the program."""
    ctypes.CDLL(None).prctl(_SET_SIGNAL_OF_PARENT_S_END, signal.SIGKILL)
    if os.getppid() == parent:  # else it has ended before
        os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])

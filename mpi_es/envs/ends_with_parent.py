"""Becomes a program that ends when its parent does: python ends_with_parent.py PARENT PROGRAM [ARGUMENT …].

Run as a script in place of a program that a library starts and may leave behind; Linux only.
"""

import ctypes
import os
import signal
import sys

_SET_SIGNAL_OF_PARENT_S_END = 1  # PR_SET_PDEATHSIG of linux/prctl.h


def main(parent: int, program: str, *arguments: str) -> None:
    """Become the program."""
    ctypes.CDLL(None).prctl(_SET_SIGNAL_OF_PARENT_S_END, signal.SIGKILL)
    if os.getppid() == parent:  # else the parent has ended already
        os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])

"""A signal asks a run to stop; the run checks for it when it can."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from mpi_es.parallel.output import drop_unread

CAUGHT = (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP)
# A rank sends this to itself when its launcher is gone. Nothing else sends it.
LAUNCHER_LOST = signal.SIGRTMIN if sys.platform == "linux" else signal.SIGUSR2


def caught() -> list[int]:
    """Return the signals to catch: all, except a hang-up that was ignored from the start, as under nohup."""
    kept = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in (*CAUGHT, LAUNCHER_LOST) if not (kept and number == signal.SIGHUP)]


def keep_hang_up() -> None:
    """Restore Python's handler of SIGHUP, which MPICH makes the process ignore."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGHUP) or signal.SIG_DFL)


def ignore() -> None:
    """Ignore further signals in a process that is about to end: launchers repeat the signals they forward."""
    for number in caught():
        signal.signal(number, signal.SIG_IGN)


class Stopped(Exception):
    """A signal ended an evaluation."""


class StopFlag:
    """Whether a signal has arrived, and which. A second Ctrl-C ends the process at once."""

    def __init__(self) -> None:
        self.name = ""

    def install(self) -> "StopFlag":
        """Catch the signals of a time limit, a preemption and a user.

        A signal that an earlier installed flag has caught counts for this one too.
        """
        earlier = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
        for number in caught():
            signal.signal(number, self._note)
        if isinstance(earlier, StopFlag):
            self.name = self.name or earlier.name
        return self

    @contextlib.contextmanager
    def installed(self) -> Iterator["StopFlag"]:
        """Catch the signals inside the block; in a thread, which cannot catch any, do nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        previous = {number: signal.getsignal(number) for number in caught()}
        self.install()
        try:
            yield self
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.name == "SIGINT" and number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        if number in (signal.SIGHUP, LAUNCHER_LOST):
            drop_unread()
        if number == signal.SIGUSR1 and self.name:
            return  # a job's script also forwards other signals as this one
        lost = number == LAUNCHER_LOST
        self.name = "the end of its launcher" if lost else signal.Signals(number).name

    def __bool__(self) -> bool:
        return bool(self.name)


def _let_forks_end() -> None:
    """Let a signal end a forked process, such as a worker of a function's pool: it has no run to stop.

    CPython drops what comes in a child's first moment, so signals wait until it has no handlers any more.
    """
    masks = []

    def before() -> None:
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, CAUGHT))

    def restore() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, masks.pop())

    def in_child() -> None:
        for number in CAUGHT:
            if isinstance(getattr(signal.getsignal(number), "__self__", None), StopFlag):
                signal.signal(number, signal.SIG_DFL)
        restore()

    os.register_at_fork(before=before, after_in_parent=restore, after_in_child=in_child)


_let_forks_end()

"""A signal asks a run to stop; the run looks when it can."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

CAUGHT = (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT)


def ignore() -> None:
    """Let a process that is about to end do so in peace: launchers repeat a signal that they pass on."""
    for number in CAUGHT:
        signal.signal(number, signal.SIG_IGN)


class Stopped(Exception):
    """An evaluation that was given up because a signal came."""


class StopFlag:
    """Whether a signal has come, and which. A second Ctrl-C ends the process at once."""

    def __init__(self) -> None:
        self.name = ""

    def install(self) -> "StopFlag":
        """Catch the signals of a time limit, a preemption and a user.

        A signal that the flag installed before has caught counts for this one, too.
        """
        earlier = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
        for number in CAUGHT:
            signal.signal(number, self._note)
        if isinstance(earlier, StopFlag):
            self.name = self.name or earlier.name
        return self

    @contextlib.contextmanager
    def installed(self) -> Iterator["StopFlag"]:
        """Catch the signals inside the block; in a thread, which can catch none, do nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        former = {number: signal.getsignal(number) for number in CAUGHT}
        self.install()
        try:
            yield self
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.name == "SIGINT" and number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        self.name = signal.Signals(number).name

    def __bool__(self) -> bool:
        return bool(self.name)

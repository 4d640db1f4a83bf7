"""Listeners to compilations, which happen when machine code is not in the cache."""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

_listener: ContextVar[Callable[[], None] | None] = ContextVar("_listener", default=None)


@contextlib.contextmanager
def heard_by(function: Callable[[], None]) -> Iterator[None]:
    """Within the block, call a function before each compilation;
    if blocks are nested, only the outermost one.
    """
    token = _listener.set(_listener.get() or function)
    try:
        yield
    finally:
        _listener.reset(token)


def announce_compilation() -> None:
    """Call the current listener, if there is one."""
    if function := _listener.get():
        function()

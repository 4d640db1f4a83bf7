"""Who hears that a function is compiled, since its machine code is not in the cache."""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

_hears: ContextVar[Callable[[], None] | None] = ContextVar("_hears", default=None)


@contextlib.contextmanager
def heard_by(function: Callable[[], None]) -> Iterator[None]:
    """Have a function called before each compilation; of nested calls the outermost function is called."""
    token = _hears.set(_hears.get() or function)
    try:
        yield
    finally:
        _hears.reset(token)


def announce_compilation() -> None:
    """Call the function that hears of it, if there is one."""
    if function := _hears.get():
        function()

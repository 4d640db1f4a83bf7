"""Importing a package without those modules that it imports in turn and that are not needed here."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def import_without(*names: str) -> Iterator[None]:
    """Let modules be as if not installed for imports in the block; those that are loaded stay.

    It does so in our own programs only: in a user's script others may need what is hidden.
    """
    program = getattr(sys.modules["__main__"], "__spec__", None)
    ours = program is not None and program.name.partition(".")[0] in ("mpi_es", "pbt")
    hidden = [name for name in names if ours and name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own sign for it
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        for name in hidden:
            del sys.modules[name]

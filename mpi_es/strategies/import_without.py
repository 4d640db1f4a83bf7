"""Importing a package without what it imports in turn and here does without."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def import_without(*names: str) -> Iterator[None]:
    """Let modules be as if not installed for imports in the block; those that are loaded stay."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own sign for it
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        for name in hidden:
            del sys.modules[name]

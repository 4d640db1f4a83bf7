"""Import a package without some of the modules that it imports itself."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def import_without(*names: str) -> Iterator[None]:
    """Make imports in the block behave as if these modules were not installed; loaded ones stay.

    Only in our own programs: in a user's script, other code may need the hidden modules.
    """
    program = getattr(sys.modules["__main__"], "__spec__", None)
    ours = program is not None and program.name.partition(".")[0] in ("mpi_es", "pbt")
    hidden = [name for name in names if ours and name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # makes the import raise ModuleNotFoundError
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        for name in hidden:
            del sys.modules[name]

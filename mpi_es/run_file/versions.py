"""The versions of the libraries of a run."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from mpi_es import __version__

LIBRARIES = ("numpy", "numba", "cma", "gymnasium", "envpool", "h5py", "mpi4py", "torch")


@cache
def libraries() -> dict[str, str]:
    """Return the installed versions of the libraries that compute a run, by name."""
    found = {"mpi_es": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found

"""Where machine code is cached: in a folder for each digest of what it is compiled from.

numba recompiles a function only when its own file changes, but machine code also contains the functions that
it calls and the values that it reads. So a change in any of these leads to another folder.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]  # mpi_es
_UNUSED = 30 * 86400  # seconds after which code is removed
CACHE_REMEDY = "export NUMBA_CACHE_DIR to a directory that you can write to"


def cache_places(environ: Mapping[str, str], package: Path) -> list[Path]:
    """Return the directories in which machine code may be cached, in the order in which they are tried."""
    places = [package / "__pycache__", Path(environ.get("XDG_CACHE_HOME", "~/.cache"), "numba").expanduser()]
    given = environ.get("NUMBA_CACHE_DIR")
    return [Path(given), *places] if given else places


def cache_directory(environ: Mapping[str, str], package: Path) -> Path | None:
    """Return the first of the cache places that can be written to, or None."""
    for place in cache_places(environ, package):
        existing = next(path for path in (place, *place.absolute().parents) if os.path.exists(path))
        with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=existing):
            return place
    return None


def folder(compiled: Any) -> Path | None:
    """Return the folder of a function's machine code, or None; remove those that were not used lately."""
    from mpi_es.jit.digest import digest  # numba, without which there are functions and the doctor

    source, place = Path(compiled.function.__code__.co_filename), cache_directory(os.environ, PACKAGE)
    if place is None or not source.exists():  # numba keeps no code of a notebook's cell
        return None
    own = place / f"{source.stem}-{hashlib.blake2b(bytes(source), digest_size=8).hexdigest()}"
    current = own / digest(compiled)
    for one in own.glob("*"):
        with contextlib.suppress(OSError):  # another rank may be first
            if one == current:
                os.utime(one)
            elif time.time() - one.stat().st_mtime > _UNUSED:
                shutil.rmtree(one)
    return current

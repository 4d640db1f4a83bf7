"""Where machine code is cached: in a folder for each state of the sources that it is made from.

numba recompiles a function only when its own file changes, but machine code also contains the functions that
it calls in other modules. So a change in any of these leads to another folder.
"""

import ast
import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]  # mpi_es
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


@functools.cache
def folder(module: Path, *others: Path) -> Path | None:
    """Return the folder of a module's machine code, or None; remove the folders of its other states.

    Args:
        others: modules whose functions are also in the code, but which the module does not import.
    """
    place, modules = cache_directory(os.environ, PACKAGE), (module, *others)
    if place is None or not all(path.exists() for path in modules):  # a notebook's cell has no file
        return None
    own = place / f"{module.stem}-{_hash(*(bytes(path) for path in modules))}"
    current = own / _hash(*(path.read_bytes() for path in sources(*modules)))
    for other in own.glob("*"):
        if other != current:
            shutil.rmtree(other, ignore_errors=True)  # another rank may be first
    return current


def _hash(*parts: bytes) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()


def sources(*modules: Path) -> list[Path]:
    """Return the files of modules, and all files of their packages and of mpi_es that they import."""
    found = [*modules]
    for path in found:
        found += sorted(_imports(path) - set(found))
    return found


@functools.cache
def _imports(source: Path) -> set[Path]:
    """Return the files that a module imports from its own package or folder, and from mpi_es."""
    top = next(folder for folder in source.parents if not (folder / "__init__.py").exists())
    packages = {top / source.relative_to(top).parts[0], PACKAGE}
    found = set()
    for statement in _statements(ast.parse(source.read_bytes()).body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for stem in _stems(statement, source, {top, PACKAGE.parent}):
                found.add(stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py"))
    return {path for path in found if path.exists() and (path.parent == top or packages & {*path.parents})}


def _statements(block: list[Any]) -> Iterator[ast.stmt]:
    """Yield the statements of a block, nested ones too; ast.walk would visit each expression."""
    for statement in block:
        yield statement
        for inner in ("body", "orelse", "handlers", "finalbody"):
            yield from _statements(getattr(statement, inner, []))


def _stems(statement: ast.Import | ast.ImportFrom, source: Path, tops: set[Path]) -> Iterator[Path]:
    """Yield the paths, without suffix, of the modules that a statement may import."""
    level, module = getattr(statement, "level", 0), getattr(statement, "module", None) or ""
    for base in {source.parents[level - 1]} if level else tops:
        place = base / module.replace(".", "/")
        yield place
        yield from (place / alias.name.replace(".", "/") for alias in statement.names)

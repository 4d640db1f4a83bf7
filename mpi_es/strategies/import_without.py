"""Importing a package without what it imports in turn and here does without, or with its docstrings."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


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


@contextmanager
def import_with_docstrings(package: str) -> Iterator[None]:
    """Let a package be imported in the block that edits its docstrings, also where Python leaves them out.

    Python does so under -OO and PYTHONOPTIMIZE=2.
    """
    finder = _Finder(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds the modules of one package."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of the package is."""
        if sys.flags.optimize < 2 or name.partition(".")[0] != self.package:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _WithDocstrings(name, spec.loader.path)
        return spec


class _WithDocstrings(SourceFileLoader):
    """Compiles a module anew: the code that Python has stored lacks the docstrings."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code."""
        path = self.get_filename(fullname)
        code: CodeType = compile(self.get_data(path), path, "exec", dont_inherit=True, optimize=1)
        return code

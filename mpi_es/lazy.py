"""Names of a package that are imported when they are first used: the package's own import is quick."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mpi_es.extras import needs


def attributes(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the package's `__getattr__` (PEP 562).

    Args:
        modules: the names that each module provides; a module with no names is itself an attribute.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        whole = modules.get(f"{package}.{name}") == ()
        if not whole and name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = importlib.import_module(f"{package}.{name}" if whole else module_of[name])
        except ModuleNotFoundError as error:
            text = f"{package}.{name} {needs(error.name or '')}"
            raise ModuleNotFoundError(text, name=error.name) from error
        return module if whole else getattr(module, name)

    return find

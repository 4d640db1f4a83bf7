"""Names of a package that are imported when they are first used: the package's own import is quick."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def attributes(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the package's `__getattr__` (PEP 562).

    Args:
        modules: the names that each module has to offer.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(module_of[name]), name)

    return find

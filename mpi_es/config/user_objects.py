"""Objects that a user names as package.module:name, and the name=value arguments that make them.

An object of a script, which no other program can import, has the name SCRIPT.py:name.
"""

import ast
import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mpi_es.errors import UserError, expected, one_line, unknown
from mpi_es.extras import EXTRA_OF, needs

_LITERALS = {"true": "True", "false": "False", "none": "None"}
_SCRIPT = ".py"  # ends a script's name, and no module's
_MAIN = ("__main__", "__mp_main__")  # modules of the script, the second in a process that it spawned


def load(option: str, name: str) -> Any:
    """Return the object that `package.module:name` names."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute.isidentifier():
        raise expected(option, "package.module:name", name)
    module = load_module(option, module_name)
    try:
        return getattr(module, attribute)
    except AttributeError:
        own = [one for one, value in vars(module).items() if getattr(value, "__module__", "") == module_name]
        offered = [one for one in own if not one.startswith("_")]
        if not offered:
            raise expected(option, f"a name in {module_name}, which defines none", attribute) from None
        raise unknown(f"{option} {module_name}", attribute, offered) from None


def load_module(option: str, name: str) -> Any:
    """Return the imported module, or raise a UserError with the reason."""
    if name.endswith(_SCRIPT):
        hint = "run it again to continue its run, or pass its object to mpi_es.load_agent"
        raise expected(option, "a module that can be imported", name, f"it is a script: {hint}")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing in EXTRA_OF and missing == name.partition(".")[0]:
            raise UserError(f"{option} {needs(missing)}") from error
        if f"{name}.".startswith(f"{missing}."):
            hint = "run from the folder that holds it, or add that folder to PYTHONPATH"
            raise expected(option, "a module that can be imported", name, hint) from error
        raise UserError(f"{option}: {name} {needs(missing)}") from error
    except (Exception, SystemExit) as error:
        raise UserError(f"{option}: importing {name} failed: {one_line(error)}") from error


def is_of_script(name: str) -> bool:
    """Return whether a name stands for an object of a script."""
    return name.partition(":")[0].endswith(_SCRIPT)


def name_of(thing: Any) -> str:
    """Return package.module:name of an object that another program can import, else SCRIPT.py:name."""
    inner = thing.func if isinstance(thing, partial) else thing
    kind = inner if hasattr(inner, "__qualname__") else type(inner)
    module, name = getattr(kind, "__module__", None) or "builtins", kind.__qualname__
    if module not in _MAIN and getattr(sys.modules.get(module), name, None) is thing:
        return f"{module}:{name}"
    # The class of an object may come from any module.
    holder = sys.modules.get(module if kind is inner else "__main__")
    script = Path(getattr(holder, "__file__", None) or "interactive").stem
    return f"{script}{_SCRIPT}:{re.sub(r'[^0-9A-Za-z_]+', '_', name).strip('_')}"


def words_of(values: Mapping[str, Any], option: str) -> list[str]:
    """Return the values as the words name=value that `parsed` reads."""
    words = []
    for name, value in values.items():
        word = next((word for word in (f"{name}={value}", f"{name}={value!r}") if _is(word, name, value)), "")
        if not word:
            raise expected(option, "names with plain values", f"{name}={value!r}")
        words.append(word)
    return words


def _is(word: str, name: str, value: Any) -> bool:
    """Return whether a word is read as this name and value."""
    try:
        return bool(parsed([word], "") == {name: value})
    except (UserError, ValueError):  # ValueError: arrays are compared
        return False


def parsed(words: Sequence[str], option: str) -> dict[str, Any]:
    """Return the values of the words name=value: a Python literal if it is one, else the text."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (equals and name.isidentifier()):
            raise expected(option, "name=value", word)
        if name in values:
            raise expected(option, "each name once", word)
        value = _LITERALS.get(value.lower(), value)
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            values[name] = value
    return values

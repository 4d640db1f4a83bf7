"""What a user names as package.module:name, and the name=value with which it is made."""

import ast
import importlib
from collections.abc import Sequence
from typing import Any

from mpi_es.errors import UserError, expected, one_line, unknown

_LITERALS = {"true": "True", "false": "False", "none": "None"}


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
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if f"{name}.".startswith(f"{missing}."):
            hint = "run from the folder that holds it, or add that folder to PYTHONPATH"
            raise expected(option, "a module that can be imported", name, hint) from error
        raise UserError(f"{option}: {name} needs the package {missing!r}: pip install it") from error
    except (Exception, SystemExit) as error:
        raise UserError(f"{option}: importing {name} failed: {one_line(error)}") from error


def parsed(words: Sequence[str], option: str) -> dict[str, Any]:
    """Return the names with their values: a Python literal where it is one, else the text."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (equals and name.isidentifier()):
            raise expected(option, "name=value", word)
        value = _LITERALS.get(value.lower(), value)
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            values[name] = value
    return values

"""Errors that are printed on one line: a user's mistake, and a rollout that failed."""

import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_FEW = 8  # choices, at most, that a rule lists


class _PrintedError(Exception):
    """An exception whose text is printed; it is never empty."""

    def __str__(self) -> str:
        text = super().__str__()
        return text if text.strip() else f"a {type(self).__name__} without text"


class UserError(_PrintedError):
    """A mistake that the user can correct: one line on rank 0, exit code 2."""


class RolloutError(_PrintedError):
    """An episode or an update raised an exception or returned no finite number.

    The text includes the rank's traceback.

    `x` is the argument of a function whose call failed, else None.
    """

    x: Any = None


class OutOfStep(Exception):
    """Ranks disagree on the next collective; do not catch."""


def one_line(error: BaseException) -> str:
    """Return the type and text of an exception, on one line."""
    try:
        text = str(error)
    except Exception:  # a user's exception
        text = "<exception str() failed>"  # as in Python's tracebacks
    return ": ".join(filter(None, [type(error).__name__, " ".join(text.split())]))


def warn(text: str) -> None:
    """Print a warning; the program continues."""
    print(f"warning: {text}", file=sys.stderr, flush=True)


def expected(name: str, rule: str, got: object, hint: str = "") -> UserError:
    """Build the error `<name>: expected <rule>, got <value>`, followed by the hint."""
    text = f"{name}: expected {rule}, got {got!r}"
    return UserError(f"{text}; {hint}" if hint else text)


def unknown(name: str, got: str, choices: Iterable[str]) -> UserError:
    """Build the error for a name that is not registered, with the nearest one that is.

    A short list of choices is part of the rule; a long one is added only if no name is near.
    """
    known = sorted(choices)
    near = difflib.get_close_matches(got, known, n=1)
    meant = f"did you mean {near[0]!r}?" if near else ""
    if len(known) <= _FEW:
        return expected(name, f"one of {', '.join(known)}", got, meant)
    return expected(name, f"one of {len(known)} names", got, meant or f"use one of {', '.join(known)}")


@contextmanager
def in_words_of_scripts(names: Mapping[str, str] = {}) -> Iterator[None]:
    """Raise a UserError again with the arguments of a script in place of the command line's options.

    Args:
        names: the argument for each option whose name differs.
    """
    try:
        yield
    except UserError as error:

        def argument(option: re.Match[str]) -> str:
            return names.get(option[1], option[1].replace("-", "_"))

        raise UserError(re.sub(r"(?<![\w-])--([a-z][a-z0-9-]*)", argument, str(error))) from error

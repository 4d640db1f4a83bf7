"""A user's callback: `--callback package.module:Class`, called on rank 0 after each generation."""

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es.config.parts import flat, without_effect
from mpi_es.config.user_objects import load
from mpi_es.errors import RolloutError, UserError, expected, one_line
from mpi_es.telemetry.view import Numbers


class Callback:
    """A sink that calls a user's object; an exception there ends the run, after it is saved.

    The object's class is called with the options that have an effect, a dict, and the run's directory.
    """

    def __init__(self, config: Any, directory: Path) -> None:
        self._config, self._directory = config, directory
        self._option = f"--callback {config.callback}"
        self._class, self._object = load("--callback", config.callback), None
        if not callable(getattr(self._class, "generation", None)):
            raise expected(self._option, "a class with a method generation", config.callback)

    def start(self, facts: Sequence[str], done: int) -> None:
        """Make the object, once the run's directory exists."""
        unused = without_effect(self._config)
        options = {name: value for name, value in flat(self._config).items() if name not in unused}
        try:
            self._object = self._class(options, self._directory)
        except (Exception, SystemExit) as error:
            raise UserError(f"{self._option}: its constructor failed: {one_line(error)}") from error

    def generation(self, numbers: Numbers) -> str:
        """Pass a generation to the object; if it returns True, return that it stopped the run."""
        answer = self._call("generation", dict(numbers))
        # Only True itself: a method may happen to return a number, such as that of characters written.
        stops = isinstance(answer, bool | np.bool_) and bool(answer)
        return f"stopped by {self._option}" if stops else ""

    def finish(self, text: str) -> None:
        """Tell the object why the run ended, if it has a method for that."""
        if hasattr(self._object, "finish"):
            self._call("finish", text)

    def close(self) -> None:
        """Close the object, if it has a method for that; also after an exception."""
        if hasattr(self._object, "close"):
            self._call("close")

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._object, method)(*arguments)
        except (Exception, SystemExit) as error:  # the other ranks would wait for ever
            text = f"{self._option}: {method} failed: {one_line(error)}"
            raise RolloutError(f"{text}\n{traceback.format_exc()}") from error

"""A callback of the user's: `--callback package.module:Class`, called on rank 0 after each generation."""

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpi_es.config.parts import flat
from mpi_es.config.user_objects import load
from mpi_es.errors import RolloutError, UserError, expected, one_line
from mpi_es.run_file.records import HeldOut, Row, Timing
from mpi_es.telemetry.tags import Tags


class Callback:
    """An object of the user's; what it raises ends the run, which is saved before.

    Args:
        name: package.module:Class. The class is called with the options as a dict and the run's directory.
    """

    def __init__(self, name: str, directory: Path) -> None:
        self._option, self._directory = f"--callback {name}", directory
        self._class, self._object = load("--callback", name), None
        if not callable(getattr(self._class, "generation", None)):
            raise expected(self._option, "a class with a method generation", name)

    def start(self, config: Any) -> None:
        """Make the object, when the run's directory exists."""
        try:
            self._object = self._class(flat(config), self._directory)
        except (Exception, SystemExit) as error:
            raise UserError(f"{self._option}: its constructor failed: {one_line(error)}") from error

    def generation(self, generation: int, numbers: dict[str, float]) -> None:
        """Pass on a generation as one dict."""
        self._call("generation", {"generation": generation} | numbers)

    def finish(self, reason: str) -> None:
        """Pass on why the run ended, if the object has a method for it."""
        if hasattr(self._object, "finish"):
            self._call("finish", reason)

    def close(self) -> None:
        """Close the object, if it has a method for it; also after an exception."""
        if hasattr(self._object, "close"):
            self._call("close")

    def _call(self, method: str, *arguments: Any) -> None:
        try:
            getattr(self._object, method)(*arguments)
        except (Exception, SystemExit) as error:  # the other ranks would wait for ever
            text = f"{self._option}: {method} failed: {one_line(error)}"
            raise RolloutError(f"{text}\n{traceback.format_exc()}") from error


class CallbackSink:
    """Pass each generation to a callback.

    Args:
        steps: of the generations before.
    """

    def __init__(self, callback: Callback, steps: int) -> None:
        self._callback, self._steps = callback, steps

    def start(self, config: Any, facts: Sequence[str], done: int) -> None:
        """Begin to count the steps."""
        self._callback.start(config)
        self._tags = Tags(config, self._steps)

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Pass on a generation."""
        self._callback.generation(row.generation, self._tags.generation(row, timing, held_out))

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Pass on the last score and the reason."""
        if held_out:
            self._callback.generation(held_out.generation, self._tags.held_out(held_out))
        self._callback.finish(reason)

    def close(self) -> None:
        """Close the callback."""
        self._callback.close()

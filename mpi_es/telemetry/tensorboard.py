"""A run's progress as TensorBoard's event files, over generations."""

import contextlib
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import metadata
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionStartInfo
from tensorboard.summary.writer.record_writer import RecordWriter

from mpi_es.config.parts import flat
from mpi_es.errors import UserError
from mpi_es.telemetry.view import Numbers


class TensorBoard:
    """Write a record for each generation, without the thread that TensorBoard's and torch's writers start."""

    def __init__(self, config: Any, directory: Path) -> None:
        self._config, self._directory = config, directory
        self._file: BinaryIO | None = None

    def start(self, facts: Sequence[str], done: int) -> None:
        """Begin a file, and hide the generations of an earlier file that this run repeats."""
        # Nanoseconds, since readers take files in the order of their names.
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        try:
            self._file = (self._directory / name).open("xb")
        except OSError as error:
            raise _failure(self._directory, error) from error
        self._write(file_version="brain.Event:2")
        self._write(summary=Summary(value=[_hyperparameters(self._config)]))
        # Also before the first generation: one that was killed may have written events but no checkpoint.
        self._write(step=done + 1, session_log=SessionLog(status=SessionLog.START))

    def generation(self, numbers: Numbers) -> None:
        """Write a generation's scalars and let readers see them."""
        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in numbers.items()]
        summary = Summary(value=[one for one in values if one.tag != "generation"])
        self._write(step=int(numbers["generation"]), summary=summary)

    def finish(self, text: str) -> None:
        """Write nothing: events are numbers."""

    def close(self) -> None:
        """Close the file."""
        if self._file:
            with contextlib.suppress(OSError):  # a full disk, which was reported already
                self._file.close()

    def _write(self, **content: Any) -> None:
        assert self._file, "start comes first"
        event = Event(wall_time=time.time(), **content)
        try:
            RecordWriter(self._file).write(event.SerializeToString())
            self._file.flush()
        except OSError as error:
            raise _failure(self._directory, error) from error


def _hyperparameters(config: Any) -> Any:
    """Return the options in the form of TensorBoard's HParams page."""
    start = SessionStartInfo()
    kinds = {bool: "bool_value", int: "number_value", float: "number_value"}
    for name, value in flat(config).items():
        kind = kinds.get(type(value))
        setattr(start.hparams[name], kind or "string_value", value if kind else str(value))
    described = metadata.create_summary_metadata(HParamsPluginData(session_start_info=start))
    return Summary.Value(tag=metadata.SESSION_START_INFO_TAG, metadata=described, tensor=metadata.NULL_TENSOR)


def _failure(directory: Path, error: OSError) -> UserError:
    return UserError(
        f"--tensorboard: cannot write to {directory} ({error.strerror}); --no-tensorboard writes none"
    )

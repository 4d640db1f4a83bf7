"""A run's progress as TensorBoard's event files, over generations."""

import contextlib
import os
import socket
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from mpi_es.errors import UserError
from mpi_es.run_file.records import HeldOut, Row, Timing, scalars


class TensorBoard:
    """Write a record for each generation, without the thread of TensorBoard's and torch's own writers."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file: BinaryIO | None = None

    def start(self, config: object, facts: Sequence[str], done: int) -> None:
        """Begin a file, and hide the generations of an earlier file that this run makes again."""
        # Nanoseconds, since readers take the files in the order of their names.
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        try:
            self._file = (self._directory / name).open("xb")
        except OSError as error:
            raise _failure(self._directory, error) from error
        self._write(file_version="brain.Event:2")
        if done:
            self._write(step=done + 1, session_log=SessionLog(status=SessionLog.START))

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Write a generation's scalars and let readers see them."""
        self._write_scalars(row.generation, row, timing, *([held_out] if held_out else []))

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Write the last score."""
        if held_out:
            self._write_scalars(held_out.generation, held_out)

    def close(self) -> None:
        """Close the file."""
        if self._file:
            with contextlib.suppress(OSError):  # a full disk, which was reported
                self._file.close()

    def _write_scalars(self, generation: int, *records: Row | Timing | HeldOut) -> None:
        self.write(generation, (pair for record in records for pair in scalars(record)))

    def write(self, generation: int, pairs: Iterable[tuple[str, float]]) -> None:
        """Write tags and their values at a generation, and let readers see them."""
        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in pairs]
        self._write(step=generation, summary=Summary(value=values))

    def _write(self, **content: Any) -> None:
        assert self._file, "start comes first"
        event = Event(wall_time=time.time(), **content)
        try:
            RecordWriter(self._file).write(event.SerializeToString())
            self._file.flush()
        except OSError as error:
            raise _failure(self._directory, error) from error


def _failure(directory: Path, error: OSError) -> UserError:
    return UserError(
        f"--tensorboard: cannot write to {directory} ({error.strerror}); --no-tensorboard writes none"
    )

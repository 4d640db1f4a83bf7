"""A run's progress as TensorBoard's event files, over generations."""

import contextlib
import os
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import metadata
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionStartInfo
from tensorboard.summary.writer.record_writer import RecordWriter

from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from mpi_es.run_file.records import HeldOut, Row, Timing, scalars, shown, sign

# A function's runs have other tags: an episode is a call.
_OF_FUNCTIONS = {
    "fitness/min": "fitness/worst",
    "generation/episodes": "generation/calls",
    "speed/episodes_per_second": "speed/calls_per_second",
}
_OF_EPISODES = {"generation/steps", "episode_length/mean", "episode_length/cap", "speed/steps_per_second"}


class TensorBoard:
    """Write a record for each generation, without the thread of TensorBoard's and torch's own writers."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._steps = directory, 0  # of all generations
        self._file: BinaryIO | None = None

    def start(self, config: Any, facts: Sequence[str], done: int) -> None:
        """Begin a file, and hide the generations of an earlier file that this run makes again."""
        self._config = config
        # Nanoseconds, since readers take the files in the order of their names.
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        try:
            self._file = (self._directory / name).open("xb")
        except OSError as error:
            raise _failure(self._directory, error) from error
        self._write(file_version="brain.Event:2")
        self._write(summary=Summary(value=[_hyperparameters(config)]))
        if done:
            self._steps = steps_before(self._directory)
            self._write(step=done + 1, session_log=SessionLog(status=SessionLog.START))

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Write a generation's scalars and let readers see them."""
        row = shown(self._config, row)
        self._write_scalars(row.generation, row, timing, *([held_out] if held_out else []))
        self._steps += row.steps
        if not self._config.function:
            self.write(row.generation, [("total/steps", self._steps)])

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
        pairs = [pair for record in records for pair in scalars(self._shown(record))]
        if self._config.function:
            pairs = [(_OF_FUNCTIONS.get(tag, tag), value) for tag, value in pairs if tag not in _OF_EPISODES]
        self.write(generation, pairs)

    def _shown(self, record: Row | Timing | HeldOut) -> Row | Timing | HeldOut:
        if not isinstance(record, HeldOut):
            return record
        return HeldOut(record.generation, sign(self._config) * record.returns)

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


def _hyperparameters(config: Any) -> Any:
    """Return the options as the table of TensorBoard's HParams page has them."""
    start = SessionStartInfo()
    kinds = {bool: "bool_value", int: "number_value", float: "number_value"}
    for field in fields(config):
        value = getattr(config, field.name)
        kind = kinds.get(type(value))
        setattr(start.hparams[field.name], kind or "string_value", value if kind else str(value))
    described = metadata.create_summary_metadata(HParamsPluginData(session_start_info=start))
    return Summary.Value(tag=metadata.SESSION_START_INFO_TAG, metadata=described, tensor=metadata.NULL_TENSOR)


def steps_before(directory: Path) -> int:
    """Return the environment steps of the generations that run.h5 holds; 0 where it has no such column."""
    if not (directory / checkpoint.NAME).exists():
        return 0
    return int(np.sum(checkpoint.load(directory)[0]["history"].get("steps", 0)))


def _failure(directory: Path, error: OSError) -> UserError:
    return UserError(
        f"--tensorboard: cannot write to {directory} ({error.strerror}); --no-tensorboard writes none"
    )

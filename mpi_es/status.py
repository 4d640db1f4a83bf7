"""python -m mpi_es.status RUN…: progress and state of runs, read from run.h5 alone."""

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint, run_status
from mpi_es.run_file.schema import check_progress
from mpi_es.run_file.scores import best_is_infeasible
from mpi_es.telemetry.terminal import tolerate
from mpi_es.text import duration, number

_RECENT = 50  # generations that the speed averages over, as on the console


@dataclass(frozen=True)
class Status:
    """A row of the table: a run's progress and state as text."""

    run: str
    generation: str
    best: str  # held-out mean, or value of a function
    speed: str
    left: str
    last_sign: str
    state: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 2 if a run cannot be read."""
    parser = argparse.ArgumentParser(
        "python -m mpi_es.status", description="Progress and state of runs, read from run.h5 alone."
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="directory of a run")
    parser.add_argument(
        "--finished", action="store_true", help="print nothing; exit code 0 if all are finished, else 1"
    )
    parser.add_argument(
        "--generations",
        action="store_true",
        help="print only the sum of the generations of all runs",
    )
    options = parser.parse_args(arguments)
    tolerate(sys.stdout)
    if options.generations:
        print(sum(map(generations, options.runs)))
        return 0
    if options.finished:
        return int(not all(map(is_finished, options.runs)))
    rows, complaints = [], 0
    for run in options.runs:
        try:
            rows.append(status(run, time.time()))
        except UserError as error:
            complaints += 1
            print(f"error: {error}", file=sys.stderr)
    if rows:
        print(f"{table(rows)}\n", end="")  # in one piece: `head -1` leaves after the first line
    return 2 if complaints else 0


def generations(run: Path) -> int:
    """Return the number of generations done; 0 if the file cannot be read."""
    try:
        return int(checkpoint.load(run, check_progress)[0]["progress"]["generation"])
    except UserError:
        return 0


def is_finished(run: Path) -> bool:
    """Return whether a run is finished; false if its file is damaged,
    whatever the previous checkpoint says.
    """
    try:
        return run_status.is_finished(*checkpoint.load(run, check_progress))
    except UserError:
        return False


def status(run: Path, now: float) -> Status:
    """Return the status of a run.

    Args:
        now: seconds since 1970.
    """
    content, warning = checkpoint.load(run, check_progress)
    done, last = content["progress"]["generation"], content["config"]["max_iter"]
    seconds = content["timing"]["total"]
    mean = float(seconds[-_RECENT:].mean()) if seconds.size else math.nan
    state, silence = run_status.state_of(content, now)
    return Status(
        run=str(run),
        generation=f"{done} of {last}",
        best=best_of(content),
        speed=speed_of(content, mean),
        left="-" if math.isnan(mean) or run_status.is_finished(content) else left_of(content, mean),
        last_sign=f"{duration(max(silence, 0.0))} ago",
        state=f"{state}; {warning}" if warning else state,
    )


def best_of(content: dict[str, Any]) -> str:
    """Return the best held-out score, or value of a function, and its generation."""
    best, minimise = content["best"], content["config"].get("minimise", False)
    fitness = float(best["fitness"])
    score = -fitness if minimise else fitness
    if not math.isfinite(fitness):
        return "-"
    infeasible = ", not feasible" if best_is_infeasible(content) else ""
    return f"{number(score)} at {best['generation']}{infeasible}"


def left_of(content: dict[str, Any], seconds: float) -> str:
    """Return the time left, from the seconds of a generation."""
    config = content["config"]
    most = "at most " if run_status.may_end_earlier(config) else ""
    return most + duration(max(config["max_iter"] - content["progress"]["generation"], 0) * seconds)


def speed_of(content: dict[str, Any], seconds: float) -> str:
    """Return steps per second, or calls of a function, if known, and seconds per generation."""
    if math.isnan(seconds):
        return "-"
    steps = content["timing"].get("steps_per_second", np.zeros(0))[-_RECENT:]
    unit = "calls/s" if content["config"].get("function") else "steps/s"
    rate = f"{number(float(steps.mean()))} {unit}, " if steps.size else ""
    return f"{rate}{number(seconds)} s each"


def table(rows: Sequence[Status]) -> str:
    """Return a header and the rows, in columns."""
    titles = [field.name.replace("_", "-") for field in fields(Status)]
    cells = [titles, *([getattr(row, field.name) for field in fields(Status)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in cells)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

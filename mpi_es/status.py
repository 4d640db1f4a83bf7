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
from mpi_es.run_file import checkpoint, stamp
from mpi_es.text import clock, number

_RECENT = 50  # generations that the speed averages over, as on the console
# A run counts as silent after three of its longest generations, since one with a held-out evaluation takes
# longer, and a minute, in which a job starts.
_SILENT_AFTER = 3.0
_START = 60.0  # seconds


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
    parser = argparse.ArgumentParser("python -m mpi_es.status", description=(__doc__ or "").split(": ")[1])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="directory of a run")
    parser.add_argument(
        "--finished", action="store_true", help="print nothing; exit code 0: all are finished, 1: not"
    )
    parser.add_argument(
        "--generations",
        action="store_true",
        help="print only the number of generations done by all runs",
    )
    options = parser.parse_args(arguments)
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
        print(table(rows))
    return 2 if complaints else 0


def generations(run: Path) -> int:
    """Return the number of generations done; 0 if the file cannot be read."""
    try:
        return int(checkpoint.load(run)[0]["progress"]["generation"])
    except UserError:
        return 0


def is_finished(run: Path) -> bool:
    """Return whether a run is finished; false if its file cannot be read."""
    try:
        return stamp.is_finished(checkpoint.load(run)[0])
    except UserError:
        return False


def status(run: Path, now: float) -> Status:
    """Return the status of a run.

    Args:
        now: seconds since 1970.
    """
    content, warning = checkpoint.load(run)
    done, last = content["progress"]["generation"], content["config"]["max_iter"]
    seconds = seconds_of(content["timing"])
    mean = float(seconds[-_RECENT:].mean()) if seconds.size else math.nan
    state, silence = state_of(content, now, float(seconds.max(initial=0.0)))
    return Status(
        run=str(run),
        generation=f"{done} of {last}",
        best=best_of(content),
        speed=speed_of(content, mean),
        left="-" if math.isnan(mean) or stamp.is_finished(content) else clock(max(last - done, 0) * mean),
        last_sign="-" if math.isnan(silence) else f"{clock(max(silence, 0.0))} ago",
        state=f"{state}; {warning}" if warning else state,
    )


def seconds_of(timing: dict[str, Any]) -> Any:
    """Return the seconds that each generation took."""
    return timing["total" if "total" in timing else "seconds"]  # of mpi_es, of pbt


def best_of(content: dict[str, Any]) -> str:
    """Return the best held-out score, or value of a function, and its generation."""
    best, minimise = content["best"], content["config"].get("minimise", False)
    fitness = float(best["fitness"])
    score = -fitness if minimise else fitness
    return f"{number(score)} at {best['generation']}" if math.isfinite(fitness) else "-"


def speed_of(content: dict[str, Any], seconds: float) -> str:
    """Return steps a second where they are known, calls a second of a function, and seconds a generation."""
    if math.isnan(seconds):
        return "-"
    steps = content["timing"].get("steps_per_second", np.zeros(0))[-_RECENT:]
    unit = "calls/s" if content["config"].get("function") else "steps/s"
    rate = f"{number(float(steps.mean()))} {unit}, " if steps.size else ""
    return f"{rate}{number(seconds)} s each"


def state_of(content: dict[str, Any], now: float, longest: float) -> tuple[str, float]:
    """Return the state of a run (why it stopped, running or silent) and the seconds since its last save.

    Args:
        longest: seconds of the longest generation.
    """
    life = content.get("life")
    if life is None:
        return "saved by an older version, which stored no state", math.nan
    silence = now - life["saved"]
    where = f"on {life['host']}" + (f", job {life['job']}" if life["job"] else "")
    if life["reason"]:
        return life["reason"] + ("" if life["finished"] else "; to be continued"), silence
    if longest == 0:  # the length of one is unknown
        return f"running {where}, no generation done", silence
    if silence > _SILENT_AFTER * longest * content["config"]["checkpoint_every"] + _START:
        return f"silent: killed or hung ({where})", silence
    return f"running {where}", silence


def table(rows: Sequence[Status]) -> str:
    """Return a header and the rows, in columns."""
    titles = [field.name.replace("_", "-") for field in fields(Status)]
    cells = [titles, *([getattr(row, field.name) for field in fields(Status)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in cells)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

"""Curves of a study's runs in a csv small enough to keep: what stands there is not trained again."""

import argparse
import csv
import re
import sys
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

COLUMNS = ("setting", "seed", "generation", "cost", "held_out")
Curve = NDArray[np.float64]  # (points, 3): generation, cost in the study's unit, held-out mean
Curves = dict[tuple[str, int], Curve]  # by setting and seed


def parser(
    description: str | None, tasks: Collection[str], directory: Path, path: Path
) -> argparse.ArgumentParser:
    """Return the command line of a study that trains in a directory and keeps its curves in a file."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("section", choices=("run", "show"))
    made.add_argument("tasks", nargs="*", default=list(tasks), help=", ".join(tasks))
    made.add_argument("--cores", type=int, default=2)
    made.add_argument("--directory", type=Path, default=directory)
    made.add_argument("--results", type=Path, default=path)
    return made


def read(path: Path) -> Curves:
    """Return the curves in a file."""
    if not path.exists():
        return {}
    curves: dict[tuple[str, int], list[list[float]]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            points = curves.setdefault((row["setting"], int(row["seed"])), [])
            points.append([float(row[column]) for column in COLUMNS[2:]])
    return {key: np.array(points) for key, points in curves.items()}


def done(path: Path) -> Curves:
    """Return the curves in a file, or end the program where there are none."""
    return read(path) or sys.exit(f"expected runs in {path}, got none")


def add(path: Path, setting: str, seed: int, curve: Curve) -> None:
    """Append a run's curve."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not begun:
            writer.writerow(COLUMNS)
        for generation, cost, held_out in curve:
            writer.writerow((setting, seed, int(generation), f"{cost:.3f}", f"{held_out:.6g}"))


def directory_of(root: Path, setting: str, seed: int) -> Path:
    """Return the directory of a run."""
    return root / f"{re.sub('[^A-Za-z0-9.]+', '-', setting)}-{seed}"


def missing(path: Path, settings: Iterable[str], seeds: Iterable[int]) -> list[tuple[str, int]]:
    """Return the runs that are not in a file, one seed of all settings before the next; say so if none is."""
    known = read(path)
    found = [(setting, seed) for seed, setting in product(seeds, settings) if (setting, seed) not in known]
    if not found:
        print(f"{path} holds all these runs; --results FILE trains them again")
    return found


def train_all(path: Path, cores: int, trainings: dict[tuple[str, int], Callable[[], Curve]]) -> None:
    """Do trainings, one on each core, and append their curves; where one fails, begin no other."""
    with ThreadPoolExecutor(cores) as threads:
        begun = {threads.submit(training): key for key, training in trainings.items()}
        try:
            for ended in as_completed(begun):
                add(path, *begun[ended], ended.result())
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def by_setting(curves: Curves, settings: Iterable[str]) -> dict[str, list[Curve]]:
    """Return the curves of those settings that have any, in the order of the seeds."""
    runs = {setting: [curves[key] for key in sorted(curves) if key[0] == setting] for setting in settings}
    return {setting: found for setting, found in runs.items() if found}


def end_of(curve: Curve) -> float:
    """Return the mean of the last three held-out means: one alone is a draw of the centre's noise."""
    return float(curve[-3:, 2].mean())


def cost_of(curve: Curve, score: float) -> float:
    """Return what a score cost, infinity where it was not reached."""
    reached = curve[curve[:, 2] >= score, 1]
    return float(reached[0]) if len(reached) else np.inf

"""Small real runs, whose files are forged."""

from pathlib import Path
from typing import Any

import numpy as np

from mpi_es import train
from mpi_es.run_file import checkpoint
from pbt import train as pbt_train
from tests.launching import run_here

QUIET = ["--console", "silent", "--no-tensorboard"]
_CARTPOLE = ["cartpole", "--population-size", "8", "--num-rollouts", "1", "--hidden", "4", "--max-iter", "3"]
_CARTPOLE += ["--eval-every", "2", "--num-eval-rollouts", "2", "--episode-cap", "20"]
_FUNCTION = ["--function", "tests.run_file.bases:sphere", "--x0", "1", "2", "3", "--max-iter", "4"]
_LIMITED = ["--function", "tests.run_file.bases:limited", *_FUNCTION[2:]]
TRAINED = {
    "full": [*_CARTPOLE, "--obs-norm", "--cma-variant", "full"],
    "openai_es": [*_CARTPOLE, "--strategy", "openai_es"],
    "constraints": [*_LIMITED, "--constraints", "1", "--integers", "2"],
    "restarts": [*_FUNCTION, "--restarts", "bipop", "--bounds", "-5", "5"],
}


def sphere(x):
    return -(x**2).sum()


def limited(x):
    return sphere(x), [1 - x[0]]


def make(name: str, directory: Path) -> Path:
    """Make a run, or the population of a preset, in a directory of its name, and return it."""
    run = directory / name
    program = train if name in TRAINED else pbt_train
    words = TRAINED.get(name, [name, "--eval-every", "2"])
    run_here(program, *words, *QUIET, "--run-dir", run)
    return run


def read(run: Path) -> dict[str, Any]:
    """Return the content of a file that is no run's."""
    content, warning = checkpoint.load(run, lambda content: None)
    assert warning == ""
    return content


def begun(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a run as it was before the first generation."""
    nobody = {"candidate": np.zeros(0, np.float32), "normalisation": np.zeros((2, 0))}
    groups = {
        group: {name: column[:0] for name, column in content[group].items()}
        for group in ("history", "timing", "evaluations")
    }
    return content | {
        **groups,
        "progress": content["progress"] | {"generation": 0},
        "best": content["best"] | nobody | {"generation": 0},
        "last": content["last"] | {"generation": 0},
    }

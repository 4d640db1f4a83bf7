"""Small real runs, whose files are forged."""

from pathlib import Path
from typing import Any

import numpy as np

from mpi_es import train
from mpi_es.parallel.collectives import SerialComm
from pbt import train as pbt_train

QUIET = ["--console", "silent", "--no-tensorboard"]
_CARTPOLE = ["cartpole", "--population-size", "8", "--num-rollouts", "1", "--hidden", "4", "--max-iter", "3"]
_CARTPOLE += ["--eval-every", "2", "--num-eval-rollouts", "2", "--episode-cap", "20"]
_FUNCTION = ["--function", "tests.run_file.bases:sphere", "--x0", "1", "2", "3", "--max-iter", "4"]
TRAINED = {
    "full": [*_CARTPOLE, "--obs-norm", "--cma-variant", "full"],
    "separable": [*_CARTPOLE, "--cma-variant", "separable"],
    "openai_es": [*_CARTPOLE, "--strategy", "openai_es"],
    "restarts": [*_FUNCTION, "--restarts", "bipop", "--bounds", "-5", "5"],
}
_ES = ["--member", "es", "--env", "CartPole-v1", "--num-agents", "2", "--steps", "1", "--max-iter", "2"]
_ES += ["--num-rollouts", "1", "--num-eval-rollouts", "2", "--member-options", "hidden=4", "episode_cap=20"]
POPULATIONS = {"toy": ["toy", "--eval-every", "2"], "es": _ES}


def sphere(x):
    return -(x**2).sum()


def make(name: str, directory: Path) -> Path:
    """Make a run in a directory of its name, and return it."""
    run = directory / name
    words = [*TRAINED.get(name, POPULATIONS.get(name, [])), *QUIET, "--run-dir", str(run)]
    program = train if name in TRAINED else pbt_train
    assert program.main(SerialComm(), words) == 0
    return run


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

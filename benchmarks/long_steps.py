"""What dispatch costs where a single step lasts long: rank 0 must answer requests during its own steps.

python benchmarks/long_steps.py [--ranks 8] [--repeats 3]

Steps only sleep, so that 8 ranks fit on two cores; an episode has 1 to 4 of them, by its seed. "of ideal" is
the sum of all steps over the number of ranks, divided by the seconds that a generation took.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gymnasium as gym
import numpy as np

STEPS = 4  # of the longest episode
ROOT = Path(__file__).parents[1]  # where the runs begin, since they import this file


class Sleeping(gym.Env):
    """An environment whose steps only sleep."""

    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def reset(self, *, seed=None, options=None):
        """Begin an episode of a length that its seed decides."""
        self.left = 1 + int(seed) % STEPS
        return np.zeros(1, np.float32), {}

    def step(self, action):
        """Sleep."""
        time.sleep(self.seconds)
        self.left -= 1
        return np.zeros(1, np.float32), 1.0, self.left <= 0, False, {}


def measured(ranks: int, seconds: float, episodes: int, dispatch: str) -> tuple[float, float]:
    """Return of one generation the steps per second, as a share of the ideal, and the idle share."""
    from mpi_es import load_run

    with tempfile.TemporaryDirectory() as place:
        run = Path(place, "run")
        command = [Path(sys.prefix, "bin", "mpiexec"), "-n", ranks, sys.executable, "-m", "mpi_es.train"]
        command += ["--env", "benchmarks.long_steps:Sleeping", "--env-options", f"seconds={seconds}"]
        command += ["--hidden", "2", "--population-size", episodes, "--no-track-centre", "--eval-every", 0]
        command += ["--num-eval-rollouts", 1, "--max-iter", 2, "--dispatch", dispatch, "--run-dir", run]
        command += ["--console", "silent", "--no-tensorboard"]
        subprocess.run([str(word) for word in command], check=True, stderr=subprocess.DEVNULL, cwd=ROOT)
        timing = load_run(run)["timing"]
        return timing["steps_per_second"][-1] * seconds / ranks, timing["idle"][-1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("step/s  episodes  dispatch  of ideal  idle")
    for seconds, episodes in ((0.02, 512), (0.2, 64), (1.0, 64)):
        for dispatch in ("static", "dynamic"):
            rows = [measured(options.ranks, seconds, episodes, dispatch) for _ in range(options.repeats)]
            share, idle = np.median(rows, axis=0)
            print(f"{seconds:6g}  {episodes:8d}  {dispatch:8s}  {share:8.2f}  {idle:4.0%}", flush=True)


if __name__ == "__main__":
    main()

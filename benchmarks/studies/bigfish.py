"""bigfish: four agents under PBT and one agent alone, at equal total steps, on one core each.

nohup nice -n 19 python benchmarks/studies/bigfish.py [--rollouts 24] [--directory DIR] > bigfish.log &

Both train at once, so many rollouts of 16,384 steps in all; what was interrupted is continued. The one agent
has the hyperparameters of train-procgen, the four draw theirs from the preset's ranges. At its end the agent
of each that scored best in the last generation, and one that was never trained, play 100 episodes on the
levels of training and 100 on levels that none has seen: the means are printed with their standard errors, and
the steps a second of training and scoring.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import populations
import results
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.seeds import held_out_seeds
from pbt.members.sb3.member import SB3
from pbt.presets import preset

PRESET = "bigfish-bfloat16"
ROLLOUT, SEED, EPISODES = 16384, 1, 100
FIXED = ["learning_rate=5e-4:5e-4", "gamma=0.999:0.999", "ent_coef=0.01:0.01"]
MEMBERS = {"PBT, four agents": 4, "one agent": 1}


def train(root: Path, setting: str, rollouts: int) -> dict[str, Any]:
    """Train one of the settings to its end; return what its run file holds."""
    members = MEMBERS[setting]
    alone = ["--baseline", "--tune", *FIXED] if members == 1 else []
    words = [PRESET, "--num-agents", members, *alone, "--steps", ROLLOUT, "--seed", SEED]
    generations = rollouts // members
    words += ["--eval-every", generations, "--num-eval-rollouts", 1]  # which keeps the best; judged below
    return populations.train(results.directory_of(root, setting, SEED), words, generations)


def played(state: dict[str, Any] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return an agent's returns on the levels of training, and on others."""
    with threadpool_limits(1):
        agent = SB3(preset(PRESET), 0, SerialComm(), StopFlag())
        if state is not None:
            agent.set_state(state)
        seeds = held_out_seeds(SEED, EPISODES)
        return agent.score(seeds).returns, agent.evaluate(seeds).returns


def main() -> None:
    """Train, play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollouts", type=int, default=24, help="of all members")
    parser.add_argument("--directory", type=Path, default=Path("runs/bigfish"))
    options = parser.parse_args()
    with ThreadPoolExecutor(len(MEMBERS)) as threads:
        runs = list(threads.map(lambda setting: train(options.directory, setting, options.rollouts), MEMBERS))
    with ProcessPoolExecutor(len(MEMBERS)) as processes:
        scores = list(processes.map(played, [None, *(run["best"]["state"] for run in runs)]))
    print("| | steps of all | steps a second | levels of training | others |")
    print("| --- | --- | --- | --- | --- |")
    print(f"| untrained | 0 | | {' | '.join(map(shown, scores[0]))} |")
    for (setting, members), run, returns in zip(MEMBERS.items(), runs, scores[1:], strict=True):
        steps = run["progress"]["generation"] * members * ROLLOUT
        speed = steps / run["timing"]["seconds"].sum()
        print(f"| {setting} | {steps:,} | {speed:.0f} | {' | '.join(map(shown, returns))} |")


def shown(returns: NDArray[np.float64]) -> str:
    """Return a mean and its standard error in words."""
    return f"{returns.mean():.2f} ± {returns.std(ddof=1) / len(returns) ** 0.5:.2f}"


if __name__ == "__main__":
    main()

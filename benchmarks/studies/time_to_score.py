"""Wall time to a score on two cores: ours, estool's CMA-ES, EvoTorch's PGPE and Stable-Baselines3's PPO.

python benchmarks/studies/time_to_score.py run [TASK …] [--seeds 3] [--minutes 10] [--only PROGRAM …]
python benchmarks/studies/time_to_score.py show

`run` trains each until the mean of 20 held-out episodes reaches the task's score, or the minutes are over,
one seed of all before the next, and adds the runs to docs/benchmarks/time_to_score.csv or --results; those
that stand there are not trained again. `show` prints the table and draws it beside the csv. The clock runs
from the start of the program; it stands still while the two programs play held-out episodes here, one after
the other, and runs on while ours play them on all ranks. CartPole, LunarLander and BipedalWalker are our
worlds in our evaluation.

    mpi_es      our preset
    estool      its settings, evaluated by us: CMA-ES, sigma 0.1, an MLP 40-40, 96 candidates with one
                episode; on CarRacing those of the attention paper, 256 candidates with 16
    EvoTorch    PGPE with ClipUp, GymNE on two actors; settings of its examples
    PPO         of Stable-Baselines3; settings of RL Baselines3 Zoo

Other work on the machine lengthens the seconds of a run, so nothing else should be at work.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import matplotlib as mpl
import numpy as np
import results
from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "docs" / "benchmarks" / "time_to_score.csv"
EPISODES = 20  # of a held-out evaluation
FIRST_SEED = 10**6  # of these episodes
BEGUN = "held-out episodes begin"  # printed by the two that play them here
HELD_OUT = re.compile(r"held-out mean (\S+)")  # of these two
ROW = re.compile(r" *[\d,]+(?: +\S+){3} +(-?\d\S*) ")  # of ours: generation, best, mean, of mean, held-out
ESTOOL = ("--strategy", "cma_es", "--hidden", "40", "40", "--init-sigma", "0.1", "--population-size", "96")
PROGRAMS = ("mpi_es", "estool", "EvoTorch", "PPO")
COLOURS = dict(zip(PROGRAMS, ("#D55E00", "#E69F00", "#0072B2", "#777777"), strict=True))


def gelu() -> Any:
    """Return the activation of the zoo's networks on pictures."""
    import torch

    return torch.nn.GELU()


@dataclass(frozen=True)
class Task:
    """An environment, its score, and the settings of each program."""

    env: str
    score: float
    ours: tuple[str, ...]
    estool: tuple[str, ...]
    network: str = "Linear(obs_length, act_length)"  # EvoTorch's
    popsize: int = 200
    radius: float = 0.27  # of its first population; ClipUp's highest speed is a fifteenth of it
    rate: float = 0.75  # the centre's learning rate, of that speed
    normalised: bool = True
    every: int = 5  # generations between its held-out episodes
    updates: int = 1  # of PPO between its held-out episodes
    steps: int = 100_000  # PPO's
    ppo: dict[str, Any] = field(default_factory=dict)
    copies: int = 8  # environments of PPO
    scaled: str = ""  # what PPO normalises: rewards, or all, which is observations too


TASKS = {
    "CartPole": Task(
        "CartPole-v1",
        475.0,
        ("cartpole", "--eval-every", "1", "--target-consecutive", "1"),
        ("--env", "mpi_es/CartPole-v1", *ESTOOL, "--eval-every", "1"),
        network="Linear(obs_length, 16) >> Tanh() >> Linear(16, act_length)",
        popsize=100,
        radius=2.25,
        every=1,
        ppo={
            "n_steps": 32,
            "batch_size": 256,
            "gae_lambda": 0.8,
            "gamma": 0.98,
            "n_epochs": 20,
            "learning_rate": lambda left: 0.001 * left,
            "clip_range": lambda left: 0.2 * left,
        },
    ),
    "LunarLander": Task(
        "LunarLander-v3",
        200.0,
        ("lunarlander", "--eval-every", "5"),
        ("--env", "mpi_es/LunarLander-v3", *ESTOOL, "--eval-every", "5"),
        radius=4.5,
        rate=0.5,
        normalised=False,
        ppo={"n_steps": 1024, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4, "ent_coef": 0.01},
        steps=1_000_000,
        copies=16,
    ),
    "BipedalWalker": Task(
        "BipedalWalker-v3",
        300.0,
        ("bipedalwalker-fast", "--eval-every", "10", "--target-consecutive", "1"),
        ("--env", "mpi_es/BipedalWalker-v3", *ESTOOL, "--eval-every", "10"),
        ppo={"n_steps": 2048, "gamma": 0.999, "clip_range": 0.18},
        steps=5_000_000,
        copies=32,
        scaled="all",
    ),
    "CarRacing": Task(
        "CarRacing-v3",
        700.0,
        ("carracing-fast", "--eval-every", "5"),
        ("carracing", "--eval-every", "1"),
        popsize=64,
        radius=6.1,  # 0.1 in each of 3667 parameters
        normalised=False,
        every=1,
        updates=4,
        steps=4_000_000,
        ppo={
            "n_steps": 512,
            "batch_size": 128,
            "learning_rate": lambda left: 1e-4 * left,
            "use_sde": True,
            "sde_sample_freq": 4,
            "policy_kwargs": {
                "log_std_init": -2,
                "ortho_init": False,
                "activation_fn": gelu,
                "net_arch": {"pi": [256], "vf": [256]},
            },
        },
        scaled="rewards",
    ),
}


# The programs, each in a process of its own


def own(task: Task, options: tuple[str, ...], seed: int, directory: Path) -> list[str]:
    """Return the command of a training by us."""
    end = ["--target-fitness", str(task.score), "--num-eval-rollouts", str(EPISODES), "--max-iter", "100000"]
    kept = ["--run-dir", str(directory), "--no-tensorboard", "--console", "lines", "--seed", str(seed)]
    launcher = [str(Path(sys.prefix, "bin", "mpiexec")), "-n", "2"]
    return [*launcher, sys.executable, "-m", "mpi_es.train", *options, *end, *kept]


def show_score(play: Callable[[], float]) -> None:
    """Play held-out episodes and print their mean; the clock stands still meanwhile."""
    print(BEGUN, flush=True)
    print(f"held-out mean {play():.1f}", flush=True)


def evotorch(task: Task, seed: int) -> None:
    """Train by PGPE for ever."""
    import torch
    from evotorch.algorithms import PGPE
    from evotorch.neuroevolution import GymNE
    from evotorch.neuroevolution.net.statefulmodule import ensure_stateful

    torch.manual_seed(seed)
    env = gym.make(task.env)

    def play() -> float:
        policy = ensure_stateful(problem.to_policy(searcher.status["center"]))
        return float(np.mean([episode(policy, FIRST_SEED + k) for k in range(EPISODES)]))

    def episode(policy: Any, episode_seed: int) -> float:
        policy.reset()
        observation, _ = env.reset(seed=episode_seed)
        total, over = 0.0, False
        while not over:
            with torch.no_grad():
                action = policy(torch.as_tensor(observation, dtype=torch.float32)).numpy()
            if isinstance(env.action_space, gym.spaces.Discrete):
                action = action.argmax()
            else:
                action = np.clip(action, env.action_space.low, env.action_space.high)
            observation, reward, ended, truncated, _ = env.step(action)
            over, total = ended or truncated, total + float(reward)
        return total

    network = driver() if task.env == "CarRacing-v3" else task.network
    problem = GymNE(task.env, network, observation_normalization=task.normalised, num_actors=2)
    speed = task.radius / 15
    searcher = PGPE(
        problem,
        popsize=task.popsize,
        center_learning_rate=task.rate * speed,
        stdev_learning_rate=0.1,
        radius_init=task.radius,
        optimizer="clipup",
        optimizer_config={"max_speed": speed},
    )
    number = 0
    while True:
        searcher.step()
        number += 1
        if number % task.every == 0:
            show_score(play)


def driver() -> Any:
    """Return the attention paper's agent as EvoTorch wants a recurrent network: one observation at a time."""
    import torch
    from torch import Tensor, nn

    from mpi_es.policies.attention import AttentionAgent

    class Driver(nn.Module):
        """Steers in [-1, 1]; gas and brake are in [0, 1]."""

        def __init__(self) -> None:
            super().__init__()
            self.agent = AttentionAgent()

        def forward(self, picture: Tensor, memory: Any = None) -> tuple[Tensor, Any]:
            outputs, memory = self.agent(picture.reshape(1, 96, 96, 3), memory)
            steer, gas, brake = outputs[0]
            return torch.stack([steer, (gas + 1) / 2, (brake + 1) / 2]), memory

    return Driver()


def ppo(task: Task, seed: int) -> None:
    """Train by PPO for the zoo's number of steps, with a process for each of the slow environments."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import (
        DummyVecEnv,
        SubprocVecEnv,
        VecEnv,
        VecFrameStack,
        VecNormalize,
        sync_envs_normalization,
    )

    torch.set_num_threads(2)
    pictures = task.env == "CarRacing-v3"

    def make(count: int, first: int, *, apart: bool) -> VecEnv:
        made: VecEnv = make_vec_env(
            task.env,
            count,
            first,
            wrapper_class=small_pictures if pictures else None,
            vec_env_cls=SubprocVecEnv if apart else DummyVecEnv,
        )
        return VecFrameStack(made, 2) if pictures else made

    envs, held_out = make(task.copies, seed, apart=pictures), make(1, FIRST_SEED, apart=False)
    if task.scaled:
        envs = VecNormalize(envs, norm_obs=task.scaled == "all", gamma=task.ppo.get("gamma", 0.99))
    if task.scaled == "all":
        held_out = VecNormalize(held_out, training=False, norm_reward=False)

    class Scores(BaseCallback):
        """Plays held-out episodes before every so many updates."""

        def _on_rollout_end(self) -> None:
            if self.num_timesteps // (task.copies * model.n_steps) % task.updates:
                return
            if task.scaled == "all":
                sync_envs_normalization(envs, held_out)
            held_out.seed(FIRST_SEED)
            show_score(lambda: float(evaluate_policy(model, held_out, EPISODES)[0]))

        def _on_step(self) -> bool:
            return True

    model = PPO("CnnPolicy" if pictures else "MlpPolicy", envs, seed=seed, device="cpu", **task.ppo)
    model.learn(task.steps, callback=Scores())


def small_pictures(env: gym.Env) -> gym.Env:
    """Return CarRacing as the zoo plays it: an action for two steps, grey pictures of 64 by 64."""
    return gym.wrappers.GrayscaleObservation(
        gym.wrappers.ResizeObservation(Skipped(env), (64, 64)), keep_dim=True
    )


class Skipped(gym.Wrapper):
    """An action lasts two steps."""

    def step(self, action: Any) -> Any:
        """Return the second step, with the reward of both."""
        first = self.env.step(action)
        if first[2] or first[3]:
            return first
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + float(first[1]), *rest


# The clock


class Clock:
    """The seconds of a program; it is ended once they are over."""

    def __init__(self, limit: float, group: int) -> None:
        self._limit, self._group = limit, group
        self._spent, self.over = 0.0, False
        self.go()

    def go(self) -> None:
        """Count from now on."""
        self._begin: float | None = time.monotonic()
        self._timer = threading.Timer(self._limit - self._spent, self._end)
        self._timer.start()

    def _end(self) -> None:
        self.over = True
        os.killpg(self._group, signal.SIGTERM)

    def stop(self) -> None:
        """Count no further."""
        self._spent, self._begin = self.seconds, None
        self._timer.cancel()

    @property
    def seconds(self) -> float:
        """What has been counted."""
        return self._spent + (0 if self._begin is None else time.monotonic() - self._begin)


def watch(command: list[str], score: float, limit: float, directory: Path) -> results.Curve:
    """Run a program until a held-out mean reaches the score; return its means with their seconds.

    Args:
        directory: for what it writes to its standard error.
    """
    points: list[tuple[int, float, float]] = []
    with (
        open(directory / "errors", "w") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        ) as process,
    ):
        clock = Clock(limit, process.pid)
        assert process.stdout
        try:
            for line in process.stdout:
                if line.startswith(BEGUN):
                    clock.stop()
                elif found := HELD_OUT.match(line) or ROW.match(line):
                    points.append((len(points) + 1, clock.seconds, float(found[1].replace(",", ""))))
                    if points[-1][2] >= score:
                        break
                    if found.re is HELD_OUT:
                        clock.go()
            else:
                if process.wait() and not clock.over:
                    sys.exit(f"{' '.join(command)} failed:\n{Path(directory, 'errors').read_text()}")
        finally:
            clock.stop()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
    return np.array(points).reshape(-1, 3)


def run_all(options: argparse.Namespace) -> None:
    """Train all programs on all tasks and seeds, but those that the results know."""
    settings = [f"{task}, {program}" for task in options.tasks for program in options.only or PROGRAMS]
    for setting, seed in results.missing(options.results, settings, range(1, options.seeds + 1)):
        name, program = setting.split(", ")
        task = TASKS[name]
        with TemporaryDirectory() as directory:
            if program in ("mpi_es", "estool"):
                chosen = task.ours if program == "mpi_es" else task.estool
                command = own(task, chosen, seed, Path(directory, "run"))
            else:
                command = [sys.executable, __file__, "train", name, program, str(seed)]
            curve = watch(command, task.score, 60 * options.minutes, Path(directory))
        if not len(curve):  # it was too slow for a held-out mean
            curve = np.array([[0, 60 * options.minutes, np.nan]])
        results.add(options.results, setting, seed, curve)
        print(f"{setting}, seed {seed}: {curve[-1, 2]:.1f} after {curve[-1, 1]:.1f} s", flush=True)


# What is shown


def cell(curves: list[results.Curve], score: float) -> str:
    """Return the median seconds of the seeds and their range, or their best means where most fail."""
    seconds = sorted(results.cost_of(curve, score) for curve in curves)
    middle = float(np.median(seconds))
    if np.isinf(middle):
        best = np.nanmedian([curve[:, 2].max() for curve in curves])
        return f"{best:.0f}; {np.isfinite(seconds).sum()} of {len(seconds)} reach it"
    digits = 0 if middle >= 2 else 1
    ends = ("–" if np.isinf(value) else f"{value:.{digits}f}" for value in (seconds[0], seconds[-1]))
    return f"{middle:.{digits}f} s ({' to '.join(ends)})"


def by_program(known: results.Curves, name: str) -> dict[str, list[results.Curve]]:
    """Return the curves of a task, of those programs that have any."""
    found = results.by_setting(known, [f"{name}, {program}" for program in PROGRAMS])
    return {setting.split(", ")[1]: curves for setting, curves in found.items()}


def show(options: argparse.Namespace) -> None:
    """Print a row for each task, and draw the seeds."""
    known = results.done(options.results)
    print(f"| | {' | '.join(PROGRAMS)} |\n{'| --- ' * (len(PROGRAMS) + 1)}|")
    for name, task in TASKS.items():
        found = by_program(known, name)
        cells = [cell(found[program], task.score) if program in found else "" for program in PROGRAMS]
        print(f"| {name}, {task.score:.0f} | {' | '.join(cells)} |")
    draw(known).savefig(options.results.with_suffix(".png"), dpi=120)


def draw(known: results.Curves) -> Figure:
    """Return the held-out means over seconds, a panel for each task that was run, a line for each run."""
    tasks = {name: found for name in TASKS if (found := by_program(known, name))}
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        rows = -(-len(tasks) // 2)
        figure = Figure((10, 2.75 * rows), layout="constrained")
        panels = [*figure.subplots(rows, 2, squeeze=False).flat]
        for panel in panels[len(tasks) :]:
            panel.set_visible(False)
        for panel, (name, found) in zip(panels, tasks.items(), strict=False):
            score = TASKS[name].score
            panel.axhline(score, color="#bbbbbb", linewidth=0.8)
            for program, curves in found.items():
                for number, curve in enumerate(curves):
                    label = program if number == 0 else None
                    panel.plot(curve[:, 1], curve[:, 2], color=COLOURS[program], linewidth=1, label=label)
                    panel.plot(*curve[-1, 1:], ".", color=COLOURS[program])
            every = np.concatenate([curve[:, 2] for curves in found.values() for curve in curves])
            bottom = np.nanpercentile(every, 2)  # the first means of some are far below all others
            panel.set(xscale="log", title=f"{name}, {score:.0f}", xlabel="seconds of two cores")
            panel.set_ylim(bottom - 0.05 * (score - bottom))
            panel.set_ylabel(f"mean of {EPISODES} held-out episodes")
            panel.legend(frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("tasks", nargs="*", default=list(TASKS), help=", ".join(TASKS))
    running.add_argument("--seeds", type=int, default=3)
    running.add_argument("--minutes", type=float, default=10)
    running.add_argument("--only", nargs="+", choices=PROGRAMS)
    running.set_defaults(do=run_all)
    showing = commands.add_parser("show")
    showing.set_defaults(do=show)
    for command in (running, showing):
        command.add_argument("--results", type=Path, default=RESULTS)
    training = commands.add_parser("train", help="one program, as run starts it")
    training.add_argument("task", choices=TASKS)
    training.add_argument("program", choices=("EvoTorch", "PPO"))
    training.add_argument("seed", type=int)
    training.set_defaults(do=train_one)
    options = parser.parse_args()
    options.do(options)


def train_one(options: argparse.Namespace) -> None:
    """Train by another program."""
    {"EvoTorch": evotorch, "PPO": ppo}[options.program](TASKS[options.task], options.seed)


if __name__ == "__main__":
    main()

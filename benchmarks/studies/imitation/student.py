"""Teach an attention agent to drive as the teacher does, from the pictures that the agent sees.

mpiexec -n 2 python benchmarks/studies/imitation/student.py TEACHER ATTENTION [--run-dir runs/student]
        [--rounds 120] [--exact 20] [--drives 48] [--top-k 20] [--patch-order column] [--hidden 64] [--seed 1]

TEACHER is teacher.npy of teacher.py. ATTENTION is a run or a file of an attention agent, whose attention
stays as it is. DAgger (arXiv:1011.0686): in each round the agent drives, with noise, and the teacher says
what it would do at each step; the controller learns this for all drives so far by gradients through whole
drives. In the last rounds the agent sees gymnasium's own picture. The agent that is kept, agent.npz in the
directory of the run, is a running mean of the weights. The result depends on the options, not on the number
of ranks. The same command goes on where it was interrupted.
"""

import argparse
import copy
import io
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from road import OUTPUTS, PARAMETERS, SENSES, STEPS, Network, act, answer, compiled, network, sense
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from mpi_es.agents import load
from mpi_es.agents.agent import Agent
from mpi_es.config.presets import preset
from mpi_es.config.run import Config
from mpi_es.errors import expected, one_line
from mpi_es.evaluation.build import make_policy
from mpi_es.evaluation.compiled import episode
from mpi_es.evaluation.compiled.episode import Driver
from mpi_es.jit.rows import row
from mpi_es.parallel.collective_errors import on_root
from mpi_es.parallel.collectives import Comm, bcast_object, gather_objects
from mpi_es.parallel.entry_point import launch
from mpi_es.policies.attention_compiled import kernel
from mpi_es.policies.attention_compiled.kernel import Weights
from mpi_es.run_file.atomic_write import write_whole
from mpi_es.worlds.car_racing import simulation
from mpi_es.worlds.car_racing.picture.sizes import SIDE
from mpi_es.worlds.car_racing.simulation import Simulation
from mpi_es.worlds.car_racing.world import CarRacing

TRACKS = (1 << 20, 1 << 40)  # seeds, so many that hardly any is one of an evaluation
NOISE = 0.3  # the highest standard deviation of a drive's noise
KEPT = 0.9  # of the noise from step to step, in every other round
RATES = (3e-3, 3e-4)  # Adam's, first and last
PASSES, BATCH, MOST = 3, 24, 700  # over drives in a round, drives in a batch, drives in a pass
MEMORY = 0.998  # of the running mean, about five rounds
STUDENT, DRIVES = "student.pt", "drives-{}.npz"  # files of a run
ALMOST_ONE = 0.9999  # an output in (-1, 1) nearest to its end, so that the one before its tanh is finite


class Drives(NamedTuple):
    """What was seen and what the teacher said; a row for each drive."""

    centres: NDArray[np.float32]  # (drives, STEPS, 2 * top_k)
    actions: NDArray[np.float32]  # (drives, STEPS, OUTPUTS) the teacher's outputs in [-1, 1]
    length: NDArray[np.int64]  # (drives,)
    score: NDArray[np.float64]  # (drives,)

    def of_rounds(self, rounds: range, drives: int) -> "Drives":
        """Return a view of those of some rounds, of which each has so many drives."""
        some = slice(rounds.start * drives, rounds.stop * drives)
        return Drives(self.centres[some], self.actions[some], self.length[some], self.score[some])

    def write(self, rows: list[tuple[Any, ...]]) -> None:
        """Write drives, from the first row on."""
        for i, one in enumerate(rows):
            self.centres[i], self.actions[i], self.length[i], self.score[i] = one

    def save(self, path: Path) -> None:
        """Write them to a file."""
        file = io.BytesIO()
        np.savez(file, **self._asdict())
        write_whole(path, file.getvalue(), "--run-dir")

    def load(self, path: Path) -> None:
        """Read them from a file."""
        with np.load(path) as saved:
            for name, part in self._asdict().items():
                part[:] = saved[name]


def allocate(drives: int, top_k: int) -> Drives:
    """Return room for drives."""
    return Drives(
        np.zeros((drives, STEPS, 2 * top_k), np.float32),
        np.zeros((drives, STEPS, OUTPUTS), np.float32),
        np.zeros(drives, np.int64),
        np.zeros(drives),
    )


@compiled
def drive(
    car: Simulation,
    agent: Driver,
    weights: Weights,
    teacher: Network,
    taught: bool,
    seed: int,
    noise: NDArray[np.float32],
    centres: NDArray[np.float32],
    actions: NDArray[np.float32],
) -> tuple[int, float]:
    """Write what the agent saw and what the teacher would have done; return the length and the return.

    Args:
        taught: the agent drives, not the teacher.
    """
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    simulation.begin(car, seed)
    agent.memory[:] = agent.first_memory
    senses, outputs = np.zeros(SENSES, np.float32), np.zeros(OUTPUTS, np.float32)
    first, second = np.zeros_like(teacher.first_bias), np.zeros_like(teacher.second_bias)
    action, total, over, step = np.zeros(OUTPUTS), 0.0, False, 0
    while not over and step < STEPS:
        simulation.draw(car, picture)
        sense(car.world, car.physics, action, senses)
        answer(teacher, senses, first, second, outputs)
        actions[step] = np.tanh(outputs)
        kernel.act(weights, picture, agent.memory, agent.scratch, agent.outputs)
        centres[step] = agent.scratch.activations.features
        if taught:
            outputs[:] = np.arctanh(np.minimum(np.maximum(agent.outputs, -ALMOST_ONE), ALMOST_ONE))
        act(outputs + noise[step], action)
        reward, over = simulation.move(car, action[0], action[1], action[2])
        total += reward
        step += 1
    return step, total


class Cars:
    """Drives of this rank, and of all ranks together, with a close or an exact picture."""

    def __init__(self, comm: Comm, config: Config, teacher: Network, picture: str) -> None:
        self.comm, self.teacher = comm, teacher
        self.policy: Any = make_policy(config)
        world = CarRacing(picture=picture)
        self.car = world.allocate()
        self.agent = episode.allocate(self.policy, world.observation_space, world.action_space)

    def drive(self, parameters: NDArray[np.float32], seeds: list[int], round_: int) -> list[tuple[Any, ...]]:
        """Return the drives of all ranks, in the order of the seeds, on rank 0. Collective."""
        size = self.comm.size
        weights = row(self.policy.unpack(parameters[None]), 0)
        own = [self._drive(weights, seed, round_) for seed in seeds[self.comm.rank :: size]]
        shares = gather_objects(self.comm, own)
        return [shares[i % size][i // size] for i in range(len(seeds))] if shares else []

    def _drive(self, weights: Weights, seed: int, round_: int) -> tuple[Any, ...]:
        centres = np.zeros((STEPS, 2 * self.policy.options.top_k), np.float32)
        actions = np.zeros((STEPS, OUTPUTS), np.float32)
        taught, noise = round_ > 0, noise_of(seed, round_ % 2 == 1)
        length, score = drive(
            self.car, self.agent, weights, self.teacher, taught, seed, noise, centres, actions
        )
        return centres, actions, length, score


def noise_of(seed: int, lasting: bool) -> NDArray[np.float32]:
    """Return a drive's noise (STEPS, OUTPUTS) of a strength of its own, alike from step to step or not."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0, NOISE, OUTPUTS) * rng.standard_normal((STEPS, OUTPUTS))
    if lasting:
        for step in range(1, STEPS):
            noise[step] = KEPT * noise[step - 1] + (1 - KEPT**2) ** 0.5 * noise[step]
    return noise.astype(np.float32)


class Student:
    """The agent's controller, which learns, and the running mean of its weights."""

    def __init__(self, attention: NDArray[np.float32], config: Config, seed: int) -> None:
        torch.manual_seed(seed)
        self.policy = make_policy(config)
        module = self.policy.module()
        vector_to_parameters(torch.from_numpy(self.policy.initial(seed)), module.parameters())
        vector_to_parameters(torch.tensor(attention), module.attention.parameters())
        self.module, self.controller = module, module.controller
        self.mean = AveragedModel(self.controller, multi_avg_fn=get_ema_multi_avg_fn(MEMORY))
        self.optimizer = torch.optim.Adam(self.controller.parameters(), lr=RATES[0])

    def save(self, path: Path, rounds: int, told: str) -> None:
        """Write to a file what it learns with, how many rounds it had, and what it was told."""
        file = io.BytesIO()
        torch.save([told, rounds, *(part.state_dict() for part in self._parts())], file)
        write_whole(path, file.getvalue(), "--run-dir")

    def load(self, path: Path, told: str) -> int:
        """Go on with what a file holds; return how many rounds it had."""
        before, rounds, *states = torch.load(path)
        if before != told:
            raise expected("--run-dir", f"a student of {before}", told)
        for part, state in zip(self._parts(), states, strict=True):
            part.load_state_dict(state)
        return int(rounds)

    def _parts(self) -> tuple[Any, ...]:
        return self.controller, self.mean, self.optimizer

    def learn(self, drives: Drives, progress: float, rng: np.random.Generator) -> float:
        """Learn from drives; return the mean squared error in the last pass."""
        for group in self.optimizer.param_groups:
            group["lr"] = RATES[0] + progress * (RATES[1] - RATES[0])
        for _ in range(PASSES):
            chosen = rng.permutation(len(drives.length))[:MOST]
            errors = [self._step(drives, chosen[i : i + BATCH]) for i in range(0, len(chosen), BATCH)]
        return float(np.mean(errors))

    def _step(self, drives: Drives, rows: NDArray[np.int64]) -> float:
        centres, actions = (torch.from_numpy(part[rows]) for part in drives[:2])
        driven = torch.arange(STEPS)[None] < torch.from_numpy(drives.length[rows])[:, None]
        error = ((self._answers(centres) - actions) ** 2)[driven].mean()
        self.optimizer.zero_grad()
        error.backward()
        torch.nn.utils.clip_grad_norm_(self.controller.parameters(), 1.0)
        self.optimizer.step()
        self.mean.update_parameters(self.controller)
        return error.item()

    def _answers(self, centres: Tensor) -> Tensor:
        """Return the outputs (drives, STEPS, OUTPUTS)."""
        hidden, _ = self.controller.cell(2 * centres.transpose(0, 1) - 1)
        return torch.tanh(self.controller.fc(hidden)).transpose(0, 1)

    def parameters(self) -> NDArray[np.float32]:
        """Return the agent's, with the mean controller, which reads centres in [0, 1] instead of [-1, 1]."""
        module = copy.deepcopy(self.module)
        module.controller.load_state_dict(self.mean.module.state_dict())
        cell = module.controller.cell
        with torch.no_grad():
            cell.bias_ih_l0 -= cell.weight_ih_l0.sum(1)
            cell.weight_ih_l0 *= 2
        return parameters_to_vector(module.parameters()).detach().numpy().copy()


def main(comm: Comm, arguments: list[str]) -> int:
    """Teach, and write the agent on rank 0. Collective."""
    options = on_root(comm, lambda: read_options(arguments))
    config = preset(
        "carracing-fast",
        top_k=options.top_k,
        hidden=(options.hidden,),
        patch_order=options.patch_order,
        run_dir="",
    )
    teacher = network(on_root(comm, lambda: parameters_of(options.teacher)))
    _, attention = load.load(options.attention, preset("carracing-fast"), "ATTENTION").part("attention")
    student = Student(attention, config, options.seed)
    drives = allocate(options.rounds * options.drives if comm.rank == 0 else 0, options.top_k)
    done = on_root(comm, lambda: resume(student, drives, options))
    cars = {picture: Cars(comm, config, teacher, picture) for picture in ("close", "exact")}
    begin = time.monotonic()
    for round_ in range(done, options.rounds):
        seeds = np.random.default_rng((options.seed, round_)).integers(*TRACKS, options.drives).tolist()
        parameters = bcast_object(comm, student.parameters())
        exact = round_ >= options.rounds - options.exact
        new = cars["exact" if exact else "close"].drive(parameters, seeds, round_)
        if comm.rank == 0:
            score, error = teach(student, drives, new, round_, options)
            seconds = time.monotonic() - begin
            print(f"{round_ + 1:3d}  score {score:4.0f}  error {error:.4f}  {seconds:4.0f} s", flush=True)
    if comm.rank == 0:
        agent = Agent(config, student.policy, student.parameters(), np.zeros((2, 0)))
        agent.write_weights(options.run_dir / "agent.npz", "torch", "--run-dir")
        for path in options.run_dir.glob(DRIVES.format("*")):  # a gigabyte, needed only to go on
            path.unlink()
    return 0


def parameters_of(teacher: str) -> NDArray[np.float64]:
    """Return the parameters in a file of teacher.py."""
    try:
        parameters: NDArray[np.float64] = np.load(teacher)
    except (OSError, ValueError) as error:
        raise expected("TEACHER", "teacher.npy of teacher.py", teacher, one_line(error)) from error
    if parameters.shape != (PARAMETERS,):
        raise expected("TEACHER", f"the {PARAMETERS} parameters of teacher.py", parameters.shape)
    return parameters


def resume(student: Student, drives: Drives, options: argparse.Namespace) -> int:
    """Return how many rounds the directory of the run holds, and read their drives unless these were all."""
    options.run_dir.mkdir(parents=True, exist_ok=True)
    saved = options.run_dir / STUDENT
    done = student.load(saved, told(options)) if saved.exists() else 0
    for round_ in range(done if done < options.rounds else 0):
        mine = drives.of_rounds(range(round_, round_ + 1), options.drives)
        mine.load(options.run_dir / DRIVES.format(round_))
    return done


def teach(
    student: Student, drives: Drives, new: list[tuple[Any, ...]], round_: int, options: argparse.Namespace
) -> tuple[float, float]:
    """Learn from all drives with a round's new ones; return the score of these, and the error."""
    mine = drives.of_rounds(range(round_, round_ + 1), options.drives)
    mine.write(new)
    mine.save(options.run_dir / DRIVES.format(round_))
    rng = np.random.default_rng((options.seed, round_, 1))
    so_far = drives.of_rounds(range(round_ + 1), options.drives)
    error = student.learn(so_far, round_ / options.rounds, rng)
    student.save(options.run_dir / STUDENT, round_ + 1, told(options))
    return float(mine.score.mean()), error


def told(options: argparse.Namespace) -> str:
    """Return the options of which the result is that."""
    return " ".join(f"{name}={value}" for name, value in vars(options).items() if name != "run_dir")


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("teacher")
    parser.add_argument("attention")
    parser.add_argument("--run-dir", type=Path, default="runs/student")
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--exact", type=int, default=20)
    parser.add_argument("--drives", type=int, default=48)
    parser.add_argument("--top-k", type=int, default=20)
    parser.add_argument("--patch-order", choices=("importance", "column"), default="column")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    launch(main)

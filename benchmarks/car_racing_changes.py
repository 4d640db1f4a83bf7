"""A change of the flagship's code: parts of a step, of two trees by turns.

python benchmarks/car_racing_changes.py [OLD NEW] [--parts softmax,close] [--weights FILE] [--repeats 15]

OLD and NEW are directories that hold `mpi_es`. Each is run by a process of its own, and the two take turns
with every part. Without directories this tree is compared with itself, which shows the noise.
Microseconds are of CPU time: of a picture for parts of the agent, of a step for the others.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from car_racing import build, config, drive_ours, rollout

from mpi_es import envs
from mpi_es.envs.car_racing import simulation
from mpi_es.envs.car_racing.picture import panel
from mpi_es.envs.car_racing.picture.close import compose
from mpi_es.jit.decorator import compiled
from mpi_es.policies.attention_compiled import kernel, patches, softmax

ROOT = Path(__file__).resolve().parents[1]
STEPS = 500
FIRST = 60  # steps; in the first second the whole track is in view
PARTS = ("softmax", "patches", "attention", "close", "panel", "episode-close", "episode-exact")


def recorded(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the actions (FIRST + STEPS, 3) of an agent, and the pictures that it saw."""
    env, policy = envs.make("mpi_es/CarRacing-v3", ("picture=close",))[0], rollout("close").policy
    unpacked, memory, actions, pictures = policy.unpack(weights[None]), policy.initial_memory(1), [], []
    observation, _ = env.reset(seed=1)
    for _ in range(FIRST + STEPS):
        pictures.append(observation.copy())
        action, memory = policy.act(unpacked, observation[None], memory)
        actions.append(action[0])
        observation = env.step(action[0])[0]
    return np.array(actions, np.float64), np.stack(pictures)


@compiled()
def find(pictures: Any, scratch: Any) -> None:
    """Find the different patches of pictures."""
    for i in range(len(pictures)):
        patches.find_kinds(pictures[i], scratch.patches)


@compiled()
def attend(pictures: Any, agent: Any, scratch: Any) -> None:
    """Choose the patches of pictures."""
    for i in range(len(pictures)):
        kernel.attend(agent, pictures[i], scratch)


@compiled()
def share(times: int, kinds: int, scratch: Any) -> None:
    """Compute one picture's softmax again and again."""
    for _ in range(times):
        softmax.sum_columns(kinds, scratch.patches.repeats, scratch.attention)


@compiled()
def drive(sim: Any, actions: Any, with_close: bool, with_panel: bool) -> None:
    """Drive recorded actions, with parts of the picture from step FIRST on."""
    simulation.begin(sim, 1)
    for i in range(len(actions)):
        simulation.move(sim, actions[i, 0], actions[i, 1], actions[i, 2])
        if with_close and i >= FIRST:
            compose.draw(sim.world, sim.close, sim.picture)
        if with_panel and i >= FIRST:
            panel.draw_panel(sim.world, sim.panel, sim.picture)


def loops(weights: np.ndarray, actions: np.ndarray, pictures: np.ndarray) -> dict[str, Any]:
    """Return functions that run a part STEPS times and return its CPU seconds."""
    policy, sim = rollout("close").policy, simulation.allocate()
    agent, scratch = kernel.network(policy.unpack(weights[None]), 0), policy.new_scratch()

    def softmax_alone() -> float:
        attend(pictures[-1:], agent, scratch)
        return clocked(share, STEPS, patches.find_kinds(pictures[-1], scratch.patches), scratch)

    def picture(with_close: bool, with_panel: bool) -> float:
        with_it = clocked(drive, sim, actions, with_close, with_panel)
        return with_it - clocked(drive, sim, actions, False, False)

    return {
        "softmax": softmax_alone,
        "patches": lambda: clocked(find, pictures[FIRST:], scratch),
        "attention": lambda: clocked(attend, pictures[FIRST:], agent, scratch),
        "close": lambda: picture(True, False),
        "panel": lambda: picture(False, True),
        "episode-close": lambda: process_clocked(drive_ours, "close", weights, [1], STEPS, 0),
        "episode-exact": lambda: process_clocked(drive_ours, "exact", weights, [1], STEPS, 0),
    }


def clocked(function: Any, *arguments: Any) -> float:
    """Return the thread's CPU seconds of a call."""
    begin = time.thread_time()
    function(*arguments)
    return time.thread_time() - begin


def process_clocked(function: Any, *arguments: Any) -> float:
    """Return the process's CPU seconds of a call, whose threads are not this one."""
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def work(recording: str) -> None:
    """Answer each name of a part on standard input with its microseconds."""
    with np.load(recording) as file:
        parts = loops(file["weights"], file["actions"], file["pictures"])
    for line in sys.stdin:
        print(1e6 * parts[line.strip()]() / STEPS, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", nargs="*", type=Path, metavar="OLD NEW", default=[ROOT, ROOT])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--weights", default="")
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    if len(options.trees) != 2:
        parser.error("two directories, or none")
    if options.weights:
        weights = np.load(options.weights)["params"].astype(np.float32)
    else:
        weights = build.make_policy(config("close")).initial(1)
    with tempfile.TemporaryDirectory() as directory:
        recording = str(Path(directory, "drive.npz"))
        actions, pictures = recorded(weights)
        np.savez(recording, weights=weights, actions=actions, pictures=pictures)
        workers = [started(tree.resolve(), recording) for tree in options.trees]
        for part in options.parts.split(","):
            for worker in workers:
                asked(worker, part)  # the first compiles
            found = np.array([[asked(worker, part) for worker in workers] for _ in range(options.repeats)])
            old, new = np.median(found, axis=0)
            low, ratio, high = np.quantile(found[:, 0] / found[:, 1], (0.25, 0.5, 0.75))
            print(f"{part:14s} {old:8.1f} {new:8.1f}  {ratio:.2f} ({low:.2f} to {high:.2f})", flush=True)
        for worker in workers:
            worker.communicate()


def started(tree: Path, recording: str) -> Any:
    """Return a process that runs the code of a tree."""
    environ = os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "worker", recording]
    return subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def asked(worker: Any, part: str) -> float:
    """Return the microseconds of a part."""
    worker.stdin.write(part + "\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        work(sys.argv[2])
    else:
        main()

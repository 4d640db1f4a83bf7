"""How attention agents drive.

python benchmarks/studies/driving.py RUN_OR_FILE … [--tracks 40]

All drive the same tracks of our own simulator. Means: the return; the share of tracks on which the car is
home within the environment's steps; the share of tiles before the farthest that it reached which it went
past; the share of its wheels that are beside the road; its speed in metres a second; gas and brake.
"""

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es import envs
from mpi_es.agents import load
from mpi_es.config.presets import preset
from mpi_es.errors import UserError, expected
from mpi_es.evaluation.build import make_policy
from mpi_es.policies.base import Policy, Weights

FIRST_TRACK = 900_000
TITLES = "agent | return | home | tiles passed by | wheels beside | speed | gas | brake"


def drive(policy: Policy, weights: Weights, racing: Any, limit: int, repeat: int, seed: int) -> list[float]:
    """Drive a track, so many steps at most, `repeat` with each action; return the numbers of TITLES."""
    world, wheels = racing.simulation.world, racing.simulation.physics.on_road
    observation, _ = racing.reset(seed=seed)
    memory, over, total = policy.initial_memory(1), False, 0.0
    rows: list[NDArray[np.float64]] = []
    while not over and len(rows) < limit:
        if len(rows) % repeat == 0:
            actions, memory = policy.act(weights, observation[None], memory)
        _, gas, brake = np.clip(actions[0], (-1, 0, 0), 1)
        observation, reward, over, _, info = racing.step(actions[0])
        total += float(reward)
        rows.append(np.array([1 - wheels.mean(), np.hypot(*world.velocities[0, :2]), gas, brake]))
    visited = world.visited[: world.tile_count]
    reached = np.flatnonzero(visited)[-1] + 1
    home = bool(info.get("lap_finished", False))
    return [total, home, 1 - visited.sum() / reached, *np.mean(rows, axis=0)]


def main() -> None:
    """Drive and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--tracks", type=int, default=40)
    options = parser.parse_args()
    if options.tracks < 1:
        parser.error("--tracks: expected 1 or more")
    racing, limit = envs.make(envs.CAR_RACING["fast"])
    print(TITLES)
    for name in options.agents:
        try:
            agent = load.load(name, preset("carracing-fast"), "agents")
            if agent.config.policy.name != "attention":
                raise expected("agents", "an attention agent that drives", agent.config.policy.name)
        except UserError as error:
            sys.exit(f"error: {error}")
        policy, repeat = make_policy(agent.config), agent.config.action_repeat
        weights = policy.unpack(agent.parameters[None])
        tracks = range(FIRST_TRACK, FIRST_TRACK + options.tracks)
        drives = [drive(policy, weights, racing, limit, repeat, track) for track in tracks]
        score, home, past, beside, speed, gas, brake = np.mean(drives, axis=0)
        print(
            f"{name} | {score:.0f} | {home:.0%} | {past:.1%} | {beside:.1%} | {speed:.1f} | {gas:.2f} | "
            f"{brake:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

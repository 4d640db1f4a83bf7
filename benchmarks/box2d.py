"""LunarLander and BipedalWalker: microseconds of a step of gymnasium's environments and of our worlds.

python benchmarks/box2d.py [--episodes 32] [--steps 400] [--repeats 5]

gymnasium plays episodes (the lander by its heuristic, the walker by our trained agent) whose actions are
recorded; then all repeat the same actions: gymnasium, our world as an environment, our world in compiled
code, and many states of it together. Seconds are the process's CPU time; medians of the repeats.
"""

import argparse
import time
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.box2d.lunar_lander import heuristic

from mpi_es.agents.load import load
from mpi_es.config.run import Config
from mpi_es.envs.fresh_world import FreshWorld
from mpi_es.jit.decorator import compiled

AGENT = Path(__file__).parents[1] / "docs" / "bipedalwalker" / "run.h5"
STATES = 64  # that step together


def walker() -> Any:
    """Return the trained walker: from an observation to an action."""
    agent = load(str(AGENT), Config(), "RUN")
    weights, biases = np.split(agent.parameters.astype(np.float32), [24 * 4])
    mean, scale = agent.normalisation
    return lambda env, o: np.tanh(weights.reshape(4, 24) @ ((o - mean) * scale) + biases).astype(np.float32)


def record(env: Any, act: Any, episodes: int, steps: int) -> np.ndarray:
    """Return the actions (episodes, steps, …) of episodes with seeds from 0 on; those that end are padded."""
    recorded = []
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        actions: list[Any] = []
        over = False
        while not over and len(actions) < steps:
            actions.append(act(env, observation))
            observation, _, over, _, _ = env.step(actions[-1])
        recorded.append(actions + actions[-1:] * (steps - len(actions)))
    return np.array(recorded)


def repeat(env: Any, actions: np.ndarray) -> int:
    """Play the recorded episodes in an environment; return the number of steps."""
    count = 0
    for seed, episode in enumerate(actions):
        env.reset(seed=seed)
        for action in episode:
            _, _, over, _, _ = env.step(action)
            count += 1
            if over:
                break
    return count


def alone(reset: Any, step: Any, observe: Any) -> Any:
    """Return a compiled function that plays the recorded episodes one after the other."""

    @compiled()
    def play(state: Any, actions: Any, out: Any) -> int:
        count = 0
        for seed in range(len(actions)):
            reset(state, seed)
            for i in range(actions.shape[1]):
                _, over = step(state, actions[seed, i])
                observe(state, out)
                count += 1
                if over:
                    break
        return count

    return play


def together(reset: Any, step_lanes: Any, observe: Any) -> Any:
    """Return a compiled function that plays the recorded episodes in many states at once."""

    @compiled()
    def play(
        states: Any, actions: Any, now: Any, places: Any, rewards: Any, overs: Any, scratch: Any, out: Any
    ) -> int:
        episodes, steps = actions.shape[:2]
        for k in range(len(states)):
            places[k, 0], places[k, 1] = k % episodes, 0
            reset(states[k], k % episodes)
        for _ in range(steps):
            for k in range(len(states)):
                now[k] = actions[places[k, 0], places[k, 1]]
            step_lanes(states, now, rewards, overs, scratch)
            for k in range(len(states)):
                observe(states[k], out)
                places[k, 1] += 1
                if overs[k] or places[k, 1] == steps:
                    places[k, 0], places[k, 1] = (places[k, 0] + 1) % episodes, 0
                    reset(states[k], places[k, 0])
        return steps * len(states)

    return play


def measure(name: str, theirs: Any, act: Any, options: dict[str, Any], args: argparse.Namespace) -> str:
    """Return a row of the table."""
    ours = gym.make(f"mpi_es/{theirs.spec.id}", **options).unwrapped
    world, actions = ours.world, record(theirs, act, args.episodes, args.steps)
    play, play_together = (
        alone(world.reset, world.step, world.observe),
        together(world.reset, world.step_lanes, world.observe),
    )
    state, states, out = (
        world.fresh.copy()[0],
        np.repeat(world.fresh, STATES),
        np.zeros_like(theirs.reset()[0]),
    )
    space = [
        actions[:STATES, 0].repeat(STATES, 0)[:STATES],
        np.zeros((STATES, 2), np.int64),
        np.zeros(STATES),
    ]
    space += [np.zeros(STATES, bool), world.scratch()[0], out]
    ways = [
        lambda: repeat(theirs, actions),
        lambda: repeat(ours, actions),
        lambda: play(state, actions, out),
        lambda: play_together(states, actions, *space),
    ]
    for way in ways[1:]:
        way()
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(args.repeats):
        for way, seconds in zip(ways, times, strict=True):
            begin = time.process_time()
            count = way()
            seconds.append((time.process_time() - begin) / count * 1e6)
    cells = [f"{median(seconds):.2f}" for seconds in times]
    ratio = median(first / last for first, last in zip(times[0], times[-1], strict=True))
    return f"| {name} | {' | '.join(cells)} | {ratio:.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=32)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(f"| | gymnasium | as an environment | compiled | {STATES} together | gymnasium / together |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    lander = gym.make("LunarLander-v3")
    print(measure("LunarLander", lander, lambda env, o: heuristic(env.unwrapped, o), {}, args), flush=True)
    for name, hardcore in (("BipedalWalker", False), ("hardcore", True)):
        env = FreshWorld(gym.make("BipedalWalker-v3", hardcore=hardcore))
        print(measure(name, env, walker(), {"hardcore": hardcore}, args), flush=True)


if __name__ == "__main__":
    main()

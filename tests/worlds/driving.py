"""Two environments driven by the same actions."""

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium as gym
import numpy as np

Drive = Callable[[Any], Any]  # from an observation to an action


def differences(
    ours: gym.Env, theirs: gym.Env, seeds: Iterable[int], drive: Callable[[int], Drive]
) -> list[str]:
    """Return what differs in the episodes of these seeds.

    Args:
        drive: returns the driver of a seed's episode.
    """
    found = []
    for seed in seeds:
        driver = drive(seed)
        observation, own = theirs.reset(seed=seed)[0], ours.reset(seed=seed)[0]
        if not np.array_equal(own, observation):
            found.append(f"seed {seed}, first observation: {own} instead of {observation}")
            continue
        step, ended = 0, False
        while not ended:
            action = driver(observation)
            observation, reward, terminated, truncated, _ = theirs.step(action)
            own, own_reward, own_over, _, _ = ours.step(action)
            step, ended = step + 1, terminated or truncated
            if (own_reward, own_over) != (reward, terminated) or not np.array_equal(own, observation):
                found.append(f"seed {seed}, step {step}: {own_reward}, {own_over}, {own} instead of ")
                found[-1] += f"{reward}, {terminated}, {observation}"
                break
    return found


def random_actions(env: gym.Env) -> Callable[[int], Drive]:
    """Return a driver that draws actions, of a Box often beyond its bounds."""

    def drive(seed: int) -> Drive:
        rng, space = np.random.default_rng(seed), env.action_space
        if isinstance(space, gym.spaces.Discrete):
            return lambda observation: int(rng.integers(space.n))
        return lambda observation: rng.uniform(1.2 * space.low, 1.2 * space.high).astype(np.float32)

    return drive

"""Two environments driven by the same actions."""

from collections.abc import Callable, Iterable
from itertools import chain, count, repeat
from typing import Any

import gymnasium as gym
import numpy as np

Drive = Callable[[Any], Any]  # from an observation to an action


def differences(
    ours: gym.Env, theirs: gym.Env, seeds: Iterable[int | None], drive: Callable[[int], Drive]
) -> list[str]:
    """Return what differs in the episodes of these seeds; None goes on with the random numbers before.

    Args:
        drive: returns the driver of an episode, by its number.
    """
    found = []
    for episode, seed in enumerate(seeds):
        driver = drive(episode)
        observation, own = theirs.reset(seed=seed)[0], ours.reset(seed=seed)[0]
        if not np.array_equal(own, observation):
            found.append(f"episode {episode}, first observation: {own} instead of {observation}")
            continue
        step, ended = 0, False
        while not ended:
            action = driver(observation)
            observation, reward, terminated, truncated, _ = theirs.step(action)
            own, own_reward, own_over, _, _ = ours.step(action)
            step, ended = step + 1, terminated or truncated
            if (own_reward, own_over) != (reward, terminated) or not np.array_equal(own, observation):
                found.append(f"episode {episode}, step {step}: {own_reward}, {own_over}, {own} instead of ")
                found[-1] += f"{reward}, {terminated}, {observation}"
                break
    return found


def random_actions(env: gym.Env, held: int = 1) -> Callable[[int], Drive]:
    """Return a driver that draws actions, of a Box often beyond its bounds, each for up to `held` steps."""

    def drive(episode: int) -> Drive:
        rng, space = np.random.default_rng(episode), env.action_space

        def draw() -> Any:
            if isinstance(space, gym.spaces.Discrete):
                return int(rng.integers(space.n))
            return rng.uniform(1.2 * space.low, 1.2 * space.high).astype(np.float32)

        actions = chain.from_iterable(repeat(draw(), int(rng.integers(1, held + 1))) for _ in count())
        return lambda observation: next(actions)

    return drive

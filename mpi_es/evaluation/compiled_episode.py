"""Whole episodes of any world and any kernel in one compiled function, without the interpreter.

They are the episodes of rollout.py, to the bit.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.evaluation.normalisation import CLIP
from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import row
from mpi_es.policies.kernels.choices import scale_for, within

_CLIP = np.float32(CLIP)


class Rules(NamedTuple):
    """What all episodes of a call have in common; 0 is no such rule."""

    limit: int  # steps of the world
    repeat: int  # of these, how many an action lasts
    early_stop: int  # actions in a row of negative reward that an episode survives
    clip: tuple[float, float]  # lower and upper bound of an action's reward
    collect: bool  # sum up the observations
    normalisation: Vector  # (2, size) of the observations, or (0, 0)
    action_noise: float


class Driver(NamedTuple):
    """What a thread works with, but for the world's state."""

    observation: NDArray[Any]  # as the world has it
    features: NDArray[np.float32]  # (size,) as a network of vectors reads it
    first_memory: NDArray[np.float32]  # (m,) at an episode's start
    memory: NDArray[np.float32]  # (m,)
    scratch: Any
    outputs: NDArray[np.float32]  # (n,)
    action: NDArray[np.float32]  # (n,) of a Box
    scale: NDArray[np.float32]  # see choices.scale_for
    abandon: NDArray[np.uint8]  # (1,) another thread sets it to end the episodes


class Batch(NamedTuple):
    """Episodes that are played one after the other, and what they came to."""

    seeds: NDArray[np.int64]  # (k,)
    network: NDArray[np.int64]  # (k,) the row of the weights
    noise: Vector  # (k, actions, n) standard normal numbers, if actions are disturbed
    running: NDArray[np.int64]  # (1,) the episode that was begun last
    totals: Vector  # (k,)
    lengths: NDArray[np.int64]  # (k,)
    acts: NDArray[np.int64]  # (k,) how many observations were collected
    firsts: Vector  # (k, size) observation of each episode
    sums: Vector  # (k, 2, size) of differences to it, and of their squares


def allocate(policy: Any, observations: Any, actions: Any) -> Driver:
    """Return a driver for a policy and the spaces of a world."""
    memory = policy.initial_memory(1)
    first = np.zeros(0, np.float32) if memory is None else memory[0]
    scale = scale_for(actions)
    return Driver(
        observation=np.zeros(observations.shape, observations.dtype),
        features=np.zeros(vector_size(observations), np.float32),
        first_memory=first,
        memory=first.copy(),
        scratch=policy.new_scratch(),
        outputs=np.zeros(policy.n, np.float32),
        action=np.zeros(scale.shape[1], np.float32),
        scale=scale,
        abandon=np.zeros(1, np.uint8),
    )


def vector_size(space: Any) -> int:
    """Return the size of observations that are vectors, else 0."""
    return int(space.shape[0]) if len(space.shape) == 1 else 0


@cache
def play_of(reset: Any, step: Any, observe: Any, see: Any, act: Any, choose: Any) -> Any:
    """Return play(state, driver, batch, weights, rules) of a world's functions and a kernel's.

    Args:
        see: `picture` or `numbers`.
        choose: see policies/kernels/choices.py.
    """
    decide = _decide_of(observe, see, act, choose)

    @compiled()
    def play(state: Any, driver: Driver, batch: Batch, weights: Any, rules: Rules) -> None:
        for i in range(len(batch.seeds)):
            batch.running[0] = i
            reset(state, batch.seeds[i])
            driver.memory[:] = driver.first_memory
            network, losing, over = row(weights, batch.network[i]), 0, False
            while not over and driver.abandon[0] == 0:
                action = decide(state, driver, batch, network, rules, i)
                reward = 0.0
                for _ in range(rules.repeat):
                    gain, over = step(state, action)
                    reward += gain
                    batch.lengths[i] += 1
                    over = over or batch.lengths[i] == rules.limit
                    if over:
                        break
                batch.totals[i] += within(reward, rules.clip[0], rules.clip[1])
                losing = losing + 1 if reward < 0 else 0
                over = over or (rules.early_stop > 0 and losing > rules.early_stop)

    return play


@cache
def _decide_of(observe: Any, see: Any, act: Any, choose: Any) -> Any:
    """Return what observes and acts."""

    @compiled()
    def decide(state: Any, driver: Driver, batch: Batch, network: Any, rules: Rules, i: int) -> Any:
        observe(state, driver.observation)
        seen = see(driver, batch, rules, i)
        act(network, seen, driver.memory, driver.scratch, driver.outputs)
        batch.acts[i] += 1
        action = choose(driver.outputs, driver.scale, driver.action)
        if rules.action_noise > 0:
            _disturb(driver, rules.action_noise, batch.noise[i, batch.acts[i] - 1])
        return action

    return decide


@compiled()
def picture(driver: Driver, batch: Batch, rules: Rules, i: int) -> NDArray[Any]:
    """Return the observation, of which nothing is collected."""
    return driver.observation


@compiled()
def numbers(driver: Driver, batch: Batch, rules: Rules, i: int) -> NDArray[np.float32]:
    """Return the observation as float32, collected and normalised if so ruled, as rollout.py does."""
    seen, features, normalisation = driver.observation, driver.features, rules.normalisation
    if rules.collect:
        _collect(seen, batch, i)
    for j in range(len(features)):
        if len(normalisation):
            scaled = np.float32((seen[j] - normalisation[0, j]) * normalisation[1, j])
            features[j] = within(scaled, -_CLIP, _CLIP)
        else:
            features[j] = seen[j]
    return features


@compiled()
def _collect(observation: NDArray[Any], batch: Batch, i: int) -> None:
    """Add an observation to the episode's sums."""
    for j in range(len(observation)):
        number = np.float64(observation[j])
        if batch.acts[i] == 0:
            batch.firsts[i, j] = number
        difference = number - batch.firsts[i, j]
        batch.sums[i, 0, j] += difference
        batch.sums[i, 1, j] += difference * difference


@compiled()
def _disturb(driver: Driver, size: float, noise: Vector) -> None:
    """Add noise to the action, within its bounds."""
    for j in range(len(driver.action)):
        disturbed = np.float64(driver.action[j]) + size * noise[j]
        driver.action[j] = within(disturbed, np.float64(driver.scale[2, j]), np.float64(driver.scale[3, j]))

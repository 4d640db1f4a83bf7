"""Whole episodes of any world and any kernel in one compiled function, without the interpreter.

They are bit-identical to the episodes of env_rollout.py.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.evaluation.normalisation import CLIP
from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import row
from mpi_es.policies.kernels.choices import clip, scale_for
from mpi_es.worlds.world import Observe, Reset, Step, World, functions

_CLIP = np.float32(CLIP)


class CompiledRules(NamedTuple):
    """The rules of all episodes of a call; 0 is no rule."""

    limit: int  # steps of the world
    repeat: int  # steps that an action lasts
    early_stop: int  # successive actions with negative rewards that do not end an episode
    clip: tuple[float, float]  # lower and upper bound of an action's reward
    collect: bool  # sum up the observations
    normalisation: Vector  # (2, size) of the observations, or (0, 0)
    action_noise: float


class Driver(NamedTuple):
    """The buffers of a thread, except the world's state."""

    observation: NDArray[Any]  # as the world has it
    seen: NDArray[Any]  # as the network reads it: (size,) float32, or the same array
    first_memory: Candidate  # (m,) at an episode's start
    memory: Candidate  # (m,)
    scratch: Any
    outputs: Candidate  # (n,)
    action: NDArray[Any]  # (n,) float32 of a Box, (1,) int64 of a Discrete
    scale: Candidate  # see choices.scale_for
    abandon: NDArray[np.uint8]  # (1,) another thread sets it to end the episodes


class Batch(NamedTuple):
    """Episodes of a thread, and their results."""

    seeds: NDArray[np.int64]  # (k,)
    network: NDArray[np.int64]  # (k,) the row of the weights
    noise: Vector  # (k, actions, n) standard normal numbers, if actions get noise
    running: NDArray[np.int64]  # (1,) the running episode; -1: all lanes are being stepped
    totals: Vector  # (k,)
    lengths: NDArray[np.int64]  # (k,)
    acts: NDArray[np.int64]  # (k,) number of actions, and of collected observations
    firsts: Vector  # (k, size) first observation of each episode
    sums: Vector  # (k, 2, size) of differences to it, and of their squares


def allocate(policy: Any, observations: Any, actions: Any) -> Driver:
    """Return a driver for a policy and the spaces of a world."""
    memory = policy.initial_memory(1)
    first = np.zeros(0, np.float32) if memory is None else memory[0]
    observation = np.zeros(observations.shape, observations.dtype)
    reads_rows = vector_size(observations) or _flattens(policy)
    return Driver(
        observation=observation,
        seen=np.zeros(observation.size, np.float32) if reads_rows else observation,
        first_memory=first,
        memory=first.copy(),
        scratch=policy.new_scratch(),
        outputs=np.zeros(policy.n, np.float32),
        action=np.zeros(actions.shape or 1, actions.dtype),
        scale=scale_for(actions),
        abandon=np.zeros(1, np.uint8),
    )


def vector_size(space: Any) -> int:
    """Return the size of observations that are vectors, else 0."""
    return int(space.shape[0]) if len(space.shape) == 1 else 0


def see_of(space: Any, policy: Any) -> Any:
    """Return see(observation, seen, batch, rules, i) for a space of observations and a policy."""
    if vector_size(space):
        return _see_vector
    return _see_flat if _flattens(policy) else _see_picture


def _flattens(policy: Any) -> bool:
    """Return whether a policy reads any observation as a row of numbers (features.py)."""
    return hasattr(policy, "features")


def play_of(world: World, policy: Any, choose: Any) -> Any:
    """Return play(state, driver, batch, weights, rules) of a world and a policy with a kernel.

    Args:
        choose: see policies/kernels/choices.py.
    """
    reset, step, observe = functions(world)
    see = see_of(world.observation_space, policy)
    step = step if world.action_space.shape else _step_of(step)
    return _play_of(reset, step, observe, see, policy.kernel, choose)


@cache
def _step_of(step: Step) -> Any:
    """Return the step of a world with discrete actions, which takes an array (1,)."""

    @compiled()
    def step_one(state: Any, action: NDArray[np.int64]) -> tuple[float, bool]:
        return step(state, action[0])

    return step_one


@cache
def _play_of(reset: Reset, step: Step, observe: Observe, see: Any, kernel: Any, choose: Any) -> Any:
    """Return the function, which is compiled once for all worlds and kernels with these functions."""

    # One function: a call that passes all of a driver takes longer than a step of CartPole.
    @compiled()
    def play(state: Any, driver: Driver, batch: Batch, weights: Any, rules: CompiledRules) -> None:
        for i in range(len(batch.seeds)):
            batch.running[0] = i
            reset(state, batch.seeds[i])
            copy(driver.first_memory, driver.memory)
            network, losing, over = row(weights, batch.network[i]), 0, False
            while not over and driver.abandon[0] == 0:
                observe(state, driver.observation)
                see(driver.observation, driver.seen, batch, rules, i)
                kernel(network, driver.seen, driver.memory, driver.scratch, driver.outputs)
                choose(driver.outputs, driver.scale, driver.action)
                if rules.action_noise > 0:
                    disturb(driver.action, driver.scale, batch.noise, rules.action_noise, i, batch.acts[i])
                refuse(driver.action, batch.totals, i)
                batch.acts[i] += 1
                reward = 0.0
                for _ in range(rules.repeat):
                    gain, over = step(state, driver.action)
                    reward += gain
                    batch.lengths[i] += 1
                    over = over or batch.lengths[i] == rules.limit
                    if over:
                        break
                batch.totals[i] += clip(reward, rules.clip[0], rules.clip[1])
                losing = losing + 1 if reward < 0 else 0
                over = over or (rules.early_stop > 0 and losing > rules.early_stop)

    return play


@compiled(borrowing=True)
def refuse(action: NDArray[Any], totals: NDArray[np.float64], i: int) -> None:
    """Set an episode's return to NaN, which is an error, if an action is not finite: WorldEnv refuses it."""
    for j in range(len(action)):
        if not math.isfinite(action[j]):
            totals[i] = np.nan


@compiled(borrowing=True)
def _see_picture(picture: Any, seen: Any, batch: Batch, rules: CompiledRules, i: int) -> None:
    """Do nothing: the network reads the picture itself."""


@compiled(borrowing=True)
def _see_flat(observation: NDArray[Any], seen: Candidate, batch: Batch, rules: CompiledRules, i: int) -> None:
    """Write an observation of more dimensions as one row of float32."""
    for j in range(len(seen)):
        seen[j] = observation.flat[j]


@compiled(borrowing=True)
def _see_vector(
    observation: NDArray[Any], seen: Candidate, batch: Batch, rules: CompiledRules, i: int
) -> None:
    """Write an observation as float32, collected and normalised by the rules, as env_rollout.py does."""
    if rules.collect:
        _collect(observation, batch, i)
    for j in range(len(seen)):
        if len(rules.normalisation):
            difference = observation[j] - rules.normalisation[0, j]
            seen[j] = clip(np.float32(difference * rules.normalisation[1, j]), -_CLIP, _CLIP)
        else:
            seen[j] = observation[j]


@compiled(borrowing=True)
def _collect(observation: NDArray[Any], batch: Batch, i: int) -> None:
    """Add an observation to the episode's sums."""
    for j in range(len(observation)):
        number = np.float64(observation[j])
        if batch.acts[i] == 0:
            batch.firsts[i, j] = number
        difference = number - batch.firsts[i, j]
        batch.sums[i, 0, j] += difference
        batch.sums[i, 1, j] += difference * difference


@compiled(borrowing=True)
def disturb(action: NDArray[Any], scale: Candidate, noise: Vector, size: float, i: int, act: int) -> None:
    """Add noise to the action, within its bounds."""
    for j in range(len(action)):
        disturbed = np.float64(action[j]) + size * noise[i, act, j]
        action[j] = clip(disturbed, np.float64(scale[2, j]), np.float64(scale[3, j]))


@compiled(borrowing=True)
def copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy numbers."""
    for j in range(len(source)):
        target[j] = source[j]

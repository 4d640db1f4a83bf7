"""A whole episode of CarRacing and the attention agent in one compiled function, without the interpreter."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing.simulation import Simulation, begin, hold
from mpi_es.envs.car_racing.state import STEPS
from mpi_es.jit.decorator import compiled
from mpi_es.policies.attention_compiled.kernel import Scratch, Weights, act

UNCLIPPED = (-math.inf, math.inf)


class Driver(NamedTuple):
    """The agent's arrays other than its weights."""

    memory: NDArray[np.float32]  # (n,) at an episode's start; it is left as it is
    state: NDArray[np.float32]  # (n,) the memory as the episode goes on
    scratch: Scratch
    outputs: NDArray[np.float32]  # (3,)
    scale: NDArray[np.float32]  # (4, 3) factor, shift, lower and upper bound, from outputs to actions
    abandon: NDArray[np.uint8]  # (1,) another thread sets it to end the episode


class Rules(NamedTuple):
    """What ends an episode before the race does, where 0 is no such rule, and what an action may count."""

    limit: int  # steps of the race
    repeat: int  # of these, how many an action lasts
    early_stop: int  # how many actions in a row with a negative reward it survives
    clip: tuple[float, float]  # lower and upper bound of an action's reward


@compiled()
def run_episode(
    simulation: Simulation, driver: Driver, weights: Weights, seed: int, rules: Rules
) -> tuple[float, int]:
    """Return an episode's return, and its length in steps of the race."""
    begin(simulation, seed)
    for i in range(len(driver.memory)):
        driver.state[i] = driver.memory[i]
    total, losing, over = 0.0, 0, False
    while not over and driver.abandon[0] == 0:
        act(weights, simulation.picture, driver.state, driver.scratch, driver.outputs)
        steer, gas, brake = _action(driver, 0), _action(driver, 1), _action(driver, 2)
        reward, over, cut = hold(simulation, steer, gas, brake, rules.repeat, rules.limit)
        total += min(max(reward, rules.clip[0]), rules.clip[1])
        losing = losing + 1 if reward < 0 else 0
        over = over or cut or (rules.early_stop > 0 and losing > rules.early_stop)
    return total, simulation.world.counts[STEPS]


@compiled()
def _action(driver: Driver, i: int) -> float:
    """Return a number of the action, rounded as policies/actions.py rounds it."""
    scaled = driver.outputs[i] * driver.scale[0, i] + driver.scale[1, i]
    return np.float64(min(max(scaled, driver.scale[2, i]), driver.scale[3, i]))


def allocate(policy: Any, space: Any) -> Driver:
    """Return a driver for a policy and the space of its actions.

    Args:
        policy: an AttentionPolicy whose outputs are scaled to the bounds.
    """
    memory = policy.initial_memory(1)[0]
    low, high = space.low, space.high
    scale = np.stack([high / 2 - low / 2, high / 2 + low / 2, low, high]).astype(np.float32)
    outputs = np.zeros(policy.n, np.float32)
    return Driver(memory, memory.copy(), policy.new_scratch(), outputs, scale, np.zeros(1, np.uint8))

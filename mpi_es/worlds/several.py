"""Several environments of a world in one call of compiled code: each begins an episode, steps or waits."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.world import Observe, Reset, Step, World, functions

WAIT, BEGIN, STEP = range(3)  # orders


class Several(NamedTuple):
    """The states of n environments, what they are ordered to do, and what came of it."""

    states: NDArray[np.void]  # (n,)
    lengths: NDArray[np.int64]  # (n,) steps of the running episodes

    order: NDArray[np.uint8]  # (n,) WAIT, BEGIN or STEP
    seeds: NDArray[np.int64]  # (n,) of the episodes that begin, or -1 for the next one
    actions: NDArray[Any]  # (n,) int64 or (n, size) float32

    rewards: NDArray[np.float64]  # (n,)
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    finals: NDArray[Any]  # (n, …) last observations of episodes where the next one begins at once


class Rules(NamedTuple):
    """What holds for all environments."""

    limit: int  # steps after which an episode is cut; 0 is none
    begin_at_once: bool  # where an episode is over the next one begins in the same call


def allocate(world: World, n: int) -> Several:
    """Return environments before their first episodes."""
    observations, actions = world.observation_space, world.action_space
    return Several(
        states=np.repeat(world.fresh, n),
        lengths=np.zeros(n, np.int64),
        order=np.zeros(n, np.uint8),
        seeds=np.full(n, -1),
        actions=np.zeros((n, *actions.shape), actions.dtype),
        rewards=np.zeros(n),
        terminated=np.zeros(n, np.bool_),
        truncated=np.zeros(n, np.bool_),
        finals=np.zeros((n, *observations.shape), observations.dtype),
    )


def advance_of(world: World) -> Any:
    """Return advance(several, rules, observations, first, last), which carries out the orders of a share."""
    return _advance_of(*functions(world))


@cache
def _advance_of(reset: Reset, step: Step, observe: Observe) -> Any:
    @compiled()
    def advance(several: Several, rules: Rules, observations: NDArray[Any], first: int, last: int) -> None:
        for i in range(first, last):
            state, begins = several.states[i], several.order[i] == BEGIN
            several.rewards[i] = 0.0
            several.terminated[i] = several.truncated[i] = False
            if several.order[i] == STEP:
                several.rewards[i], several.terminated[i] = step(state, several.actions[i])
                several.lengths[i] += 1
                several.truncated[i] = several.lengths[i] == rules.limit
            if rules.begin_at_once and (several.terminated[i] or several.truncated[i]):
                observe(state, several.finals[i])
                begins = True
            if begins:
                reset(state, several.seeds[i])
                several.seeds[i], several.lengths[i] = -1, 0
            observe(state, observations[i])

    return advance

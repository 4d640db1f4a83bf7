"""Several environments of a world in one call of compiled code: each begins an episode, steps or waits."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.user_world import as_compiled
from mpi_es.worlds.world import Observe, Reset, Step, World, functions, has_lanes

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


def advance_of(world: Any) -> Any:
    """Return advance(several, rules, observations, scratch, first, last): it carries out a share's orders."""
    reset, step, observe = functions(world)
    step_all = as_compiled(world.step_lanes) if has_lanes(world) else _step_all_of(step)
    return _advance_of(reset, step_all, observe)


@cache
def _step_all_of(step: Step) -> Any:
    """Return the step_lanes of a world that has none."""

    @compiled()
    def step_all(states: Any, actions: Any, rewards: Any, overs: Any, scratch: Any) -> None:
        for i in range(len(states)):
            rewards[i], overs[i] = step(states[i], actions[i])

    return step_all


@cache
def _advance_of(reset: Reset, step_all: Any, observe: Observe) -> Any:
    @compiled()
    def advance(
        several: Several,
        rules: Rules,
        observations: NDArray[Any],
        scratch: NDArray[Any],
        first: int,
        last: int,
    ) -> None:
        several.rewards[first:last] = 0.0
        several.terminated[first:last] = False
        begin = first
        while begin < last:  # those in a row that are to step
            end = begin
            while end < last and several.order[end] == STEP:
                end += 1
            if end > begin:
                step_all(
                    several.states[begin:end],
                    several.actions[begin:end],
                    several.rewards[begin:end],
                    several.terminated[begin:end],
                    scratch[0],
                )
            begin = end + 1
        for i in range(first, last):
            state, stepped, begins = several.states[i], several.order[i] == STEP, several.order[i] == BEGIN
            several.lengths[i] += stepped
            several.truncated[i] = stepped and several.lengths[i] == rules.limit
            if rules.begin_at_once and (several.terminated[i] or several.truncated[i]):
                observe(state, several.finals[i])
                begins = True
            if begins:
                reset(state, several.seeds[i])
                several.seeds[i], several.lengths[i] = -1, 0
            observe(state, observations[i])

    return advance

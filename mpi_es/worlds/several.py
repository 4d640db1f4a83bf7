"""Several environments of a world in one call of compiled code: each begins an episode, steps or waits."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import row, working_space
from mpi_es.worlds.user_world import as_compiled
from mpi_es.worlds.world import (
    Observe,
    Reset,
    Step,
    Tell,
    World,
    facts_of,
    functions,
    has_lanes,
    new_scratch,
    new_states,
    tell_of,
)

WAIT, BEGIN, STEP, ENDED = range(4)  # orders; a step that ends an episode turns STEP into ENDED


@working_space
class Scratch(NamedTuple):
    """The working space of a world's step_lanes."""

    space: NDArray[Any]  # (1,)


class Several(NamedTuple):
    """The states of n environments, their orders, and the results."""

    states: Any  # (n,)
    scratch: Scratch
    lengths: NDArray[np.int64]  # (n,) steps of the running episodes
    recent: NDArray[Any]  # (n, frames, …) the last observations, the oldest first

    order: NDArray[np.uint8]  # (n,) WAIT, BEGIN or STEP
    seeds: NDArray[np.int64]  # (n,) of the episodes that begin; -1: continue the random numbers
    actions: NDArray[Any]  # (n,) int64 or (n, size) float32

    gains: NDArray[np.float64]  # (n,) rewards of one step
    rewards: NDArray[np.float64]  # (n,) of all steps of the action
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    facts: NDArray[np.bool_]  # (n, k) of the episodes that are over
    # (n, frames, …) last observations of episodes, if the next one begins in the same call.
    finals: NDArray[Any]


class Rules(NamedTuple):
    """The rules of all environments."""

    frame_skip: int  # steps for an action
    limit: int  # steps after which an episode is cut; 0 is none
    begin_at_once: bool  # whether the next episode begins in the call that ends one


def allocate(world: World, n: int, frames: int, with_finals: bool) -> Several:
    """Return environments before their first episodes."""
    observations, actions = world.observation_space, world.action_space
    shape = (frames, *observations.shape)
    return Several(
        states=new_states(world, n),
        scratch=Scratch(new_scratch(world)),
        lengths=np.zeros(n, np.int64),
        recent=np.zeros((n, *shape), observations.dtype),
        order=np.zeros(n, np.uint8),
        seeds=np.full(n, -1),
        actions=np.zeros((n, *actions.shape), actions.dtype),
        gains=np.zeros(n),
        rewards=np.zeros(n),
        terminated=np.zeros(n, np.bool_),
        truncated=np.zeros(n, np.bool_),
        facts=np.zeros((n, len(facts_of(world))), np.bool_),
        finals=np.zeros((n if with_finals else 0, *shape), observations.dtype),
    )


def advance_of(world: Any) -> Any:
    """Return advance(several, rules, observations), which executes their orders."""
    reset, step, observe = functions(world)
    step_row = _step_together_of(as_compiled(world.step_lanes)) if has_lanes(world) else _step_each_of(step)
    return _advance_of(reset, _step_all_of(step_row), observe, tell_of(world))


@cache
def _step_together_of(step_lanes: Any) -> Any:
    """Return step_row(several, first, last) of a world with lanes."""

    @compiled()
    def step_row(several: Several, first: int, last: int) -> None:
        step_lanes(
            several.states[first:last],
            several.actions[first:last],
            several.gains[first:last],
            several.terminated[first:last],
            several.scratch.space[0],
        )

    return step_row


@cache
def _step_each_of(step: Step) -> Any:
    """Return step_row(several, first, last) of a world without lanes."""

    @compiled()
    def step_row(several: Several, first: int, last: int) -> None:
        for i in range(first, last):
            several.gains[i], several.terminated[i] = step(row(several.states, i), several.actions[i])

    return step_row


@cache
def _step_all_of(step_row: Any) -> Any:
    """Return step_all(several, limit), which executes all STEP orders,
    those of adjacent environments together.
    """

    @compiled()
    def step_all(several: Several, limit: int) -> None:
        first = 0
        while first < len(several.order):
            last = first
            while last < len(several.order) and several.order[last] == STEP:
                last += 1
            if last > first:
                step_row(several, first, last)
            for i in range(first, last):
                several.rewards[i] += several.gains[i]
                several.lengths[i] += 1
                several.truncated[i] = several.lengths[i] == limit
                if several.terminated[i] or several.truncated[i]:
                    several.order[i] = ENDED
            first = last + 1

    return step_all


@cache
def _advance_of(reset: Reset, step_all: Any, observe: Observe, tell: Tell) -> Any:
    @compiled()
    def advance(several: Several, rules: Rules, observations: NDArray[Any]) -> None:
        several.rewards[:] = 0.0
        several.terminated[:] = False
        several.truncated[:] = False
        for _ in range(rules.frame_skip):
            step_all(several, rules.limit)
        for i in range(len(several.order)):
            order, state, recent = several.order[i], row(several.states, i), row(several.recent, i)
            if order in (STEP, ENDED):
                _shift(recent)
                observe(state, row(recent, len(recent) - 1))
            if order == ENDED:
                tell(state, row(several.facts, i))
                if rules.begin_at_once:
                    _copy(recent, row(several.finals, i))
                    order = BEGIN
            if order == BEGIN:
                reset(state, several.seeds[i])
                several.seeds[i], several.lengths[i] = -1, 0
                observe(state, row(recent, 0))
                _fill(recent)
            _copy(recent, row(observations, i))

    return advance


@compiled()
def _shift(recent: NDArray[Any]) -> None:
    """Move each observation one place towards the oldest."""
    for frame in range(1, len(recent)):
        _copy(row(recent, frame), row(recent, frame - 1))


@compiled()
def _fill(recent: NDArray[Any]) -> None:
    """Make all observations equal to the first."""
    for frame in range(1, len(recent)):
        _copy(row(recent, 0), row(recent, frame))


@compiled()
def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy numbers; numba takes seconds to compile the error of slices that do not fit."""
    numbers, places = source.reshape(-1), target.reshape(-1)
    for i in range(len(numbers)):
        places[i] = numbers[i]

"""Whole episodes of a world side by side: each network answers, then one call steps all of them.

They are bit-identical to the episodes of episode.py.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.evaluation.compiled.episode import Batch, CompiledRules, Driver, copy, disturb, refuse, see_of
from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import row
from mpi_es.policies.kernels.choices import clip
from mpi_es.worlds.user_world import as_compiled
from mpi_es.worlds.world import Observe, Reset, functions, new_scratch

LANES = 64  # of a thread; more are no faster (benchmarks/box2d.py)


class Lanes(NamedTuple):
    """The episode in each lane; lanes with a running one come first."""

    states: NDArray[np.void]  # (w,)
    scratch: Any  # of the world's step_lanes
    episode: NDArray[np.int64]  # (w,) its index in the batch
    memory: Candidate  # (w, m)
    actions: NDArray[Any]  # (w, n)
    rewards: Vector  # (w,) of the last step
    overs: NDArray[np.bool_]  # (w,) whether that step ended the episode
    gains: Vector  # (w,) sum of rewards of the current action
    losing: NDArray[np.int64]  # (w,) successive actions with negative rewards


def allocate_lanes(world: Any, driver: Driver) -> Lanes:
    """Return the lanes of a thread."""
    return Lanes(
        states=np.repeat(world.fresh, LANES),
        scratch=new_scratch(world)[0],
        episode=np.zeros(LANES, np.int64),
        memory=np.repeat(driver.first_memory[None], LANES, axis=0),
        actions=np.repeat(driver.action[None], LANES, axis=0),
        rewards=np.zeros(LANES),
        overs=np.zeros(LANES, np.bool_),
        gains=np.zeros(LANES),
        losing=np.zeros(LANES, np.int64),
    )


def play_lanes_of(world: Any, policy: Any, choose: Any) -> Any:
    """Return play(lanes, driver, batch, weights, rules) of a world with lanes and a policy with a kernel.

    Args:
        choose: see policies/kernels/choices.py.
    """
    reset, _, observe = functions(world)
    step_lanes = as_compiled(world.step_lanes)
    step_lanes = step_lanes if world.action_space.shape else _step_lanes_of(step_lanes)
    see = see_of(world.observation_space, policy)
    return _play_lanes_of(reset, step_lanes, observe, see, policy.kernel, choose)


@cache
def _step_lanes_of(step_lanes: Any) -> Any:
    """Return the step_lanes of a world with discrete actions, which takes an array (w, 1)."""

    @compiled()
    def step_all(states: Any, actions: NDArray[np.int64], rewards: Any, overs: Any, scratch: Any) -> None:
        step_lanes(states, actions[:, 0], rewards, overs, scratch)

    return step_all


@cache
def _play_lanes_of(
    reset: Reset, step_lanes: Any, observe: Observe, see: Any, kernel: Any, choose: Any
) -> Any:
    """Return the function, which is compiled once for all worlds and kernels with these functions."""

    @compiled()
    def play(lanes: Lanes, driver: Driver, batch: Batch, weights: Any, rules: CompiledRules) -> None:
        running = begun = 0
        while driver.abandon[0] == 0:
            while running < len(lanes.episode) and begun < len(batch.seeds):
                batch.running[0] = begun
                reset(lanes.states[running], batch.seeds[begun])
                copy(driver.first_memory, row(lanes.memory, running))
                lanes.episode[running], lanes.losing[running] = begun, 0
                running, begun = running + 1, begun + 1
            if running == 0:
                break
            for lane in range(running):
                i, action = lanes.episode[lane], row(lanes.actions, lane)
                batch.running[0] = i
                observe(lanes.states[lane], driver.observation)
                see(driver.observation, driver.seen, batch, rules, i)
                network, memory = row(weights, batch.network[i]), row(lanes.memory, lane)
                kernel(network, driver.seen, memory, driver.scratch, driver.outputs)
                choose(driver.outputs, driver.scale, action)
                if rules.action_noise > 0:
                    disturb(action, driver.scale, batch.noise, rules.action_noise, i, batch.acts[i])
                refuse(action, batch.totals, i)
                batch.acts[i] += 1
                lanes.gains[lane] = 0.0
            batch.running[0] = -1
            for _ in range(rules.repeat):
                step_lanes(
                    lanes.states[:running],
                    lanes.actions[:running],
                    lanes.rewards[:running],
                    lanes.overs[:running],
                    lanes.scratch,
                )
                running = _after_step(lanes, batch, rules, running)
                if running == 0:
                    break
            running = _after_action(lanes, batch, rules, running)

    return play


@compiled()
def _after_step(lanes: Lanes, batch: Batch, rules: CompiledRules, running: int) -> int:
    """Count a step of the running episodes; return how many of them continue."""
    for lane in range(running - 1, -1, -1):  # backwards: an episode that moves to this lane has been counted
        i = lanes.episode[lane]
        lanes.gains[lane] += lanes.rewards[lane]
        batch.lengths[i] += 1
        if lanes.overs[lane] or batch.lengths[i] == rules.limit:
            batch.totals[i] += clip(lanes.gains[lane], rules.clip[0], rules.clip[1])
            running -= 1
            _move(lanes, running, lane)
    return running


@compiled()
def _after_action(lanes: Lanes, batch: Batch, rules: CompiledRules, running: int) -> int:
    """Add up an action's reward in the running episodes; return how many survive the early stop."""
    for lane in range(running - 1, -1, -1):
        i = lanes.episode[lane]
        batch.totals[i] += clip(lanes.gains[lane], rules.clip[0], rules.clip[1])
        lanes.losing[lane] = lanes.losing[lane] + 1 if lanes.gains[lane] < 0 else 0
        if rules.early_stop > 0 and lanes.losing[lane] > rules.early_stop:
            running -= 1
            _move(lanes, running, lane)
    return running


@compiled()
def _move(lanes: Lanes, source: int, target: int) -> None:
    """Move an episode to a lane whose episode is over."""
    if source == target:
        return
    lanes.states[target] = lanes.states[source]
    lanes.episode[target] = lanes.episode[source]
    lanes.gains[target] = lanes.gains[source]
    lanes.losing[target] = lanes.losing[source]
    copy(row(lanes.memory, source), row(lanes.memory, target))
    copy(row(lanes.actions, source), row(lanes.actions, target))

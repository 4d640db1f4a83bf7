"""Several cars in one call of compiled code: each begins an episode, drives or waits, as it is ordered."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing import simulation
from mpi_es.envs.car_racing.physics import race
from mpi_es.envs.car_racing.picture.sizes import SIDE
from mpi_es.envs.car_racing.simulation import Simulation
from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import repeat, row

WAIT, BEGIN, DRIVE = range(3)  # orders


class Cars(NamedTuple):
    """The races of n cars, what they are ordered to do, and what came of it."""

    races: Simulation  # (n, …); its canvases and panels, on which no picture depends, are (threads, …)
    recent: NDArray[np.uint8]  # (n, frames, SIDE, SIDE, 3) the last pictures, in a ring
    newest: NDArray[np.int64]  # (n,) the place of the newest in its ring

    order: NDArray[np.uint8]  # (n,) WAIT, BEGIN or DRIVE
    actions: NDArray[np.float64]  # (n, 3) steering, gas, brake
    entropy: NDArray[np.int64]  # (n,) what begins the generators of a car's first episode, or -1
    seeds: NDArray[np.int64]  # (n,) of the episodes that begin, or -1 for the next one

    rewards: NDArray[np.float64]  # (n,)
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    lap_finished: NDArray[np.bool_]  # (n,) where terminated
    finals: NDArray[np.uint8]  # (n, frames, SIDE, SIDE, 3) last observations of episodes, for SAME_STEP only


class Rules(NamedTuple):
    """What holds for all cars."""

    frame_skip: int  # steps of the race for an action
    limit: int  # steps after which an episode is cut; 0 is none
    begin_at_once: bool  # a car whose episode is over begins the next one in the same call
    randomize: bool  # draw new colours where the options ask for them: gymnasium's options["randomize"]


def allocate(race: Simulation, count: int, threads: int, frames: int, with_finals: bool) -> Cars:
    """Return cars without a track that are like `race`."""
    scratch = {name: repeat(getattr(race, name), threads) for name in ("close", "exact", "panel")}
    pictures = (frames, SIDE, SIDE, 3)
    return Cars(
        races=repeat(race, count)._replace(**scratch),
        recent=np.zeros((count, *pictures), np.uint8),
        newest=np.zeros(count, np.int64),
        order=np.zeros(count, np.uint8),
        actions=np.zeros((count, 3)),
        entropy=np.full(count, -1),
        seeds=np.full(count, -1),
        rewards=np.zeros(count),
        terminated=np.zeros(count, np.bool_),
        truncated=np.zeros(count, np.bool_),
        lap_finished=np.zeros(count, np.bool_),
        finals=np.zeros((count if with_finals else 0, *pictures), np.uint8),
    )


@compiled()
def advance(
    cars: Cars, rules: Rules, observations: NDArray[np.uint8], first: int, last: int, thread: int
) -> None:
    """Carry out the orders of the cars first to last - 1; write their observations (n, frames, …)."""
    for i in range(first, last):
        own = _race_of(cars.races, i, thread)
        cars.rewards[i] = 0.0
        cars.terminated[i] = cars.truncated[i] = False
        if cars.order[i] == DRIVE:
            _drive(cars, own, rules, i)
        over = cars.terminated[i] or cars.truncated[i]
        if over and rules.begin_at_once:
            _show(cars, i, cars.finals[i])
        if cars.order[i] == BEGIN or (over and rules.begin_at_once):
            _begin(cars, own, rules, i)
        _show(cars, i, observations[i])


@compiled()
def _race_of(races: Simulation, i: int, thread: int) -> Simulation:
    """Return one car's race with a thread's canvas."""
    return Simulation(
        row(races.world, i),
        row(races.physics, i),
        races.generator[i],
        races.colours[i],
        row(races.close, thread),
        row(races.exact, thread),
        row(races.panel, thread),
        races.picture[i],
        races.variant,
        races.randomized,
        races.grass_cost,
    )


@compiled()
def _begin(cars: Cars, own: Simulation, rules: Rules, i: int) -> None:
    """Begin an episode as the environment's reset does; its first picture fills the ring."""
    if cars.entropy[i] >= 0:
        simulation.begin_first(own, cars.entropy[i])
        cars.entropy[i] = -1
    if cars.seeds[i] >= 0:
        simulation.begin_streams(own, cars.seeds[i])
        cars.seeds[i] = -1
    simulation.proceed(own, own.randomized and rules.randomize)
    for frame in range(cars.recent.shape[1]):
        _copy(own.picture, cars.recent[i, frame])


@compiled()
def _drive(cars: Cars, own: Simulation, rules: Rules, i: int) -> None:
    """Repeat an action until the episode is over."""
    steer, gas, brake = cars.actions[i, 0], cars.actions[i, 1], cars.actions[i, 2]
    reward, over, cut = simulation.hold(own, steer, gas, brake, rules.frame_skip, rules.limit)
    cars.newest[i] = (cars.newest[i] + 1) % cars.recent.shape[1]
    _copy(own.picture, cars.recent[i, cars.newest[i]])
    cars.rewards[i], cars.terminated[i], cars.truncated[i] = reward, over, cut
    cars.lap_finished[i] = over and not race.is_off(own.world)


@compiled()
def _show(cars: Cars, i: int, observation: NDArray[np.uint8]) -> None:
    """Write a car's last pictures (frames, SIDE, SIDE, 3), the oldest first."""
    frames = cars.recent.shape[1]
    for frame in range(frames):
        _copy(cars.recent[i, (cars.newest[i] + 1 + frame) % frames], observation[frame])


@compiled()
def _copy(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """Copy a picture; numba takes seconds to compile the error of slices that do not fit."""
    pixels, places = source.reshape(-1), target.reshape(-1)
    for i in range(len(pixels)):
        places[i] = pixels[i]

"""A race: gymnasium's CarRacing.reset and step on our arrays, without the picture."""

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.physics.arrays import NEW_LAP, Physics
from mpi_es.worlds.car_racing.physics.car import control, place_car, push
from mpi_es.worlds.car_racing.physics.contacts import touch
from mpi_es.worlds.car_racing.physics.solver import solve
from mpi_es.worlds.car_racing.physics.track import make_track
from mpi_es.worlds.car_racing.state import (
    DT,
    PLAYFIELD,
    PREVIOUS_REWARD,
    REWARD,
    SHOWN_REWARD,
    TILE_COUNT,
    TIME,
    VISITED_COUNT,
    World,
)
from mpi_es.worlds.numpy_random import integers, uniform


@compiled()
def randomize_colours(world: World, physics: Physics, generator: NDArray[np.uint64]) -> None:
    """Draw the colours of road, background and grass, before `reset`: gymnasium's _reinit_colors."""
    for i in range(2):
        for channel in range(3):
            colour = uniform(generator, 0.0, 210.0)
            world.ground[i, channel] = int(colour)
            if i == 0:
                physics.road_colour[channel] = colour
    for channel in range(3):
        world.ground[2, channel] = world.ground[1, channel]
    world.ground[2, integers(generator, 3)] += 20


@compiled()
def reset(world: World, physics: Physics, generator: NDArray[np.uint64]) -> None:
    """Draw a track, put the car at its start, and let it stand for a step."""
    world.clock[:] = 0
    physics.lap[NEW_LAP] = 0
    make_track(world, physics, generator)
    place_car(world, physics)
    _advance(world, physics)


@compiled()
def step(world: World, physics: Physics, steer: float, gas: float, brake: float) -> tuple[float, bool]:
    """Drive for a step; return its reward, and whether the race is over: a lap, or off the map.

    Args:
        steer: the action's three numbers as gymnasium takes them, -1 (left) to 1.
        gas: 0 to 1.
        brake: 0 to 1.
    """
    control(physics, steer, gas, brake)
    _advance(world, physics)
    world.clock[REWARD] -= 0.1
    reward = world.clock[REWARD] - world.clock[PREVIOUS_REWARD]
    world.clock[PREVIOUS_REWARD] = world.clock[REWARD]
    if is_off(world):
        return -100.0, True
    return reward, world.counts[VISITED_COUNT] == world.counts[TILE_COUNT] or physics.lap[NEW_LAP] > 0


@compiled()
def is_off(world: World) -> bool:
    """Return whether the car has left the map."""
    return bool(abs(world.transforms[0, 0]) > PLAYFIELD or abs(world.transforms[0, 1]) > PLAYFIELD)


@compiled()
def _advance(world: World, physics: Physics) -> None:
    """Advance by a step: the car's forces come from the tiles of the previous step, as in gymnasium."""
    push(world, physics)
    touch(world, physics)
    solve(world, physics)
    world.clock[TIME] += DT
    world.clock[SHOWN_REWARD] = world.clock[REWARD]

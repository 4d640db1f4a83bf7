"""The options of the environment, alone and as a vector, and its spaces. An error names the keyword."""

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from mpi_es.envs.car_racing import simulation, variants
from mpi_es.envs.car_racing.picture.sizes import SIDE
from mpi_es.errors import expected, unknown

# What gymnasium's discrete actions do: nothing, right, left, gas, brake.
DISCRETE = np.array([(0.0, 0.0, 0.0), (0.6, 0.0, 0.0), (-0.6, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.8)])


class Choices(NamedTuple):
    """The arguments of simulation.allocate, in their order."""

    picture: str
    variant: str
    lap_complete_percent: float
    domain_randomize: bool
    grass_cost: float


def checked(
    picture: str,
    variant: str,
    lap_complete_percent: float,
    domain_randomize: bool,
    continuous: bool,
    grass_cost: float,
) -> Choices:
    """Return the choices of a simulation, or raise an error that names the keyword."""
    for name, value in (("domain_randomize", domain_randomize), ("continuous", continuous)):
        if not isinstance(value, bool):
            raise expected(name, "True or False", value)
    for name, number in (("lap_complete_percent", lap_complete_percent), ("grass_cost", grass_cost)):
        if not isinstance(number, float | int):
            raise expected(name, "a number", number)
    picture, variant = str(picture), str(variant)
    if picture not in simulation.PICTURES:
        raise unknown("picture", picture, simulation.PICTURES)
    if variant not in variants.NAMES:
        raise unknown("variant", variant, variants.NAMES)
    return Choices(picture, variant, lap_complete_percent, domain_randomize, grass_cost)


def action_space(continuous: bool) -> spaces.Space[Any]:
    """Return gymnasium's space of actions: steering, gas and brake, or one of five."""
    low, high = np.array([-1, 0, 0], np.float32), np.ones(3, np.float32)
    return spaces.Box(low, high) if continuous else spaces.Discrete(len(DISCRETE))


def observation_space(frames: int = 1) -> spaces.Box:
    """Return the space of pictures (SIDE, SIDE, 3), or of several (frames, SIDE, SIDE, 3)."""
    picture = (SIDE, SIDE, 3)
    return spaces.Box(0, 255, picture if frames == 1 else (frames, *picture), np.uint8)

"""The machine code of the environments: from the cache, or compiled with a line that says so.

A module of its own: the code is compiled again after any change of what its module imports.
"""

from functools import cache

import numpy as np

from mpi_es.envs.car_racing import cars, simulation
from mpi_es.jit.warm_up import announced


@cache
def have_for_one(picture: str) -> None:
    """Have the machine code of the environment alone."""
    race = simulation.allocate(picture)
    with announced("the simulator"):
        simulation.begin_streams(race, 0)
        simulation.proceed(race, False)
        simulation.drive(race, 0.0, 0.0, 0.0)


@cache
def have_for_several(picture: str) -> None:
    """Have the machine code of the vector."""
    one = cars.allocate(simulation.allocate(picture), count=1, threads=1, frames=1, with_finals=False)
    rules = cars.Rules(frame_skip=1, limit=0, begin_at_once=False, randomize=False)
    with announced("the simulator"):
        cars.advance(one, rules, np.empty_like(one.recent), 0, 1, 0)

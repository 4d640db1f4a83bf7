"""Your own world: a boat as in environment.py, in a steady current; whole episodes run in compiled code.

From this folder:

    mpiexec -n 2 python -m mpi_es.train --env world:Boat --hidden 8 --max-iter 50 --run-dir runs/world
    python -m mpi_es.evaluate runs/world --env-options current=0.5
"""

import numba
import numpy as np
from gymnasium import spaces

from mpi_es.worlds import numpy_random, record

STEP = 0.1  # seconds
DRAG = 0.2


class Boat:
    """Observe position and speed, set the thrust; each step costs the distance from the buoy."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)
    limit = 100  # steps of an episode

    def __init__(self, current=0.2):
        # All that an episode remembers: numbers and arrays of numbers.
        self.fresh = record(generator=numpy_random.allocate(), position=0.0, speed=0.0, current=current)
        self.reset, self.step, self.observe = reset, step, observe


@numba.njit
def reset(state, seed):
    numpy_random.begin_stream(state.generator, seed)  # from which all randomness comes
    state.position = numpy_random.uniform(state.generator, -1.0, 1.0)
    state.speed = numpy_random.uniform(state.generator, -1.0, 1.0)


@numba.njit
def step(state, action):
    state.speed += STEP * (action[0] + state.current - DRAG * state.speed)
    state.position += STEP * state.speed
    return -abs(state.position), False


@numba.njit
def observe(state, out):
    out[0], out[1] = state.position, state.speed

"""Your own environment: a boat that holds its place in a current.

From this folder:

    mpiexec -n 2 python -m mpi_es.train --env environment:make --hidden 8 --max-iter 50 --run-dir runs/boat
    python -m mpi_es.evaluate runs/boat --env-options current=0.5
"""

import gymnasium as gym
import numpy as np

STEP = 0.1  # seconds
DRAG = 0.2


class Boat(gym.Env):
    """Observe position and speed, set the thrust; each step costs the distance from the buoy."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, current):
        self.current = current
        self.position = self.speed = 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)  # seeds self.np_random, from which all randomness comes
        self.position, self.speed = self.np_random.uniform(-1, 1, size=2)
        return self.observe(), {}

    def step(self, action):
        gust = self.np_random.normal(self.current, 0.1)
        self.speed += STEP * (float(action[0]) + gust - DRAG * self.speed)
        self.position += STEP * self.speed
        return self.observe(), -abs(self.position), False, False, {}

    def observe(self):
        return np.array([self.position, self.speed], np.float32)


def make(current=0.2):
    """Return what --env environment:make names; the keywords are those of --env-options."""
    return gym.wrappers.TimeLimit(Boat(current), 100)

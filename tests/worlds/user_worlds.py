"""Worlds as a user writes them, for the tests: a number that a step adds to."""

import numba
import numpy as np
from gymnasium import spaces

from mpi_es.worlds import record


@numba.njit
def reset(state, seed):
    state.number = seed % 10


@numba.njit
def step(state, action):
    state.number += action[0]
    return state.number, state.number > 20


@numba.njit
def step_with_array(state, action):
    added = np.zeros(2)
    added[:] = action[0]
    state.number += added.sum()
    return state.number, False


@numba.njit
def step_that_fails(state, action):
    if state.number > -1:
        raise ValueError("no such number")
    return 0.0, False


@numba.njit
def step_lanes(states, actions, rewards, overs, scratch):
    for i in range(len(states)):
        scratch.steps += 1
        rewards[i], overs[i] = step(states[i], actions[i])


@numba.njit
def observe(state, out):
    out[0] = state.number


class Numbers:
    limit = 9
    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, first=0.0):
        self.fresh = record(number=first)
        self.reset, self.step, self.observe = reset, step, observe


class Together(Numbers):
    def __init__(self):
        super().__init__()
        self.step_lanes = step_lanes

    def scratch(self):
        return record(steps=0)


class Scratchless(Numbers):
    def __init__(self):
        super().__init__()
        self.step_lanes = step_lanes


class Wasteful(Numbers):
    def __init__(self):
        super().__init__()
        self.step = step_with_array


class Failing(Numbers):
    def __init__(self):
        super().__init__()
        self.step = step_that_fails


class Interpreted(Numbers):
    def __init__(self):
        super().__init__()
        self.step = lambda state, action: (0.0, False)


class Halved(Numbers):
    def __init__(self):
        super().__init__()
        del self.observe


class Listed(Numbers):
    def __init__(self):
        self.fresh = np.array([{}])
        self.reset, self.step, self.observe = reset, step, observe


class Wordy(Numbers):
    observation_space = spaces.Text(3)


class Coarse(Numbers):
    action_space = spaces.Box(0, 1, (1,), np.float64)


class Endless(Numbers):
    limit = None

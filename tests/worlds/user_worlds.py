"""Worlds as a user writes them, for the tests: a number that a step adds to."""

import numba
import numpy as np
from gymnasium import spaces

from mpi_es.worlds import numpy_random, record
from mpi_es.worlds.lunar_lander import LunarLander, step_discrete

COUNTS = np.zeros(1)


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
def step_beyond(state, action):
    for i in range(30):
        state.path[i] = action[0]
    return 0.0, False


@numba.njit
def step_with_one_value(state, action):
    return state.number


@numba.njit
def step_by_a_global_array(state, action):
    COUNTS[0] += 1
    return 0.0, False


@numba.njit
def step_by_an_unknown_name(state, action):
    state.speed += 1
    return 0.0, False


@numba.njit
def step_by_an_interpreted_function(state, action):
    return interpreted(state.number), False


def interpreted(number):
    return number


@numba.njit
def step_lanes(states, actions, rewards, overs, scratch):
    for i in range(len(states)):
        scratch.steps += 1
        rewards[i], overs[i] = step(states[i], actions[i])


@numba.njit
def observe(state, out):
    out[0] = state.number


@numba.njit
def reset_stream(state, seed):
    numpy_random.begin_stream(state.generator, seed)
    state.number = 0


@numba.njit
def observe_blurred(state, out):
    out[0] = state.number + numpy_random.uniform(state.generator, 0.1, 0.9)


@numba.njit
def observe_nothing(state, out):
    pass


@numba.njit
def observe_square(state, out):
    out[0, 0], out[0, 1], out[1, 0], out[1, 1] = state.number, 1.0, 2.0, 3.0


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


class Telling(Numbers):
    facts = ("is_even", "is_large")

    def __init__(self):
        super().__init__()
        self.step, self.tell = step_to_five, tell


@numba.njit
def step_to_five(state, action):
    state.number += action[0]
    return 1.0, state.number >= 5.0


@numba.njit
def tell(state, out):
    out[0], out[1] = state.number % 2.0 == 0.0, state.number >= 5.5


class Silent(Numbers):
    facts = ("is_even",)


class Mistelling(Telling):
    def __init__(self):
        super().__init__()
        self.tell = mistell


@numba.njit
def mistell(state, out):
    out[0] = state.speed


class Failing(Numbers):
    def __init__(self):
        super().__init__()
        self.step = step_that_fails


class Interpreted(Numbers):
    def __init__(self):
        super().__init__()
        self.step = lambda state, action: (0.0, False)


class OfTheClass(Numbers):
    step = step

    def __init__(self):
        super().__init__()
        del self.step


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


class Spelt(Numbers):
    facts = "won"


class Logical(Numbers):
    def __init__(self):
        super().__init__()
        self.fresh = record(number=0.0, taken=np.zeros(3, np.bool_))


class Freshless(Numbers):
    def __init__(self):
        super().__init__()
        del self.fresh


class Square(Numbers):
    observation_space = spaces.Box(-np.inf, np.inf, (2, 2), np.float32)

    def __init__(self):
        super().__init__()
        self.observe = observe_square


class Blind(Numbers):
    def __init__(self):
        super().__init__()
        self.observe = observe_nothing


class Blurred(Numbers):
    def __init__(self):
        super().__init__()
        self.fresh = record(number=0.0, generator=numpy_random.allocate())
        self.reset, self.observe = reset_stream, observe_blurred


class Beyond(Numbers):
    def __init__(self):
        super().__init__()
        self.fresh = record(number=0.0, path=np.zeros(3))
        self.step = step_beyond


class OneValue(Numbers):
    def __init__(self):
        super().__init__()
        self.step = step_with_one_value


class GlobalArray(Numbers):
    def __init__(self):
        super().__init__()
        self.step = step_by_a_global_array


class UnknownName(Numbers):
    def __init__(self):
        super().__init__()
        self.step = step_by_an_unknown_name


class HalfCompiled(Numbers):
    def __init__(self):
        super().__init__()
        self.step = step_by_an_interpreted_function


class Drawn(Numbers):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def window(self, render_mode):
        return Window()


def make_drawn():
    return Drawn()


class Lander(LunarLander):
    """Pays one more for each step."""

    def __init__(self):
        super().__init__()
        self.step = step_for_one_more
        del self.step_lanes


@numba.njit
def step_for_one_more(state, action):
    reward, over = step_discrete(state, action)
    return reward + 1.0, over


class Window:
    def render(self, state):
        return np.full((16, 16, 3), int(state["number"]) % 256, np.uint8)

    def close(self):
        pass

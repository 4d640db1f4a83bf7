"""Compiled policies as a user writes them, for the tests."""

import math

import numba
import numpy as np


@numba.njit
def leaky(weights, observation, memory, outputs):
    for j in range(len(memory)):
        total = weights.bias[j]
        for i in range(len(observation)):
            total += weights.read[j, i] * observation[i]
        memory[j] = 0.5 * memory[j] + 0.5 * math.tanh(total)
    for k in range(len(outputs)):
        for j in range(len(memory)):
            outputs[k] += weights.write[k, j] * memory[j]


class Leaky:
    """A layer that forgets half of its memory in each step."""

    kernel = leaky

    def __init__(self, observation_space, action_space, width=5):
        outputs = int(action_space.n) if hasattr(action_space, "n") else action_space.shape[0]
        inputs = observation_space.shape[0]
        self.shapes = {"read": (width, inputs), "bias": (width,), "write": (outputs, width)}
        self.memory = width

    def initial(self, generator):
        return generator.normal(0.0, 0.3, sum(map(math.prod, self.shapes.values())))


class Interpreted(Leaky):
    kernel = staticmethod(lambda weights, observation, memory, outputs: None)


class Shapeless(Leaky):
    def __init__(self, observation_space, action_space):
        self.memory = 0


class Misshapen(Leaky):
    def __init__(self, observation_space, action_space):
        self.shapes, self.memory = {"read": 5}, 0


class Forgetful(Leaky):
    def __init__(self, observation_space, action_space):
        super().__init__(observation_space, action_space)
        self.memory = None


class Broken(Leaky):
    def initial(self, generator):
        return generator.normel(35)


class Short(Leaky):
    def initial(self, generator):
        return np.zeros(3)


@numba.njit
def act_by_an_unknown_name(weights, observation, memory, outputs):
    outputs[0] = weights.written[0, 0]


class Unknown(Leaky):
    kernel = act_by_an_unknown_name


@numba.njit
def act_without_memory(weights, observation, outputs):
    outputs[0] = weights.bias[0]


class Forgotten(Leaky):
    kernel = act_without_memory


@numba.njit
def act_that_fails(weights, observation, memory, outputs):
    if observation[0] < 9.0:
        raise ValueError("no such number")


class Failing(Leaky):
    kernel = act_that_fails

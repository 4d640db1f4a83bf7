"""A recurrent language model of characters, evolved from scratch with perturbations of low rank.

It needs torch (pip install 'mpi_es[policies]'). From this folder:

    mpiexec -n 2 python -m mpi_es.train --env language_model:Text --policy language_model:Reader \
        --policy-options width=128 --output clip --strategy openai_es --noise low-rank --population-size 128 \
        --init-sigma 0.05 --num-rollouts 8 --episode-seeds common --envs-per-rank 32 --run-dir runs/reader

The text is Python's own reference. An episode is 100 characters; a reward is the base-2 logarithm of the
probability that the network gave to the next character: a return of -300 is 3 bits a character.
"""

import re
from pydoc_data.topics import topics

import numba
import numpy as np
from gymnasium import spaces
from torch import nn

from mpi_es.worlds import numpy_random, record

LETTERS, LENGTH = " abcdefghijklmnopqrstuvwxyz.", 100
WORDS = re.sub(r"[^a-z.]+", " ", " ".join(topics.values()).lower())
TEXT = np.array([LETTERS.index(letter) for letter in WORDS], np.int8)


@numba.njit
def reset(state, seed):
    numpy_random.begin_stream(state.generator, seed)
    state.place = numpy_random.integers(state.generator, len(TEXT) - LENGTH)


@numba.njit
def step(state, action):
    state.place += 1
    return (action[TEXT[state.place]] - np.log(np.exp(action).sum())) / np.log(2.0), False


@numba.njit
def observe(state, out):
    for letter in range(len(out)):
        out[letter] = letter == TEXT[state.place]


class Text:
    """Observe a character, act with a score for each that may follow."""

    observation_space = spaces.Box(0, 1, (len(LETTERS),), np.float32)
    action_space = spaces.Box(-20, 20, (len(LETTERS),), np.float32)
    limit, reset, step, observe = LENGTH, staticmethod(reset), staticmethod(step), staticmethod(observe)
    fresh = record(generator=numpy_random.allocate(), place=0)


class Reader(nn.Module):
    """A layer of gated recurrent units and a linear one."""

    def __init__(self, observation_space, action_space, width=64):
        super().__init__()
        self.units, self.scores = nn.GRUCell(len(LETTERS), width), nn.Linear(width, len(LETTERS))

    def forward(self, observations, memory):
        memory = self.units(observations, memory)
        return self.scores(memory), memory

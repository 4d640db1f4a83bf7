"""A recurrent language model of characters, evolved from scratch with perturbations of low rank.

From this folder:

    mpiexec -n 2 python -m mpi_es.train --env language_model:Text --held-out-env-options held_out=true \
        --policy language_model:Reader --policy-options width=128 --output clip \
        --strategy openai_es --noise low-rank --population-size 128 --init-sigma 0.05 \
        --num-rollouts 8 --episode-seeds common --eval-every 20 --num-eval-rollouts 128 \
        --envs-per-rank 32 --run-dir runs/reader

The text is this project's documentation, in 28 characters, of which the last tenth is held out. An episode
reads 100 characters; the reward of a step is the logarithm, to the base 2, of the probability that the
network gave the next one. So a return of -300 is 3 bits a character; guessing has 4.8.
"""

import re
from pathlib import Path

import numba
import numpy as np
from gymnasium import spaces
from torch import nn

from mpi_es.worlds import numpy_random, record

LETTERS = " abcdefghijklmnopqrstuvwxyz."
LENGTH = 100  # characters of an episode
DOCS = sorted((Path(__file__).parents[1] / "docs").glob("**/*.md"))


def _read():
    """Return the text as places in LETTERS: a space for what is no letter, a full stop for those that end."""
    text = " ".join(path.read_text(encoding="utf-8") for path in DOCS).lower()
    text = re.sub(r"[^a-z.]+", " ", text)
    return np.array([LETTERS.index(letter) for letter in re.sub(r"\.+", ".", text)], np.int8)


TEXT = _read()
HELD_OUT = len(TEXT) * 9 // 10  # where that part begins


class Text:
    """Observe a character, act with a score for each that may follow."""

    observation_space = spaces.Box(0, 1, (len(LETTERS),), np.float32)
    action_space = spaces.Box(-20, 20, (len(LETTERS),), np.float32)
    limit = LENGTH

    def __init__(self, held_out=False):
        first, last = (HELD_OUT, len(TEXT)) if held_out else (0, HELD_OUT)
        self.fresh = record(generator=numpy_random.allocate(), place=0, first=first, last=last - LENGTH - 1)
        self.reset, self.step, self.observe = reset, step, observe


@numba.njit
def reset(state, seed):
    numpy_random.begin_stream(state.generator, seed)
    state.place = state.first + numpy_random.integers(state.generator, state.last - state.first)


@numba.njit
def step(state, action):
    state.place += 1
    total = 0.0
    for score in action:
        total += np.exp(score)
    return (action[TEXT[state.place]] - np.log(total)) / np.log(2.0), False


@numba.njit
def observe(state, out):
    out[:] = 0.0
    out[TEXT[state.place]] = 1.0


class Reader(nn.Module):
    """A layer of gated recurrent units and a linear one."""

    def __init__(self, observation_space, action_space, width=64):
        super().__init__()
        self.units = nn.GRUCell(observation_space.shape[0], width)
        self.scores = nn.Linear(width, action_space.shape[0])

    def forward(self, observations, memory):
        """Return the scores and the memory; at an episode's start it is None."""
        memory = self.units(observations, memory)
        return self.scores(memory), memory

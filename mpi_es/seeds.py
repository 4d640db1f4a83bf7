"""Counter-based random numbers: a draw depends on (seed, stream, index…), not on who draws it."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Stream(IntEnum):
    """What a draw is for. The numbers are part of the file format: add, never renumber."""

    INITIAL = 0  # the initial mean
    SAMPLE = 1  # a strategy's population: (generation, batch); (0, 1) is the first direction of a search
    NOISE = 2  # counter-based perturbations: (key, block)
    EPISODE = 4  # episode seeds of training: (generation, batch)
    EVALUATION = 5  # episode seeds of the held-out evaluation, the same at each one
    FRESH = 6  # episode seeds that nothing in a run has ever used
    ACTION = 7  # action noise: (episode seed, candidate)
    SELECT = 8  # selection between members: (generation)
    EXPLORE = 9  # a member's exploration: (generation, member)
    SCORE = 10  # episode seeds that compare the members of a population: (generation)
    MEMBER = 11  # a member's training: (generation, member); generation 0 is its construction
    MODULE = 12  # what a user's torch module draws in an episode: (episode seed, candidate)
    RESTART = 13  # a strategy's starts: (start); with a second index 1 their sizes


# Episode seeds are int32, since some simulators take no more: half are for training, half are held out.
FIRST_HELD_OUT_SEED = 2**30


def rng(seed: int, stream: Stream, *index: int) -> np.random.Generator:
    """Return a fresh generator that depends on its arguments only; at most three indices."""
    # Philox counts its blocks in the lowest of four words, so the other three are ours.
    counter = [0, 0, 0, 0]
    counter[1 : 1 + len(index)] = index
    assert len(counter) == 4, "at most three indices"
    return np.random.Generator(np.random.Philox(key=[seed, int(stream)], counter=counter))


def training_seeds(
    seed: int, generation: int, popsize: int, episodes: int, sharing: str, batch: int = 0
) -> NDArray[np.int64]:
    """Return the episode seeds (popsize, episodes) of a generation.

    Args:
        sharing: "independent" seeds for each candidate, "common" ones for all, or "paired": candidates
            2i and 2i+1, which mirror each other, share.
        batch: of a generation whose population grows; common seeds are common to all batches.
    """
    rows = {"independent": popsize, "paired": (popsize + 1) // 2, "common": 1}[sharing]
    own = 0 if sharing == "common" else batch
    drawn = rng(seed, Stream.EPISODE, generation, own).integers(0, FIRST_HELD_OUT_SEED, size=(rows, episodes))
    return np.repeat(drawn, -(-popsize // rows), axis=0)[:popsize]


def held_out_seeds(seed: int, episodes: int, stream: Stream = Stream.EVALUATION) -> NDArray[np.int64]:
    """Return `episodes` seeds that training never draws; more episodes extend the same sequence."""
    return rng(seed, stream).integers(FIRST_HELD_OUT_SEED, 2 * FIRST_HELD_OUT_SEED, size=episodes)

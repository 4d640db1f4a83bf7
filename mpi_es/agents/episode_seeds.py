"""The episode seeds of an evaluation, as --seeds names them."""

import re

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.seeds import Stream, held_out_seeds

MOST_EPISODES = 1_000_000  # of one evaluation, which rank 0 holds in memory


def check_episodes(episodes: int, seeds: str) -> None:
    """Refuse a number of episodes, and words for their seeds, that no evaluation can have."""
    whole = isinstance(episodes, int | np.integer) and not isinstance(episodes, bool)
    if not (whole and 1 <= episodes <= MOST_EPISODES):
        raise expected("--episodes", f"a whole number from 1 to {MOST_EPISODES}", episodes)
    if not re.fullmatch(r"held-out|fresh|\d+(-\d+)?(,\d+(-\d+)?)*", seeds):
        raise expected("--seeds", "held-out, fresh or numbers such as 0-99,200", seeds)
    ranges = seed_ranges(seeds)
    if any(first > last or last >= 2**31 for first, last in ranges):
        raise expected("--seeds", "ascending ranges below 2147483648", seeds)
    if (count := sum(last - first + 1 for first, last in ranges)) > MOST_EPISODES:
        raise expected("--seeds", f"at most {MOST_EPISODES} seeds", count)


def seed_ranges(seeds: str) -> list[tuple[int, int]]:
    """Return the first and the last seed of each range; none for held-out and fresh."""
    parts = [part.split("-") for part in seeds.split(",") if seeds[0].isdigit()]
    return [(int(ends[0]), int(ends[-1])) for ends in parts]


def chosen_seeds(seeds: str, episodes: int, seed: int) -> NDArray[np.int64]:
    """Return the seeds (episodes,) that a value of --seeds names.

    Args:
        seed: of the run.
    """
    if seeds == "held-out":
        return held_out_seeds(seed, episodes)
    if seeds == "fresh":
        return held_out_seeds(seed, episodes, Stream.FRESH)
    return np.concatenate([np.arange(first, last + 1) for first, last in seed_ranges(seeds)])

"""Units of work and headers of small evaluations."""

import numpy as np

from mpi_es.evaluation.header import Header
from mpi_es.evaluation.rollout import Terms


def header(episodes, unplayed=9, candidates=9):
    """The header of an evaluation."""
    return Header(1, candidates, episodes, unplayed, Terms(), True, 0, 4, units_at_once=4)


def units(*numbers):
    """Units with the episode seeds 100, 101 …"""
    return np.array([[unit, 100 + i] for i, unit in enumerate(numbers)], np.int64).reshape(-1, 2)

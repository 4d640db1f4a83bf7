"""Headers of small evaluations."""

import numpy as np

from mpi_es.evaluation.header import Header
from mpi_es.evaluation.rollout import Terms


def header(episodes, unplayed=9, units=9):
    """The header of an evaluation of nine units with the episode seeds 100, 101 …"""
    seeds = 100 + np.arange(units).reshape(-1, episodes)
    return Header(1, seeds, unplayed, Terms(), episodes_side_by_side=4, units_at_once=4)

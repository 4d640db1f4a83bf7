"""Headers of small evaluations."""

import numpy as np

from mpi_es.evaluation.messages import Header
from mpi_es.evaluation.rollout import EpisodeRules


def header(episodes, unplayed=9, units=9):
    """The header of an evaluation of nine units with the episode seeds 100, 101 …"""
    seeds = 100 + np.arange(units).reshape(-1, episodes)
    return Header(1, seeds, unplayed, EpisodeRules(), episodes_side_by_side=4, units_at_once=4)

"""Headers of small evaluations."""

import numpy as np

from mpi_es.evaluation.messages import Header
from mpi_es.evaluation.rollout import EpisodeRules


def header(episodes, unplayed=9, total=9):
    """Return the header of an evaluation of nine episodes with the episode seeds 100, 101 …"""
    seeds = 100 + np.arange(total).reshape(-1, episodes)
    return Header(1, seeds, unplayed, EpisodeRules(), episodes_side_by_side=4, episodes_at_once=4)

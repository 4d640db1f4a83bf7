import numpy as np

from mpi_es.seeds import FIRST_HELD_OUT_SEED
from pbt.config import Config
from pbt.population.population import score_seeds


def test_members_are_scored_on_seeds_that_no_held_out_episode_has():
    first, second = (score_seeds(Config(num_rollouts=500), generation) for generation in (1, 2))
    assert max(first.max(), second.max()) < FIRST_HELD_OUT_SEED
    assert not np.intersect1d(first, second).size

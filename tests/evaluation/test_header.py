from dataclasses import astuple

import numpy as np
import pytest

from mpi_es.evaluation import header
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.strategies.base import Dense, Seeded
from mpi_es.strategies.noise import ComputedNoise

ROWS = np.random.default_rng(0).normal(size=(3, 2))


def job(**changes):
    numbers = dict.fromkeys(header.Job.__dataclass_fields__, 0) | {"candidates": 3, "episodes": 2, "left": 6}
    return header.Job(**numbers | changes)


def test_a_header_comes_back_from_its_numbers_with_its_types():
    sent = job(number=7, sigma=0.25, action_noise=0.5, width=4)
    received = header.Job.received(np.array(astuple(sent), float))
    assert received == sent
    assert (type(received.width), type(received.sigma)) == (int, float)


def test_beyond_a_population_lies_its_centre():
    mean, noise = np.array([5.0, 6.0]), ComputedNoise(1, 2)
    dense = header.find(Dense(ROWS), mean, None)
    np.testing.assert_array_equal(dense(2), ROWS[2].astype(np.float32))
    np.testing.assert_array_equal(dense(3), mean)
    population = Seeded(mean.astype(np.float32), 0.1, noise.keys(0, 2))
    seeded = header.find(population, mean, noise)
    np.testing.assert_array_equal(seeded(1), population.candidate(1, noise))
    np.testing.assert_array_equal(seeded(4), mean)
    assert header.find(None, mean, noise) is None


def test_a_share_of_what_is_left_has_its_seeds_and_candidates():
    left, seeds = np.array([1, 2, 5]), np.arange(100, 106).reshape(3, 2)
    lookup = header.find(Dense(ROWS), None, None)
    source = header.static_source(SerialComm(), job(left=3), 2, lookup, left, seeds, StopFlag())
    episodes = list(iter(lambda: source.take(block=True), None))
    assert [(e.unit, e.candidate, e.seed) for e in episodes] == [(1, 0, 101), (2, 1, 102), (5, 2, 105)]
    np.testing.assert_array_equal([e.parameters for e in episodes], ROWS.astype(np.float32))


def test_rows_stand_where_candidate_and_episode_do_and_none_may_lack():
    rows = np.stack([np.arange(6.0), 10 * np.arange(6.0), [3, 0, 5, 1, 0, 2]], axis=1)
    found = header.arranged(job(), rows, -0.1)
    assert found.returns.tolist() == [[0, 10], [20, 30], [40, 50]]
    assert (found.lengths.tolist(), found.played, found.idle) == ([[3, 0], [5, 1], [0, 2]], 4, 0.0)
    with pytest.raises(AssertionError, match="every unit once"):
        header.arranged(job(), rows[[0, 1, 2, 3, 4, 4]], 0.0)

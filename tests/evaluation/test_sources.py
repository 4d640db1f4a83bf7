import numpy as np
import pytest

from mpi_es.evaluation.header import Work
from mpi_es.evaluation.sources import StaticSource, static_source
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.strategies.base import Dense
from tests.evaluation.units import header, units


def taken(source):
    """All episodes of a source."""
    return list(iter(lambda: source.take(block=True), None))


def test_a_share_is_its_units_with_their_candidates():
    rows = np.arange(8.0).reshape(4, 2)
    source = StaticSource(header(2), units(3, 4, 7), rows.__getitem__, StopFlag())
    episodes = taken(source)
    assert [(e.unit, e.candidate, e.seed) for e in episodes] == [(3, 1, 100), (4, 2, 101), (7, 3, 102)]
    np.testing.assert_array_equal(episodes[0].parameters, rows[1])


def test_an_empty_share_gives_nothing():
    source = StaticSource(header(2), units(), lambda candidate: None, StopFlag())
    assert taken(source) == []


def test_a_share_is_given_up_at_a_signal():
    flag = StopFlag()
    source = StaticSource(header(1), units(0), lambda candidate: None, flag)
    source.poll()
    flag.name = "SIGUSR1"
    with pytest.raises(Stopped):
        source.poll()


def test_a_share_of_what_is_unplayed_has_its_seeds_and_candidates():
    rows = np.random.default_rng(0).normal(size=(3, 2))
    work = Work(Dense(rows), units(1, 2, 5))
    source = static_source(SerialComm(), header(2, 3), work, 2, work.population.candidate, StopFlag())
    episodes = taken(source)
    assert [(e.unit, e.candidate, e.seed) for e in episodes] == [(1, 0, 100), (2, 1, 101), (5, 2, 102)]
    np.testing.assert_array_equal([e.parameters for e in episodes], rows.astype(np.float32))

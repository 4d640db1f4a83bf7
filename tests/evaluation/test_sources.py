import numpy as np
import pytest

from mpi_es.evaluation.sources import StaticSource
from mpi_es.parallel.stop_signal import StopFlag, Stopped


def taken(source):
    """All episodes of a source."""
    return list(iter(lambda: source.take(block=True), None))


def test_a_share_is_its_units_with_their_candidates():
    rows = np.arange(8.0).reshape(4, 2)
    source = StaticSource(np.array([3, 4, 7]), np.array([70, 71, 72]), 2, rows.__getitem__, StopFlag())
    episodes = taken(source)
    assert [(e.unit, e.candidate, e.seed) for e in episodes] == [(3, 1, 70), (4, 2, 71), (7, 3, 72)]
    np.testing.assert_array_equal(episodes[0].parameters, rows[1])


def test_an_empty_share_gives_nothing():
    source = StaticSource(np.zeros(0, np.int64), np.zeros(0, np.int64), 2, lambda candidate: None, StopFlag())
    assert taken(source) == []


def test_a_share_is_given_up_at_a_signal():
    flag = StopFlag()
    source = StaticSource(np.zeros(1, np.int64), np.zeros(1, np.int64), 1, lambda candidate: None, flag)
    source.poll()
    flag.name = "SIGUSR1"
    with pytest.raises(Stopped):
        source.poll()

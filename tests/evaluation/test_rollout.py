import numpy as np
import pytest

from mpi_es.evaluation.rollout import EpisodeRules, Source, columns, shortest
from mpi_es.parallel.stop_signal import StopFlag, Stopped


@pytest.mark.parametrize(("limits", "steps"), [((5, 3), 3), ((0, 3), 3), ((5, 0), 5), ((0, 0), 0), ((), 0)])
def test_the_shortest_limit_of_those_that_there_are(limits, steps):
    assert shortest(*limits) == steps


def test_a_row_holds_constraints_or_the_sums_of_the_observations():
    assert columns(EpisodeRules(), 4) == 3
    assert columns(EpisodeRules(), 0, constraints=2) == 5
    normalisation = np.zeros((2, 4))
    assert columns(EpisodeRules(normalisation=normalisation, collect=True), 4) == 12


def test_a_source_without_episodes_ends_where_it_is_told_to():
    source = Source()
    assert source.take(block=True) is None
    source.poll()
    source.stop = StopFlag()
    source.poll()
    source.stop.name = "SIGTERM"
    with pytest.raises(Stopped):
        source.poll()

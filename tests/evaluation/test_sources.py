import numpy as np

from mpi_es.evaluation.sources import static_source
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file.records import EvaluationProgress
from tests.evaluation.headers import header


def taken(source):
    """All episodes of a source."""
    return list(iter(lambda: source.take(block=True), None))


def shared(episode_ids, lookup, stop=None, progress=None):
    """The source of a rank that is alone, of nine episodes with two episodes a candidate."""
    episode_ids, stop = np.array(episode_ids, np.int64), stop or StopFlag()
    progress = progress or EvaluationProgress()
    return static_source(
        SerialComm(), header(2, len(episode_ids), 10), episode_ids, 2, lookup, stop, progress
    )


def test_a_share_is_its_units_with_their_candidates_and_seeds():
    rows = np.random.default_rng(0).normal(size=(5, 2))
    episodes = taken(shared([3, 4, 7], rows.__getitem__))
    assert [(e.episode_id, e.candidate, e.seed) for e in episodes] == [(3, 1, 103), (4, 2, 104), (7, 3, 107)]
    np.testing.assert_array_equal([e.parameters for e in episodes], rows[1:4].astype(np.float32))


def test_an_empty_share_gives_nothing():
    assert taken(shared([], lambda candidate: None)) == []


def test_progress_counts_the_share():
    progress = EvaluationProgress()
    source = shared([1, 2, 5], lambda candidate: np.zeros(2), progress=progress)
    source.done(1, 12)
    assert (progress.done, progress.total, progress.share) == (1, 3, False)

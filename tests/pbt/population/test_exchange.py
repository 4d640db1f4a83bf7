from pathlib import Path

import pytest

from mpi_es.parallel.collectives import SerialComm
from pbt.population.exchange import broadcasts, exchange
from tests.pbt.population.exchanging import made

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "ranks", [3, pytest.param(5, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow)]
)
def test_both_ways_bring_every_buffer_to_who_copies_it(launch, ranks):
    done = launch(ranks, "-m", "tests.pbt.population.exchanging", cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all arrived\n", "")


def test_on_one_rank_nothing_travels():
    got = exchange(SerialComm(), {1: made(1), 2: made(2)}, [2, 2, 2], [0, 0, 0], "auto")
    assert list(got) == [2]


def test_a_state_that_very_many_want_is_broadcast():
    assert not broadcasts([(0, rank) for rank in range(1, 33)])
    assert broadcasts([(0, rank) for rank in range(1, 34)])

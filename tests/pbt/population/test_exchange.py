import pytest

from mpi_es.parallel.collectives import SerialComm
from pbt.population.exchange import exchange
from tests.launching import ROOT
from tests.pbt.population.exchanging import made


@pytest.mark.parametrize(
    "ranks", [3, pytest.param(5, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow)]
)
def test_every_buffer_arrives(launch, ranks):
    done = launch(ranks, "-m", "tests.pbt.population.exchanging", cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all arrived\n", "")


def test_one_rank_keeps_its_buffers():
    got = exchange(SerialComm(), {1: made(1), 2: made(2)}, [2, 2, 2], [0, 0, 0])
    assert list(got) == [2]

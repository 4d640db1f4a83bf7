import pytest

from mpi_es.parallel.collective_errors import all_or_raise
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import Stopped
from pbt.population.population import ENDINGS
from tests.launching import ROOT
from tests.parallel.agreeing import raising


def test_all_ranks_raise_the_worst_kind_with_the_text_of_its_first_rank(launch):
    outcomes = {
        "none none none": "0, 1, 2",
        "none none diverged": "Diverged: 2",
        "stopped none diverged": "Stopped: 0",
        "diverged failed failed": "MemberFailed: 1",
    }
    done = launch(3, "-m", "tests.parallel.agreeing", *outcomes, cwd=ROOT)
    assert (done.returncode, done.stdout.splitlines()) == (0, [*outcomes.values()]), done.stderr


def test_one_rank_raises_its_own_exception():
    with pytest.raises(Stopped):
        all_or_raise(SerialComm(), lambda: raising("stopped", 0), ENDINGS)
    assert all_or_raise(SerialComm(), lambda: raising("none", 7), ENDINGS) == 7

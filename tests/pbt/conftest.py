"""What tests of populations share."""

import signal

import pytest

from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import CAUGHT
from mpi_es.run_file import checkpoint
from pbt import train


@pytest.fixture(autouse=True)
def _own_signals():
    """Give signals back that a run in this process caught."""
    before = {number: signal.getsignal(number) for number in CAUGHT}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def trained():
    """Return a function that trains in this process and returns what the run's file then holds."""

    def run(directory, *arguments):
        quiet = ("--console", "silent", "--no-tensorboard", "--run-dir", directory)
        assert train.main(SerialComm(), [str(word) for word in (*arguments, *quiet)]) == 0
        return checkpoint.load(directory)[0]

    return run

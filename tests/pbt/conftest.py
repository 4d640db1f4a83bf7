"""What tests of populations share."""

import pytest

from mpi_es.run_file import checkpoint
from pbt import train
from tests.launching import run_here


@pytest.fixture
def trained():
    """Return a function that trains in this process and returns what the run's file then holds."""

    def run(directory, *arguments):
        quiet = ("--console", "silent", "--no-tensorboard", "--run-dir", directory)
        run_here(train, *arguments, *quiet)
        return checkpoint.load(directory)[0]

    return run

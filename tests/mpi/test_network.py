"""Ranks that meet over the network, as on several nodes, and not through the memory of one."""

import os

import pytest

from mpi_es import train
from tests.launching import ROOT, assert_same, run_here
from tests.mpi.test_exactness import EVALUATION, QUIET, SETTINGS, SMALL

OVER_NETWORK = os.environ | {"MPIR_CVAR_NOLOCAL": "1"}  # MPICH then takes every rank for a node of its own


@pytest.mark.parametrize(
    ("strategy", "dispatch"),
    [
        ("cma_es", "dynamic"),
        pytest.param("openai_es", "dynamic", marks=pytest.mark.slow),
        pytest.param("cma_es", "static", marks=pytest.mark.slow),
    ],
)
def test_a_run_over_the_network_is_the_same_run(launch, exact, tmp_path, strategy, dispatch):
    settings = (*SMALL, *EVALUATION, *SETTINGS[strategy])
    options, run = (*QUIET, *settings, "--max-iter", 6), tmp_path / "run"
    run_here(train, *options, "--run-dir", tmp_path / "serial")
    done = launch(
        4, "-m", "mpi_es.train", *options, "--dispatch", dispatch, "--run-dir", run, env=OVER_NETWORK
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(exact(run), exact(tmp_path / "serial"))


def test_states_of_members_arrive_over_the_network(launch):
    done = launch(4, "-m", "tests.pbt.population.exchanging", cwd=ROOT, env=OVER_NETWORK)
    assert done.stdout == "all arrived\n", done.stderr

"""Ranks that meet over the network, as on several nodes, and not through the memory of one."""

import os
from pathlib import Path

import pytest

from tests.launching import assert_same
from tests.mpi.test_exactness import EVALUATION, QUIET, SETTINGS, SMALL

ROOT = Path(__file__).parents[2]
OVER_NETWORK = os.environ | {"MPIR_CVAR_NOLOCAL": "1"}  # MPICH then takes every rank for a node of its own


@pytest.mark.parametrize(
    ("strategy", "dispatch"),
    [
        ("cma_es", "dynamic"),
        pytest.param("table", "dynamic", marks=pytest.mark.slow),
        pytest.param("cma_es", "static", marks=pytest.mark.slow),
    ],
)
def test_a_run_over_the_network_is_the_same_run(launch, exact, tmp_path, strategy, dispatch):
    settings = (*SMALL, *EVALUATION, *SETTINGS[strategy])
    options = ("-m", "mpi_es.train", *QUIET, *settings, "--max-iter", 6)
    assert launch(0, *options, "--run-dir", tmp_path / "serial").returncode == 0
    run = tmp_path / "run"
    done = launch(4, *options, "--dispatch", dispatch, "--run-dir", run, env=OVER_NETWORK)
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(exact(run), exact(tmp_path / "serial"))


def test_states_of_members_arrive_over_the_network(launch):
    done = launch(4, "-m", "tests.pbt.population.exchanging", cwd=ROOT, env=OVER_NETWORK)
    assert done.stdout == "all arrived\n", done.stderr

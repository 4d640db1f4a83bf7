import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_es import doctor
from mpi_es.diagnosis.job import Finding
from tests.launching import LIMIT

ROOT = Path(__file__).parents[1]
MPIEXEC = Path(sys.executable).with_name("mpiexec")
FAILING = """
import sys
from mpi_es import doctor
doctor._examine_hosts = lambda comm, node: 1 / 0
sys.exit(doctor.launch())
"""


def test_what_a_rank_did_not_foresee_ends_the_others_too(launch):
    done = launch(2, "-c", FAILING)
    assert done.returncode != 0
    assert "ZeroDivisionError" in done.stderr


def test_merge_tells_the_worst_and_where():
    good, bad = Finding("memory", "ok", "much"), Finding("memory", "fail", "none", "buy some")
    assert doctor.merge([("a", [good]), ("b", [good])]) == [good]
    assert doctor.merge([("a", [good]), ("b", [bad])]) == [Finding("memory", "fail", "b: none", "buy some")]
    assert doctor.merge([("a", [bad]), ("b", [bad])]) == [bad]


def run_doctor(*arguments, launch=(), **environ):
    bare = {
        name: value for name, value in os.environ.items() if not name.startswith(("PMI", "OMPI", "SLURM"))
    }
    return subprocess.run(
        [*map(str, launch), sys.executable, "-m", "mpi_es.doctor", *map(str, arguments)],
        cwd=ROOT,
        env=bare | environ,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def test_serially(tmp_path):
    ended = run_doctor(tmp_path)
    lines = ended.stdout.splitlines()
    assert ended.returncode == 0
    assert lines[0].startswith("ok   MPI            no launcher, one world of 1 rank")
    assert sum(line.startswith("ok") for line in lines) >= 10
    assert lines[-1].startswith("0 failed")


@pytest.mark.skipif(not MPIEXEC.exists(), reason="the mpich wheel is not installed")
def test_under_mpiexec_it_speaks_once(tmp_path):
    ended = run_doctor(tmp_path, launch=(MPIEXEC, "-n", 2))
    assert ended.returncode == 0
    assert ended.stdout.count(" HDF5 ") == 1
    assert "mpiexec of MPICH, one world of 2 ranks" in ended.stdout
    assert "written and read by 2 ranks of a host" in ended.stdout


def test_a_wrong_launcher_fails(tmp_path):
    ended = run_doctor(tmp_path, OMPI_COMM_WORLD_SIZE="4")
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    assert (
        "fail MPI            expected one world of the 4 ranks that mpiexec of Open MPI started" in lines[0]
    )
    assert "start it with" in lines[1]


def test_a_run_directory_that_cannot_be_written_fails(unwritable):
    ended = run_doctor(unwritable)
    assert ended.returncode == 1
    assert f"fail HDF5           {unwritable}: Not a directory" in ended.stdout


def test_a_mistake_in_the_arguments():
    ended = run_doctor("--no-such-option")
    assert ended.returncode == 2
    assert "unrecognized arguments" in ended.stderr


def test_an_environment_is_looked_at_if_it_is_named(launch):
    words = ("-m", "mpi_es.doctor", "--env", "CartPole-v1", "--policy", "gru")
    (line,) = [one for one in launch(2, *words).stdout.splitlines() if "environment" in one]
    assert line.startswith("ok   environment    CartPole-v1: two episodes of one seed are equal")

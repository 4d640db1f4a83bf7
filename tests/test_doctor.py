import os

from mpi_es import doctor
from mpi_es.diagnosis.job import Finding
from tests.launching import ROOT

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


def examine(launch, ranks, *arguments, **environ):
    """Return the exit code and the lines of the doctor, where no launcher but mpiexec is known."""
    launched = ("PMI", "OMPI", "SLURM")
    bare = {name: value for name, value in os.environ.items() if not name.startswith(launched)}
    done = launch(ranks, "-m", "mpi_es.doctor", *arguments, cwd=ROOT, env=bare | environ)
    return done.returncode, (done.stdout or done.stderr).splitlines()


def test_alone_where_the_run_directory_cannot_be_written(launch, unwritable):
    code, lines = examine(launch, 0, unwritable)
    assert code == 1
    assert lines[0].startswith("ok   MPI            no launcher, one world of 1 rank")
    assert sum(line.startswith("ok") for line in lines) >= 9
    assert any(line.startswith(f"fail HDF5           {unwritable}: Not a directory") for line in lines)


def test_under_mpiexec_it_speaks_once_and_looks_at_an_environment_that_is_named(launch, tmp_path):
    code, lines = examine(launch, 2, tmp_path, "--env", "CartPole-v1", "--policy", "gru")
    assert (code, sum(" HDF5 " in line for line in lines)) == (0, 1)
    for words in (
        "mpiexec of MPICH, one world of 2 ranks",
        "ok   environment    CartPole-v1: two episodes of one seed are equal",
    ):
        assert words in "\n".join(lines)
    assert lines[-1].startswith("0 failed")


def test_a_policy_that_does_not_exist_is_a_finding(launch, tmp_path):
    code, lines = examine(launch, 2, tmp_path, "--env", "CartPole-v1", "--policy", "mlpp")
    assert code == 1
    assert any(line.startswith("fail environment    --policy: expected one of") for line in lines)


def test_a_wrong_launcher_fails(launch, tmp_path):
    code, lines = examine(launch, 0, tmp_path, OMPI_COMM_WORLD_SIZE="4")
    assert code == 1
    rule = "expected one world of the 4 ranks that mpiexec of Open MPI started"
    assert lines[0].startswith(f"fail MPI            {rule}")
    assert "start it with" in lines[1]


def test_a_mistake_in_the_arguments(launch):
    code, lines = examine(launch, 0, "--no-such-option")
    assert (code, "unrecognized arguments" in lines[-1]) == (2, True)

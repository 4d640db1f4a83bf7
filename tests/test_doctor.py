import fcntl
import math
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_es import doctor
from mpi_es.diagnosis import job, memory_and_files
from mpi_es.diagnosis.job import Finding
from mpi_es.parallel.collectives import SerialComm

ROOT = Path(__file__).parents[1]
MPIEXEC = Path(sys.executable).with_name("mpiexec")
JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "4"}
HELPERS = JOB | {"SLURM_NTASKS": "2", "SLURM_EXTERNAL_LAUNCHER": "1"}  # as below mpiexec in a job


@pytest.fixture
def unwritable(tmp_path):
    """A directory that not even root can make."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "below"


# The job


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
        (ranks(*[{0, 1, 2, 3}] * 5), math.inf, "5 ranks on 4 cores of a", "at most 4 ranks a node"),
        (ranks(*[{0, 1, 2, 3}] * 4), 1.5, "4 ranks on 1.5 cores of a", "at most 1 rank a node"),
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


@pytest.mark.parametrize(
    ("count", "ranks", "status"), [(1, 8, "ok"), (4, 1, "ok"), (4, 2, "warn"), (8, 1, "warn")]
)
def test_threads(count, ranks, status):
    pools = [{"prefix": "libgomp", "num_threads": count}, {"prefix": "libopenblas", "num_threads": 1}]
    finding = job.threads({}, pools, ranks, cores=4)
    assert finding.status == status
    assert finding.seen == f"libgomp {count}, libopenblas 1, OMP_NUM_THREADS not set"
    assert ("OMP_NUM_THREADS=1" in finding.remedy) == (status == "warn")


def test_versions():
    assert f"pytest {pytest.__version__}" in job.versions(["pytest"]).seen
    assert job.versions(["pytest", "no-such-library"]).status == "fail"


def test_requirements_are_those_of_the_project():
    names = job.requirements(ROOT / "pyproject.toml")
    assert {"mpi4py", "gymnasium", "torch"} <= set(names)
    assert "pytest" not in names


# Memory and files


def test_shared_memory(tmp_path, unwritable):
    assert memory_and_files.shared_memory(tmp_path, ranks=2).status == "ok"
    assert memory_and_files.shared_memory(tmp_path, ranks=10**9).status == "warn"
    assert memory_and_files.shared_memory(unwritable, ranks=2).status == "fail"


def test_a_segment_that_goes_away_meanwhile_is_none(tmp_path):
    (tmp_path / "mpich_shm_gone").symlink_to(tmp_path / "nowhere")
    assert memory_and_files.leftovers(tmp_path).status == "ok"


FAILING = """
import sys
from mpi_es import doctor
doctor._thread_pools = lambda: 1 / 0
sys.exit(doctor.launch())
"""


def test_what_a_rank_did_not_foresee_ends_the_others_too(launch):
    done = launch(2, "-c", FAILING)
    assert done.returncode != 0
    assert "ZeroDivisionError" in done.stderr


def test_leftovers_are_segments_that_nobody_maps(tmp_path):
    dead, live = tmp_path / "mpich_shm_dead", tmp_path / "sm_segment.live"
    live.write_bytes(bytes(mmap.PAGESIZE))
    assert memory_and_files.leftovers(tmp_path).status == "warn"
    with live.open("r+b") as file, mmap.mmap(file.fileno(), 0):
        assert memory_and_files.leftovers(tmp_path).status == "ok"
        dead.write_bytes(bytes(3 * 2**20))
        (tmp_path / "another").touch()
        finding = memory_and_files.leftovers(tmp_path)
    assert finding == Finding("leftovers", "warn", "1 abandoned segment, 3 MiB", f"rm {dead}")


def test_a_window_that_cannot_be_allocated():
    def allocate(*args, **kwargs):
        raise MemoryError("no\nroom")

    finding = memory_and_files.window(SerialComm(), allocate)
    assert (finding.status, finding.seen) == ("fail", "no room")


def test_hdf5_write_leaves_nothing_behind(tmp_path, unwritable):
    assert memory_and_files.hdf5_write(tmp_path / "runs" / "new").status == "ok"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    finding = memory_and_files.hdf5_write(unwritable)
    assert finding.status == "fail"
    assert "--run-dir" in finding.remedy


def test_file_lock(tmp_path, unwritable, monkeypatch):
    assert memory_and_files.file_lock(tmp_path).status == "ok"
    assert memory_and_files.file_lock(unwritable).status == "fail"
    monkeypatch.setattr(fcntl, "flock", lambda file, how: None)  # as on a file system without locks
    assert memory_and_files.file_lock(tmp_path).seen == "a file can be locked twice"


@pytest.mark.parametrize(
    ("kind", "status"), [("ext4", "ok"), ("lustre", "ok"), ("tmpfs", "warn"), ("nfs4", "warn")]
)
def test_file_system(tmp_path, kind, status):
    mounts = f"/dev/a / xfs rw 0 0\n/dev/b {tmp_path} overlay rw 0 0\n/dev/c {tmp_path} {kind} rw 0 0\n"
    finding = memory_and_files.file_system(tmp_path / "runs", mounts)
    assert finding.seen.startswith(f"{kind}, ")
    assert finding.status == status


def test_a_full_file_system(tmp_path, monkeypatch):
    usage = memory_and_files.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(memory_and_files.shutil, "disk_usage", lambda path: usage._replace(free=5))
    assert "make room" in memory_and_files.file_system(tmp_path, "/dev/a / ext4 rw 0 0").remedy


def test_numba_cache(tmp_path, unwritable):
    nowhere = {"XDG_CACHE_HOME": str(unwritable)}
    assert memory_and_files.numba_cache(nowhere, tmp_path).seen == str(tmp_path / "__pycache__")
    assert memory_and_files.numba_cache({"XDG_CACHE_HOME": str(tmp_path)}, unwritable).seen == str(
        tmp_path / "numba"
    )
    given = nowhere | {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert memory_and_files.numba_cache(given, unwritable).seen == str(tmp_path)
    finding = memory_and_files.numba_cache(nowhere, unwritable)
    assert finding.status == "fail"
    assert "NUMBA_CACHE_DIR" in finding.remedy


# The program


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
        timeout=120,
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

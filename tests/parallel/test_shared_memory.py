import re
import subprocess
import sys

import pytest

from mpi_es.parallel import shared_memory
from tests.launching import MPIEXEC, call

TRAIN = [sys.executable, "-m", "mpi_es.train", "--env", "CartPole-v1", "--max-iter", "1", "--hidden", "4"]
MAY_MOUNT = subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode == 0
NEEDS_ROOT = pytest.mark.skipif(not MAY_MOUNT, reason="this user, or this container, may not mount")


def in_shared_memory_of(size, *command, filled=0):
    """Run a command where /dev/shm is a file system of this size, which nobody else sees.

    Args:
        filled: KiB of another file there.
    """
    script = f"mount -t tmpfs -o size={size} tmpfs /dev/shm && head -c {filled}k /dev/zero >/dev/shm/file"
    script += ' && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", script, "sh", *command]
    return call(*words)


@NEEDS_ROOT
def test_mpi_starts_in_what_is_said_to_be_needed():
    program = "from mpi_es.parallel.start_mpi import connect; import os; connect(os.environ)"
    room = shared_memory.needed(3)
    done = in_shared_memory_of(room, MPIEXEC, "-n", 3, sys.executable, "-c", program)
    assert (done.returncode, done.stderr) == (0, "")


@NEEDS_ROOT
def test_a_shared_memory_in_which_one_rank_cannot_start_is_one_line(tmp_path):
    done = in_shared_memory_of("64k", *TRAIN, "--run-dir", tmp_path / "run")
    got = "error: MPI: expected 1.039 MiB for 1 rank in /dev/shm, got 0.0625 MiB; "
    assert (done.returncode, done.stderr) == (2, got + shared_memory.REMEDY + "\n")


@NEEDS_ROOT
def test_a_shared_memory_in_which_seven_ranks_cannot_start_is_one_line(tmp_path):
    done = in_shared_memory_of("4m", MPIEXEC, "-n", 7, *TRAIN, "--run-dir", tmp_path / "run")
    assert done.returncode == 2
    assert re.findall("^error: .*", done.stderr, re.MULTILINE) == [
        f"error: MPI: expected 7.086 MiB for 7 ranks in /dev/shm, got 4 MiB; {shared_memory.REMEDY}"
    ]
    assert "Bus error" not in done.stdout + done.stderr


@NEEDS_ROOT
def test_leftovers_that_fill_it_are_one_line_too(tmp_path):
    command = (MPIEXEC, "-n", 3, *TRAIN, "--run-dir", tmp_path / "run")
    done = in_shared_memory_of("8m", *command, filled=7000)
    assert done.returncode == 2
    assert "error: MPI: expected 3.055 MiB for 3 ranks in /dev/shm, got 1.164 MiB; remove" in done.stderr


@NEEDS_ROOT
def test_the_doctor_knows_a_shared_memory_that_is_too_small():
    done = in_shared_memory_of("64k", sys.executable, "-m", "mpi_es.doctor")
    assert done.returncode == 1
    assert re.search(r"^fail +MPI +expected 1.039 MiB for 1 rank in /dev/shm, got 0.0625", done.stdout, re.M)
    assert re.search(r"^fail +shared memory +.*free in /dev/shm", done.stdout, re.M)


def test_no_such_directory_and_one_without_a_limit_are_left_to_mpi(tmp_path):
    assert shared_memory.check({}, tmp_path / "absent") is None
    assert shared_memory.room(tmp_path / "absent") == float("inf")


def test_what_the_ranks_beside_have_just_taken_counts_as_free(tmp_path):
    (tmp_path / "mpich_shm_1234abcd_0").write_bytes(bytes(2**16))
    left_over = tmp_path / "mpich_shm_abcd1234_0"
    left_over.write_bytes(bytes(2**16))
    assert shared_memory._taken_just_now(tmp_path) == 2 * 2**16
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_memory.time, "time", lambda: left_over.stat().st_ctime + 100)
        assert shared_memory._taken_just_now(tmp_path) == 0

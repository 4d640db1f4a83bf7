"""Scripts whose ranks all make a call; where they do not agree any more, none waits for ever."""

import re
import sys
from pathlib import Path

import pytest

from mpi_es.parallel import script_api
from tests.faults.survivors import OPEN_MPI, environ_of_open_mpi
from tests.launching import call

SCRIPT = """
import sys
from mpi_es.errors import UserError
from mpi_es.parallel.script_api import RunStopped, Ranks, on_all_ranks
how, ranks = sys.argv[1], Ranks()
def work(ranks):
    if how == "mistake":
        raise UserError("x0: expected numbers")
    if how == "stopped":
        raise RunStopped(0)
    if how == "bug in a call" and ranks.comm.rank == ranks.comm.size - 1:
        raise ValueError("broken")
    if ranks.comm.size > 1:
        ranks.comm.barrier()
    return ranks.comm.rank
for _ in range(2):
    result = on_all_ranks(work, ranks)
assert result == ranks.comm.rank
if how == "bug after it" and ranks.comm.rank == ranks.comm.size - 1:
    raise ValueError("broken")
if how == "bug after it":
    ranks.comm.barrier()  # for ever
if how == "caught":
    how = "mistake"
    try:
        on_all_ranks(work, ranks)
    except UserError:
        pass
    how = ""
    on_all_ranks(work, ranks)
if how == "on two ranks" and ranks.comm.rank != 1:
    on_all_ranks(work, ranks)
if how == "within another":
    on_all_ranks(lambda ranks: on_all_ranks(work, ranks), ranks)
if how == "again on two ranks" and ranks.comm.rank != 0:
    for _ in range(2):
        try:
            on_all_ranks(work, ranks)
        except UserError as error:
            assert "on rank 0" in str(error)
if how == "own code":
    sys.exit(3)
if how.startswith("finalized"):
    from mpi4py import MPI
    MPI.Finalize()
    assert how == "finalized"
sys.stdout.write("done\\n")
"""


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("caught", 0, ""),
        ("finalized", 0, ""),
        ("stopped", 0, ""),
        ("own code", 3, ""),
        ("mistake", 2, "error: x0: expected numbers\n"),
    ],
)
def test_a_script_ends_with_its_code_and_one_line(launch, how, code, said):
    done = launch(3, "-c", SCRIPT, how)
    assert (done.returncode, done.stderr) == (code, said)
    assert done.stdout == "done\n" * 3 * (how in ("caught", "finalized"))


@pytest.mark.parametrize(
    ("how", "code", "said", "done"),
    [
        ("on two ranks", 2, "expected a call on every rank of the job, got the script's end on rank 1", 1),
        ("again on two ranks", 0, "", 3),
        ("within another", 2, "expected no call within another, such as by the evolved function", 0),
    ],
)
def test_a_call_that_is_not_made_by_all_ranks_at_once_waits_for_none(launch, how, code, said, done):
    process = launch(3, "-c", SCRIPT, how)
    assert (process.returncode, process.stdout) == (code, "done\n" * done)
    assert process.stderr == (f"error: mpi_es: {said}\n" if code else "")


@pytest.mark.parametrize("how", ["bug in a call", "bug after it"])
def test_a_bug_on_one_rank_ends_all_with_its_traceback(launch, how):
    done = launch(3, "-c", SCRIPT, how)
    assert done.returncode != 0
    assert done.stderr.count("ValueError: broken") == 1


def test_a_bug_after_the_script_finalized_mpi_is_shown(launch):
    done = launch(2, "-c", SCRIPT, "finalized too early")
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
    assert "MPI routine" not in done.stderr


def test_a_call_after_mpi_was_finalized_is_refused(launch):
    script = "import mpi_es; from mpi4py import MPI; MPI.Finalize(); mpi_es.minimise(sum, [1.0])"
    done = launch(2, "-c", script)
    assert done.returncode
    assert done.stderr.count("MPI: expected a library that runs, got one that MPI.Finalize() has ended") == 1
    assert "MPI routine" not in done.stderr


def test_a_bug_on_one_rank_ends_all_if_errors_cannot_be_printed(launch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi_es.parallel.entry_point import launch\n"
        "def main(comm, arguments):\n"
        "    if comm.rank == 1:\n"
        "        raise ValueError\n"
        "    comm.barrier()\n"
        "launch(main)\n"
    )
    command = f"exec {sys.executable} {program} 2>&-"
    done = call(Path(sys.prefix, "bin", "mpiexec"), "-n", "2", "sh", "-c", command)
    assert done.returncode == 1
    assert "ValueError" in done.stdout


def test_without_a_launcher_a_script_runs_alone_without_mpi_and_sees_its_mistakes(launch):
    program = SCRIPT + "assert 'mpi4py.MPI' not in sys.modules"
    assert launch(0, "-c", program, "").stdout == "done\n"
    done = launch(0, "-c", program, "mistake")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert done.stderr.endswith("UserError: x0: expected numbers\n")


LATE = """
import time
import mpi_es
from mpi_es.parallel import script_api
script_api._PATIENCE = 0.1
if mpi_es.rank() == 0:
    time.sleep(2)
mpi_es.minimise(lambda x: (x**2).sum(), [1.0] * 4, max_iter=2, run_dir=None, console="silent")
"""


def test_a_call_tells_that_it_waits_for_other_ranks(launch):
    done = launch(3, "-c", LATE)
    assert done.returncode == 0
    assert f"warning: {script_api._WAITS}\n" in done.stderr


MESSAGES = """
from mpi4py import MPI
import mpi_es
ranks, sent = MPI.COMM_WORLD, None
if ranks.rank == 1:
    sent = ranks.isend("mine", dest=0, tag=1)
found = mpi_es.minimise(lambda x: (x**2).sum(), [1.0] * 4, max_iter=2, run_dir=None, console="silent")
if ranks.rank == 0:
    print(ranks.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG))
if sent:
    sent.wait()
"""


def test_a_call_leaves_the_scripts_own_messages_alone(launch):
    done = launch(3, "-c", MESSAGES)
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")


def test_ranks_of_an_mpi_that_the_script_started_are_one_world_whatever_started_them():
    launcher = OPEN_MPI / "bin" / "prterun"  # it sets none of the variables of mpiexec
    if not launcher.exists():
        pytest.skip(f"no Open MPI in {OPEN_MPI}: `make setup` puts one there")
    program = "from mpi4py import MPI; import mpi_es; mpi_es.minimise(sum, [1.0], max_iter=2, run_dir=None)\n"
    program += "print('is rank', mpi_es.rank())"
    command = [launcher, "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "-n", 2, sys.executable]
    done = call(*command, "-c", program, env=environ_of_open_mpi())
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall("is rank .", done.stdout)) == ["is rank 0", "is rank 1"]

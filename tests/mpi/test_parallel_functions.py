"""Functions that several ranks call together, each call in a directory of its own."""

import re
import signal

import pytest

from mpi_es import load_run
from tests.faults.survivors import strike, survivors
from tests.launching import LIMIT, assert_same, complete, exact_content, interrupt

SCRIPT = """
import os, sys, time
import mpi_es

run, ranks_per_call, pause, *more = sys.argv[1:]

def cost(x, comm, directory):
    assert comm.allreduce(len(os.listdir(directory))) == 0
    (directory / f"part{comm.rank}").touch()
    time.sleep(float(pause))
    comm.Barrier()
    if x[0] > 0.5 and comm.rank == comm.size - 1:
        raise ArithmeticError("undefined")
    return ((x - 1) ** 2).sum()

options = {"on_failure": "worst"} | dict(word.split("=") for word in more)
mpi_es.minimise(cost, [0.0] * 3, 0.3, ranks_per_call=int(ranks_per_call), run_dir=run, population_size=6,
                max_iter=10, seed=3, tensorboard=False, checkpoint_interval=0,
                constraints=lambda x: [0.2 - x[1]], **options)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The script, in a directory of its own."""
    path = tmp_path_factory.mktemp("script") / "cost.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def alone(script):
    """The run in one process."""
    run = script.parent / "alone"
    done = complete(0, script, run, 2, 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert load_run(run)["history"]["failures"].any()
    return run


def failed(run):
    """Return the names of the directories that are left, all of calls that failed."""
    return {path.name for path in (run / "calls").iterdir()}


@pytest.mark.parametrize(
    ("ranks", "ranks_per_call", "options", "groups"),
    [
        (1, 3, (), "1 rank in 1 group of 1"),
        (2, 2, (), "2 ranks in 1 group of 2, a rank"),
        (3, 1, (), "3 ranks, dynamic dispatch, rank 0 evaluates too"),
        (3, 2, ("dedicated_root=yes",), "3 ranks in 1 group of 2, dynamic dispatch, rank 0 only directs"),
        (7, 2, ("dispatch=static",), "7 ranks in 3 groups of 2, 1 rank idle, static dispatch"),
        (7, 3, (), "7 ranks in 2 groups of 3, 1 rank idle, dynamic dispatch"),
    ],
)
def test_ranks_and_groups_do_not_matter(script, alone, tmp_path, ranks, ranks_per_call, options, groups):
    run = tmp_path / "run"
    done = complete(ranks, script, run, ranks_per_call, 0, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert groups in " ".join(done.stdout.split())
    assert_same(exact_content(run), exact_content(alone))
    assert failed(run) == failed(alone)


def test_a_run_that_is_killed_goes_on_in_other_groups(script, alone, tmp_path):
    run = tmp_path / "run"
    interrupt(run, signal.SIGKILL, (5, script, run, 2, 0.03))
    done = complete(3, script, run, 3, 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(exact_content(run), exact_content(alone))
    assert failed(run) == failed(alone)


def test_an_error_names_the_rank_of_the_group_that_met_it(script, tmp_path):
    done = complete(4, script, tmp_path / "run", 2, 0, "on_failure=stop")
    assert done.returncode == 2
    name = r"error: rank [02] on \S+: candidate \d: rank 1 of the group, on \S+: ArithmeticError: undefined\n"
    assert re.match(name + r"x = \[.*\]\n.*line \d+, in cost", done.stderr), done.stderr
    assert failed(tmp_path / "run")


def test_a_signal_saves_the_run(script, alone, tmp_path):
    run = tmp_path / "run"
    interrupt(run, signal.SIGTERM, (4, script, run, 2, 0.03))
    assert complete(0, script, run, 2, 0).returncode == 0
    assert_same(exact_content(run), exact_content(alone))


@pytest.mark.parametrize("lost", [(3,), (2, 0), pytest.param((1, 0, 3), marks=pytest.mark.slow)])
def test_ranks_that_are_lost_do_not_matter_where_the_others_outlive_them(script, alone, tmp_path, lost):
    run = tmp_path / "run"
    process = survivors(5, script, run, 2, 0.1)
    for rank in lost:
        strike(run, rank, 1)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert_same(exact_content(run), exact_content(alone))


UNEQUAL = """
import sys
import mpi_es

def cost(x, comm):
    if x[0] > 0 and comm.rank == 1:
        raise ArithmeticError("undefined")
    comm.Barrier()  # where the other ranks wait for it
    return (x**2).sum()

mpi_es.minimise(cost, [0.0] * 3, 0.3, population_size=6, max_iter=3, seed=3, run_dir=None, console="silent",
                ranks_per_call=3, on_failure="worst", evaluation_timeout=float(sys.argv[1]))
"""


def test_a_rank_that_waits_for_one_that_failed_is_let_out_where_mpi_can():
    process = survivors(4, "-c", UNEQUAL, 0)
    _, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (0, "")


def test_elsewhere_the_time_limit_ends_the_job_and_the_cause_is_told():
    done = complete(3, "-c", UNEQUAL, 12)
    assert done.returncode != 0
    assert re.search(
        r"warning: rank 1 of the group, on \S+: ArithmeticError: undefined; the other", done.stderr
    )
    assert "hangs: no episode began or ended for 12 s (--evaluation-timeout)" in done.stderr


MANY = """
import mpi_es

def cost(x, comm):
    if comm.rank == 1 and x[0] > 0.1:
        raise ArithmeticError("undefined")
    return (x**2).sum()

mpi_es.minimise(cost, [0.0] * 3, 0.3, population_size=6000, max_iter=1, run_dir=None, console="silent",
                ranks_per_call=2, on_failure="worst")
"""


@pytest.mark.slow
def test_more_failures_than_mpi_has_communicators_end_the_run():
    done = complete(2, "-c", MANY)
    assert done.returncode == 2
    assert (
        "MPI has no communicator left, and each failure takes one: Exception: Other MPI error" in done.stderr
    )

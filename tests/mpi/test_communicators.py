"""Calls that the ranks of a communicator make, while the other ranks do something else."""

import os
import re
import signal

from tests.faults.survivors import process_of, survivors
from tests.launching import LIMIT, assert_same, exact_content, wait_until

PARTS = """
import sys, mpi_es

def ball(x):
    return ((x - 1) ** 2).sum()

def evolve_it(run, comm):
    options = dict(population_size=5, max_iter=3, run_dir=run, comm=comm, console="silent", tensorboard=False)
    if "agent" in run:
        return mpi_es.evolve_policy("CartPole-v1", **options).score.mean
    return mpi_es.minimise(ball, [0.5] * 3, **options).value
"""
HALVES = (
    PARTS
    + """
from mpi4py import MPI
world = MPI.COMM_WORLD
part = world.Split(world.rank % 2)
where = sys.argv[1] + "/"
sent = world.isend("mine", dest=(world.rank + 1) % world.size, tag=1)
one = evolve_it(where + "agent" if world.rank % 2 else where + "function", part)
assert part.allgather(one) == [one] * part.size
two = evolve_it(where + "all", None)
assert world.allgather(two) == [two] * world.size
assert world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG) == "mine"
sent.wait()
"""
)


def test_two_halves_of_a_job_evolve_at_once_what_one_process_does(launch, tmp_path):
    done = launch(5, "-c", HALVES, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    alone = tmp_path / "alone"
    for name in ("agent", "function"):
        assert launch(0, "-c", f"{PARTS}\nevolve_it({str(alone / name)!r}, None)").returncode == 0
        assert_same(exact_content(tmp_path / name), exact_content(alone / name))
    assert_same(exact_content(tmp_path / "all"), exact_content(alone / "function"))


REFUSED = """
from mpi4py import MPI
import mpi_es
world = MPI.COMM_WORLD
for comm in (3, world.Split(MPI.UNDEFINED), MPI.COMM_SELF):
    try:
        mpi_es.minimise(abs, [1.0], comm=comm)
    except mpi_es.UserError as error:
        print(error) if world.rank == 0 else None
"""


def test_what_is_no_communicator_of_this_rank_is_refused(launch, tmp_path, monkeypatch):
    monkeypatch.setenv("MPI_ES_RUNS", str(tmp_path))
    done = launch(2, "-c", REFUSED)
    assert done.returncode == 0, done.stderr
    number, null, job = done.stdout.splitlines()
    assert number == "comm: expected an intracommunicator of mpi4py, got 3"
    assert null == "comm: expected a communicator that has this rank, got MPI.COMM_NULL"
    assert job.startswith("run_dir: expected a directory")


WITHIN = """
import mpi_es
from mpi4py import MPI
def outer(x):
    return mpi_es.minimise(lambda y: (y**2).sum(), x, max_iter=1, run_dir=None, comm=MPI.COMM_SELF).value
mpi_es.minimise(outer, [1.0] * 2, max_iter=1, run_dir=None, comm=MPI.COMM_WORLD)
"""


def test_a_call_within_another_is_refused_on_a_communicator_too(launch):
    done = launch(2, "-c", WITHIN)
    assert done.returncode != 0
    assert "expected no call within another" in done.stderr


LOST = """
import sys, time
from mpi4py import MPI
import mpi_es
def slow(x):
    time.sleep(0.05)
    return (x**2).sum()
world = MPI.COMM_WORLD
part, where = world.Split(world.rank % 2), f"{sys.argv[1]}/{world.rank % 2}"
mpi_es.minimise(slow, [1.0] * 3, population_size=6, max_iter=40, run_dir=where, comm=part, tensorboard=False,
                checkpoint_interval=0)
"""


def test_a_rank_that_is_lost_in_one_half_is_lost_to_that_half_only(tmp_path):
    process = survivors(5, "-c", LOST, tmp_path)
    wait_until(lambda: all((tmp_path / half / "run.h5").exists() for half in "01"), "both runs")
    os.kill(process_of(tmp_path, 4), signal.SIGKILL)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert len(re.findall("ranks lost", err)) == 1, err
    assert_same(exact_content(tmp_path / "0"), exact_content(tmp_path / "1"))


MANY = """
from mpi4py import MPI
import mpi_es
part = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
def next_handle():
    comm = part.Dup()
    handle = MPI._handleof(comm)
    comm.Free()
    return handle
mine = next_handle()
for seed in range(3):
    mpi_es.evolve(lambda x: -(x**2).sum(), [1.0] * 3, strategy="openai_es", max_iter=2,
                  population_size=4, seed=seed, console="silent", run_dir=None, comm=part)
    assert next_handle() == mine
"""


def test_calls_leave_no_communicator_behind(launch):
    done = launch(4, "-c", MANY)
    assert (done.returncode, done.stderr) == (0, "")

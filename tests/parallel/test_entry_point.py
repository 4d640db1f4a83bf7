import pytest

PROGRAM = """
import os, sys
from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.entry_point import launch
def main(comm, arguments):
    how = arguments[0]
    if how == "mistake":
        raise UserError("--seed: expected a number")
    if how == "help":
        sys.exit(0)
    if how == "leave" and comm.rank == comm.size - 1:
        sys.exit("no weights found")
    if how == "leave":
        return 1
    if how == "bug" and comm.rank == comm.size - 1:
        raise ValueError("broken")
    if how == "bug":
        comm.barrier()  # for ever
    return int(how)
launch(main)
"""


@pytest.mark.parametrize(
    ("ranks", "how", "code", "said"),
    [
        (0, "3", 3, ""),
        (3, "3", 3, ""),
        (3, "help", 0, ""),
        (0, "leave", 1, "no weights found\n"),
        (3, "leave", 1, "no weights found\n"),
        (0, "mistake", 2, "error: --seed: expected a number\n"),
        (3, "mistake", 2, "error: --seed: expected a number\n"),
    ],
)
def test_a_program_ends_with_its_code_and_one_line(launch, ranks, how, code, said):
    done = launch(ranks, "-c", PROGRAM, how)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


@pytest.mark.parametrize("ranks", [0, 3])
def test_a_bug_on_one_rank_ends_all_with_its_traceback(launch, ranks):
    done = launch(ranks, "-c", PROGRAM, "bug")
    assert done.returncode != 0
    assert done.stderr.count("ValueError: broken") == 1

import os

import pytest

from mpi_es.parallel.rank_groups import RankGroups
from tests.launching import ROOT

ALONE = "[1, 'no -10', 2, 'no -20']"
TWO = "[2, 'no -10', 4, 'no -20 (1 more rank of the group failed)']"
THREE = "[3, 'no -10', 6, 'no -20 (2 more ranks of the group failed)']"


@pytest.mark.parametrize(
    ("size", "ranks", "first", "words"),
    [
        (0, 3, 0, ""),
        (1, 3, 0, ""),
        (2, 4, 0, " in 2 groups of 2"),
        (3, 7, 0, " in 2 groups of 3, 1 rank idle"),
        (3, 7, 1, " in 2 groups of 3"),
        (4, 7, 1, " in 1 group of 4, 2 ranks idle"),
        (4, 3, 0, " in 1 group of 3"),
        (4, 4, 1, " in 1 group of 3"),
        (4, 1, 0, " in 1 group of 1"),
    ],
)
def test_a_job_has_as_many_whole_groups_as_fit_and_one_smaller_group_where_none_does(
    size, ranks, first, words
):
    assert RankGroups(size).describe(ranks, first) == words


@pytest.mark.parametrize(
    ("ranks", "size", "first", "outcomes"),
    [
        (0, 2, 0, [ALONE]),
        (1, 2, 0, [ALONE]),
        (2, 1, 0, [ALONE, ALONE]),
        (3, 4, 0, [THREE, "helps", "helps"]),
        (3, 2, 1, ["idle", TWO, "helps"]),
        (7, 3, 0, [THREE, "helps", "helps"] * 2 + ["idle"]),
    ],
)
def test_a_group_works_together_and_never_reads_what_a_failure_left_unread(
    launch, ranks, size, first, outcomes
):
    done = launch(ranks, "-m", "tests.parallel.grouping", size, first, cwd=ROOT)
    assert (done.returncode, done.stdout.splitlines()) == (0, outcomes), done.stderr


def test_a_group_without_an_mpi_library_is_refused(launch):
    program = "import mpi_es; mpi_es.minimise(lambda x, comm: 1.0, [0.0] * 3, run_dir=None)"
    done = launch(0, "-c", program, env=os.environ | {"MPI4PY_LIBMPI": "/nowhere/libmpi.so"})
    line = "UserError: comm: expected a library that mpi4py can load, got none; pip install 'mpi_es[mpich]'"
    assert line in done.stderr

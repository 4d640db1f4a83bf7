"""A rank that hangs is told with its episodes and ended, and the run continues."""

import os
import re
from pathlib import Path

import pytest

from mpi_es.run_file import checkpoint
from tests.faults.test_failures import TRAIN
from tests.launching import LIMIT, assert_same

SLOW = pytest.mark.slow
ROOT = Path(__file__).parents[2]
HANGING = ("--env", "tests.faults.broken_envs:hanging", "--console", "silent", "--envs-per-rank", "2")


@pytest.mark.parametrize(
    ("ranks", "dispatch"),
    [pytest.param(0, "static", marks=SLOW), pytest.param(2, "static", marks=SLOW), (3, "dynamic")],
)
def test_a_simulator_that_hangs_ends_the_job_with_its_rank_and_candidate(launch, tmp_path, ranks, dispatch):
    options = (*HANGING, "--dispatch", dispatch, "--max-iter", 1000, "--evaluation-timeout", 5)
    done = launch(ranks, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode != 0
    told = r"error: rank \d on \S+ hangs: no episode began or ended for 5 s \(--evaluation-timeout\); "
    assert re.search(told + r"under way: candidate \d+, episode seed \d+", done.stderr)
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] > 0


def test_the_run_continues_after_a_hang_as_if_there_had_been_none(launch, exact, tmp_path):
    options = (*HANGING, "--max-iter", 20, "--evaluation-timeout", LIMIT, "--num-eval-rollouts", 3)
    calm = os.environ | {"NO_HANG": "1"}
    assert launch(2, *TRAIN, *options, "--run-dir", tmp_path / "calm", cwd=ROOT, env=calm).returncode == 0
    hangs = (*options, "--evaluation-timeout", 5, "--run-dir", tmp_path / "run")
    assert launch(2, *TRAIN, *hangs, cwd=ROOT).returncode != 0
    resume = ("--resume", tmp_path / "run", "--evaluation-timeout", LIMIT)
    again = launch(2, "-m", "mpi_es.train", *resume, cwd=ROOT, env=calm)
    assert again.returncode == 0, again.stderr
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "calm"))

"""The same config and seed give the same run, whoever evaluates it and however it is interrupted."""

import signal

import pytest

from mpi_es.strategies import STRATEGIES
from tests.launching import ENDLESS, LIMIT, assert_same, interrupt, start

TRAIN = ("-m", "mpi_es.train", "--console", "silent", "--no-tensorboard")
SMALL = ("--env", "CartPole-v1", "--hidden", "4", "--population-size", "6", "--obs-norm")
EVALUATION = ("--eval-every", "3", "--num-eval-rollouts", "5")
SETTINGS = {name: ("--strategy", name) for name in STRATEGIES} | {
    "separable": ("--cma-variant", "separable", "--num-rollouts", "4"),
    "openai_es": ("--strategy", "openai_es", "--episode-seeds", "paired"),
    "table": ("--strategy", "openai_es", "--noise-table", "100000", "--num-rollouts", "2"),
    "pepg": ("--strategy", "pepg", "--variable-ep-len"),
    "envpool": ("--env", "envpool:LunarLander-v3", "--policy", "lstm", "--num-rollouts", "2"),
    "restarts": ("--restarts", "bipop", "--restart-if-below", "400", "--restart-after", "2"),
    "interactions": ("--strategy", "openai_es", "--num-interactions", "600", "--popsize-max", "30"),
    "lstm": ("--strategy", "pepg", "--policy", "lstm", "--num-rollouts", "3", "--episode-seeds", "common"),
    "module": ("--policy", "tests.policies.user_policies:Remembering", "--num-rollouts", "3"),
}


# Nine processes import torch for a module; tests/mpi/test_experiments.py has one on fewer.
SLOW = {"module": pytest.mark.slow}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=SLOW.get(name, ())) for name in SETTINGS])
def setting(request, tmp_path_factory):
    """Options of a run, and its file after six generations in one process."""
    options = (*TRAIN, *SMALL, *EVALUATION, *SETTINGS[request.param])
    directory = tmp_path_factory.mktemp("serial") / "run"
    process = start(0, *options, "--max-iter", "6", "--run-dir", directory)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    return options, directory


def test_continued_on_other_ranks_in_another_way_it_is_the_same_run(setting, launch, exact, tmp_path):
    options, serial = setting
    run = tmp_path / "run"
    first = launch(3, *options, "--dispatch", "static", "--max-iter", 3, "--run-dir", run)
    other = ("--dispatch", "dynamic", "--dedicated-root", "yes", "--envs-per-rank", 2)
    second = launch(5, "-m", "mpi_es.train", "--resume", run, *other, "--max-iter", 6)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert_same(exact(run), exact(serial))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "dispatch"), [(2, "dynamic"), (3, "static"), (5, "dynamic"), (9, "static"), (32, "dynamic")]
)
def test_ranks_and_dispatch_do_not_matter(setting, launch, exact, tmp_path, ranks, dispatch):
    options, serial = setting
    done = launch(ranks, *options, "--max-iter", 6, "--dispatch", dispatch, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(serial))


@pytest.mark.parametrize(
    ("number", "every"),
    [
        (signal.SIGKILL, 7),
        (signal.SIGUSR1, 1),
        pytest.param(signal.SIGKILL, 1, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 7, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 1, marks=pytest.mark.slow),
    ],
)
def test_a_signal_and_a_resume_change_nothing(launch, exact, tmp_path, number, every):
    options = (*TRAIN, *SMALL, *EVALUATION, "--checkpoint-every", every)
    broken, resume = tmp_path / "broken", ("-m", "mpi_es.train", "--resume", tmp_path / "broken")
    begin = (*options, "--max-iter", ENDLESS, "--run-dir", broken)
    end = interrupt(broken, number, (3, *begin), (2, *resume)) + 4
    for ranks, *command in ((2, *resume), (0, *options, "--run-dir", tmp_path / "unbroken")):
        done = launch(ranks, *command, "--max-iter", end)
        assert done.returncode == 0, done.stderr
    assert_same(exact(broken), exact(tmp_path / "unbroken"))

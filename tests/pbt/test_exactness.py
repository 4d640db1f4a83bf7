"""The same config and seed give the same population, on any ranks and however it is interrupted."""

import signal

import pytest

from mpi_es import checkpoint
from tests.launching import assert_same, start
from tests.mpi.test_exactness import wait_for_generation
from tests.pbt.runs import WALKERS

TRAIN = ("-m", "pbt.train", "--console", "silent", "--no-tensorboard")
SMALL = ("--member", WALKERS + "Walker", "--num-agents", "7", "--num-rollouts", "3", "--steps", "10")
SETTINGS = {
    "winner-takes-all": ("--eval-every", "3"),
    "truncation": ("--fraction", "0.4"),
    "tournament": ("--copy", "weights"),
}


def exact(directory):
    """Return all of a run's file that must not depend on who ran it."""
    content, warning = checkpoint.load(directory)
    assert warning == ""
    names = ("hyperparameters", "members", "progress", "history", "evaluations", "best")
    return {name: content[name] for name in names}


@pytest.fixture(scope="module", params=SETTINGS)
def setting(request, tmp_path_factory):
    """Options of a run, and its file after six generations in one process."""
    options = (*TRAIN, *SMALL, "--selection", request.param, *SETTINGS[request.param])
    directory = tmp_path_factory.mktemp("serial") / "run"
    process = start(0, *options, "--max-iter", "6", "--run-dir", directory)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return options, directory


@pytest.mark.parametrize(("ranks", "exchange"), [(2, "collective"), (3, "point-to-point"), (9, "auto")])
def test_ranks_and_exchange_do_not_matter(setting, launch, tmp_path, ranks, exchange):
    options, serial = setting
    done = launch(ranks, *options, "--max-iter", 6, "--exchange", exchange, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(serial))


def test_resumed_on_other_ranks_it_is_the_same_run(setting, launch, tmp_path):
    options, serial = setting
    run = tmp_path / "run"
    first = launch(3, *options, "--max-iter", 3, "--run-dir", run)
    second = launch(2, "-m", "pbt.train", "--resume", run, "--max-iter", 6)
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    one, other = exact(run), exact(serial)
    for content in (one, other):  # the shorter run evaluated its own last generation too
        del content["evaluations"], content["best"]
    assert_same(one, other)


@pytest.mark.parametrize(
    ("number", "every"), [(signal.SIGKILL, 1), (signal.SIGKILL, 7), (signal.SIGTERM, 7), (signal.SIGINT, 1)]
)
def test_a_signal_and_a_resume_change_nothing(launch, tmp_path, number, every):
    options = (*TRAIN, *SMALL, "--steps", 2000, "--checkpoint-every", every, "--max-iter", 60)
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    assert launch(2, *options, "--run-dir", unbroken).returncode == 0
    process = start(3, *options, "--run-dir", broken, start_new_session=True)
    done = 0
    for _ in range(2):
        done = wait_for_generation(broken, done + 8)
        process.send_signal(number)
        process.communicate(timeout=60)
        assert (process.returncode == 0) == (number != signal.SIGKILL)
        process = start(2, "-m", "pbt.train", "--resume", broken, start_new_session=True)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert_same(exact(broken), exact(unbroken))

"""The same config and seed give the same population, on any ranks and however it is interrupted."""

import signal

import pytest

from tests.launching import assert_same, start
from tests.mpi.test_exactness import wait_for_generation
from tests.pbt.runs import WALKERS, exact

TRAIN = ("-m", "pbt.train", "--console", "silent", "--no-tensorboard")
SMALL = ("--member", WALKERS + "Walker", "--num-agents", "7", "--num-rollouts", "3", "--steps", "10")
SETTINGS = {
    "winner-takes-all": ("--selection", "winner-takes-all", "--eval-every", "3"),
    "truncation": ("--selection", "truncation", "--fraction", "0.4"),
    "tournament": ("--selection", "tournament", "--copy", "weights"),
}
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("setting", "ranks", "exchange"),
    [
        ("winner-takes-all", 2, "collective"),
        ("truncation", 3, "point-to-point"),
        ("tournament", 2, "auto"),
        pytest.param("truncation", 5, "collective", marks=SLOW),
        pytest.param("winner-takes-all", 9, "auto", marks=SLOW),
        pytest.param("tournament", 9, "collective", marks=SLOW),
        pytest.param("truncation", 32, "auto", marks=SLOW),
    ],
)
def test_ranks_and_exchange_do_not_matter(trained, launch, tmp_path, setting, ranks, exchange):
    options = (*SMALL, *SETTINGS[setting], "--max-iter", 6)
    trained(tmp_path / "serial", *options)
    done = launch(ranks, *TRAIN, *options, "--exchange", exchange, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "serial"))


def test_resumed_on_other_ranks_it_is_the_same_run(trained, launch, tmp_path):
    options, run = (*SMALL, "--eval-every", 3), tmp_path / "run"
    trained(tmp_path / "serial", *options, "--max-iter", 6)
    trained(run, *options, "--max-iter", 3)
    done = launch(2, "-m", "pbt.train", "--resume", run, "--max-iter", 6)
    assert done.returncode == 0, done.stderr
    assert_same(exact(run), exact(tmp_path / "serial"))


@pytest.mark.parametrize(
    ("number", "every"),
    [
        (signal.SIGKILL, 1),
        (signal.SIGTERM, 7),
        pytest.param(signal.SIGKILL, 7, marks=SLOW),
        pytest.param(signal.SIGUSR1, 1, marks=SLOW),
        pytest.param(signal.SIGINT, 1, marks=SLOW),
    ],
)
def test_a_signal_and_a_resume_change_nothing(trained, tmp_path, number, every):
    # Long enough for two signals, and quick to read again.
    options = (*SMALL, "--steps", 2000, "--checkpoint-every", every, "--max-iter", 25)
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    trained(unbroken, *options)
    process = start(2, *TRAIN, *options, "--run-dir", broken, start_new_session=True)
    done = 0
    for _ in range(2):
        wait_for_generation(broken, done + 4)
        process.send_signal(number)
        process.communicate(timeout=60)
        done = wait_for_generation(broken, 0)  # some more may be done by now
        assert (process.returncode == 0) == (number != signal.SIGKILL)
        process = start(3, "-m", "pbt.train", "--resume", broken, start_new_session=True)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert_same(exact(broken), exact(unbroken))

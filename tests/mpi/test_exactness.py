"""The same config and seed give the same run, whoever evaluates it and however it is interrupted."""

import signal
import time

import pytest

from mpi_es import checkpoint
from tests.launching import assert_same, start

TRAIN = ("-m", "mpi_es.train", "--console", "silent", "--no-tensorboard")
SMALL = ("--env", "CartPole-v1", "--hidden", "4", "--population-size", "6", "--obs-norm")
EVALUATION = ("--eval-every", "3", "--num-eval-rollouts", "5")
STRATEGIES = {
    "cma_es": ("--strategy", "cma_es"),
    "separable": ("--strategy", "cma_es", "--cma-variant", "separable"),
    "openai_es": ("--strategy", "openai_es", "--episode-seeds", "paired"),
    "table": ("--strategy", "openai_es", "--noise-table", "100000", "--num-rollouts", "2"),
    "pepg": ("--strategy", "pepg", "--variable-ep-len"),
    "lstm": ("--strategy", "pepg", "--policy", "lstm", "--num-rollouts", "3", "--episode-seeds", "common"),
}


@pytest.fixture(scope="module", params=STRATEGIES)
def setting(request, tmp_path_factory):
    """Options of a run, and its file after six generations in one process."""
    options = (*TRAIN, *SMALL, *EVALUATION, *STRATEGIES[request.param])
    directory = tmp_path_factory.mktemp("serial") / "run"
    process = start(0, *options, "--max-iter", "6", "--run-dir", directory)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return options, directory


@pytest.mark.parametrize(("ranks", "dispatch"), [(2, "dynamic"), (3, "static"), (5, "dynamic")])
def test_ranks_and_dispatch_do_not_matter(setting, launch, exact, tmp_path, ranks, dispatch):
    options, serial = setting
    done = launch(ranks, *options, "--max-iter", 6, "--dispatch", dispatch, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(serial))


def test_more_ranks_than_episodes_and_one_that_only_directs(setting, launch, exact, tmp_path):
    options, serial = setting
    more = ("--dedicated-root", "yes", "--envs-per-rank", 2, "--max-iter", 6)
    done = launch(9, *options, *more, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(serial))


@pytest.mark.slow
def test_32_ranks_do_not_matter(setting, launch, exact, tmp_path):
    options, serial = setting
    done = launch(32, *options, "--max-iter", 6, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(serial))


def test_resumed_on_other_ranks_it_is_the_same_run(setting, launch, exact, tmp_path):
    options, serial = setting
    first = launch(3, *options, "--max-iter", 3, "--run-dir", tmp_path / "run")
    second = launch(2, "-m", "mpi_es.train", "--resume", tmp_path / "run", "--max-iter", 6)
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert_same(exact(tmp_path / "run"), exact(serial))


def wait_for_generation(directory, generation):
    """Wait until a run has saved so many generations, and return how many they are."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if (directory / "run.h5").exists():
            content, _ = checkpoint.load(directory)
            if content["progress"]["generation"] >= generation:
                return content["progress"]["generation"]
        time.sleep(0.01)
    pytest.fail("no such generation")


@pytest.mark.parametrize(
    ("number", "every"),
    [(signal.SIGKILL, 1), (signal.SIGKILL, 7), (signal.SIGTERM, 7), (signal.SIGUSR1, 1), (signal.SIGINT, 1)],
)
def test_a_signal_and_a_resume_change_nothing(launch, exact, tmp_path, number, every):
    options = (*TRAIN, *SMALL, *EVALUATION, "--checkpoint-every", every, "--max-iter", 60)
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    assert launch(2, *options, "--run-dir", unbroken).returncode == 0
    process = start(3, *options, "--run-dir", broken, start_new_session=True)
    done = 0
    for _ in range(2):
        wait_for_generation(broken, done + 8)
        process.send_signal(number)
        process.communicate(timeout=60)
        done = wait_for_generation(broken, 0)  # some more may be done by now
        assert (process.returncode == 0) == (number != signal.SIGKILL)
        process = start(2, "-m", "mpi_es.train", "--resume", broken, start_new_session=True)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert_same(exact(broken), exact(unbroken))

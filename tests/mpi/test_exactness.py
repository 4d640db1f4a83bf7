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
    "separable": ("--cma-variant", "separable", "--num-rollouts", "4", "--racing", "2"),
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


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The directory of a run of 60 generations that nothing interrupted."""
    directory = tmp_path_factory.mktemp("unbroken") / "run"
    process = start(2, *TRAIN, *SMALL, *EVALUATION, "--max-iter", 60, "--run-dir", directory)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return directory


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
def test_a_signal_and_a_resume_change_nothing(exact, tmp_path, unbroken, number, every):
    options = (*TRAIN, *SMALL, *EVALUATION, "--checkpoint-every", every, "--max-iter", 60)
    broken = tmp_path / "broken"
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

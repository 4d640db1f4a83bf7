"""The same config and seed give the same run, whoever evaluates it and however it is interrupted."""

import json
import signal

import pytest

from mpi_es import train
from mpi_es.strategies import STRATEGIES
from tests.launching import ENDLESS, assert_same, complete, interrupt, run_here

QUIET = ("--console", "silent", "--no-tensorboard")
BARE = ("--env", "CartPole-v1", "--population-size", "6", "--obs-norm")
SMALL = (*BARE, "--hidden", "4")
EVALUATION = ("--eval-every", "3", "--num-eval-rollouts", "5")
SETTINGS = {name: f"--strategy {name}" for name in STRATEGIES} | {
    "separable": "--cma-variant separable --num-rollouts 4",
    "openai_es": "--strategy openai_es --episode-seeds paired --num-rollouts 2",
    "random search": "--strategy openai_es --shaping standardized --top-directions 2",
    "pepg": "--strategy pepg --variable-ep-len",
    "envpool": "--env envpool:LunarLander-v3 --policy lstm --num-rollouts 2",
    "world": "--env mpi_es/CartPole-v1 --num-rollouts 3",
    "lanes": "--env mpi_es/LunarLander-v3 --num-rollouts 3 --threads-per-rank 2",
    "noise": "--env mpi_es/Pendulum-v1 --policy gru --action-noise 0.1 --threads-per-rank 2",
    "kernel": "--env tests.worlds.user_worlds:Numbers --policy tests.policies.user_kernels:Leaky "
    "--num-rollouts 3 --threads-per-rank 2",
    "restarts": "--restarts bipop --restart-if-below 400 --restart-after 2",
    "interactions": "--strategy openai_es --num-interactions 600 --popsize-max 30",
    "lstm": "--strategy pepg --policy lstm --num-rollouts 3 --episode-seeds common",
    "low-rank": "--env mpi_es/CartPole-v1 --strategy openai_es --noise low-rank --noise-rank 2",
    "module": "--policy tests.policies.user_policies:Remembering --num-rollouts 3",
    "factored": "--policy tests.policies.user_policies:Remembering --strategy openai_es --noise low-rank",
}
SETTINGS = {name: tuple(words.split()) for name, words in SETTINGS.items()}
MODULES = ("module", "factored")


SETS = [  # of settings, each of which is trained in the same processes
    pytest.param([name for name in SETTINGS if name not in MODULES], id="networks"),
    # Nine processes import torch for a module; tests/mpi/test_experiments.py has one on fewer.
    pytest.param([*MODULES], id="module", marks=pytest.mark.slow),
]


def launched(ranks, trainings, file):
    """Make several trainings on some ranks."""
    file.write_text(json.dumps([[str(word) for word in words] for words in trainings]))
    done = complete(ranks, "-m", "tests.mpi.trainings", file)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", params=SETS)
def serial(request, tmp_path_factory):
    """The options of each setting, and the directory of its run of six generations in one process."""
    place = tmp_path_factory.mktemp("serial")
    runs = {}
    for name in request.param:
        small = BARE if name in (*MODULES, "kernel") else SMALL  # their widths are their own
        runs[name] = ((*QUIET, *small, *EVALUATION, *SETTINGS[name]), place / name)
    for options, directory in runs.values():
        run_here(train, *options, "--max-iter", 6, "--run-dir", directory)
    return runs


def test_continued_on_other_ranks_in_another_way_they_are_the_same_runs(serial, exact, tmp_path):
    begin = ("--dispatch", "static", "--max-iter", 3)
    other = ("--dispatch", "dynamic", "--dedicated-root", "yes", "--envs-per-rank", 2, "--max-iter", 6)
    broken = [(*options, *begin, "--run-dir", tmp_path / name) for name, (options, _) in serial.items()]
    launched(3, broken, tmp_path / "trainings.json")
    launched(5, [("--resume", tmp_path / name, *other) for name in serial], tmp_path / "trainings.json")
    for name, (_, unbroken) in serial.items():
        assert_same(exact(tmp_path / name), exact(unbroken), name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "dispatch"), [(2, "dynamic"), (3, "static"), (5, "dynamic"), (9, "static"), (32, "dynamic")]
)
def test_ranks_and_dispatch_do_not_matter(serial, exact, tmp_path, ranks, dispatch):
    whole = ("--max-iter", 6, "--dispatch", dispatch)
    runs = [(*options, *whole, "--run-dir", tmp_path / name) for name, (options, _) in serial.items()]
    launched(ranks, runs, tmp_path / "trainings.json")
    for name, (_, directory) in serial.items():
        assert_same(exact(tmp_path / name), exact(directory), name)


@pytest.mark.parametrize(
    ("number", "interval", "env"),
    [
        (signal.SIGKILL, 0.2, "CartPole-v1"),
        (signal.SIGUSR1, 0, "mpi_es/CartPole-v1"),
        pytest.param(signal.SIGKILL, 0, "mpi_es/CartPole-v1", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 0.2, "CartPole-v1", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 0, "CartPole-v1", marks=pytest.mark.slow),
    ],
)
def test_a_signal_and_a_resume_change_nothing(launch, exact, tmp_path, number, interval, env):
    options = (*QUIET, *SMALL, "--env", env, *EVALUATION, "--checkpoint-interval", interval)
    broken, resume = tmp_path / "broken", ("-m", "mpi_es.train", "--resume", tmp_path / "broken")
    begin = ("-m", "mpi_es.train", *options, "--max-iter", ENDLESS, "--run-dir", broken)
    end = interrupt(broken, number, (3, *begin), (2, *resume)) + 4
    done = launch(2, *resume, "--max-iter", end)
    assert done.returncode == 0, done.stderr
    run_here(train, *options, "--max-iter", end, "--run-dir", tmp_path / "unbroken")
    assert_same(exact(broken), exact(tmp_path / "unbroken"))

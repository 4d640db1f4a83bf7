"""The same config and seed give the same population, on any ranks and however it is interrupted."""

import signal

import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file import checkpoint
from pbt import train
from tests.launching import ENDLESS, ROOT, assert_same, interrupt
from tests.pbt.runs import WALKERS, exact

TRAIN = ("-m", "pbt.train", "--console", "silent", "--no-tensorboard")
SMALL = ("--member", WALKERS + "Walker", "--num-agents", "7", "--num-rollouts", "3", "--steps", "10")
SMALL += ("--checkpoint-interval", "0")
SETTINGS = {
    "winner-takes-all": ("--selection", "winner-takes-all", "--eval-every", "3"),
    "truncation": ("--selection", "truncation", "--fraction", "0.4"),
    "tournament": ("--selection", "tournament", "--copy", "weights"),
    "pb2": ("--explore", "pb2"),
    "mf-pbt": ("--selection", "mf-pbt", "--periods", "1", "2", "--num-agents", "9"),
}
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("setting", "ranks"),
    [
        ("winner-takes-all", 2),
        ("truncation", 3),
        ("tournament", 2),
        ("pb2", 3),
        pytest.param("pb2", 9, marks=SLOW),
        pytest.param("mf-pbt", 3, marks=SLOW),
        pytest.param("truncation", 5, marks=SLOW),
        pytest.param("winner-takes-all", 9, marks=SLOW),
        pytest.param("tournament", 9, marks=SLOW),
        pytest.param("truncation", 32, marks=SLOW),
    ],
)
def test_results_do_not_depend_on_ranks(trained, launch, tmp_path, setting, ranks):
    options = (*SMALL, *SETTINGS[setting], "--max-iter", 6)
    trained(tmp_path / "serial", *options)
    done = launch(ranks, *TRAIN, *options, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "serial"))


@pytest.mark.parametrize("more", [(), SETTINGS["pb2"], ("--member", WALKERS + "Noisy")])
def test_resumed_on_other_ranks_it_is_the_same_run(trained, launch, tmp_path, more):
    options, run = (*SMALL, *more, "--eval-every", 3), tmp_path / "run"
    trained(tmp_path / "serial", *options, "--max-iter", 6)
    trained(run, *options, "--max-iter", 3)
    done = launch(2, "-m", "pbt.train", "--resume", run, "--max-iter", 6)
    assert done.returncode == 0, done.stderr
    assert_same(exact(run), exact(tmp_path / "serial"))


@pytest.mark.parametrize(
    "begun",
    [
        (*SMALL, "--eval-every", "3", "--explore", "perturb"),
        ("toy", "--selection", "winner-takes-all"),  # without effect there: the preset's --fraction
    ],
)
def test_the_file_of_a_run_s_options_begins_it_anew(begun, launch, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    done = launch(2, *TRAIN[:2], *begun, *TRAIN[2:], "--max-iter", 3, "--run-dir", one)
    assert done.returncode == 0, done.stderr
    assert train.main(SerialComm(), ["--config", f"{one}/config.toml", "--run-dir", str(other)]) == 0
    assert_same(exact(other), exact(one))


def test_a_mistake_in_a_file_of_options_names_file_and_key(tmp_path):
    (tmp_path / "my.toml").write_text('member = "toi"\n')
    with pytest.raises(UserError, match=r"^\S+/my.toml: member: expected one of .*; did you mean 'toy'"):
        train.main(SerialComm(), ["--config", f"{tmp_path}/my.toml"])


WALKER, POPULATION = WALKERS + "Walker", "pbt.population.population:Population"
KILLED = {  # what is called for the how manieth time in generation 3, on which rank, and what is then saved
    "train": ((WALKER, "train", 2), 1, 2),
    "train, first rank": ((WALKER, "train", 2), 0, 2),
    "score": ((WALKER, "score", 2), 1, 2),
    "exchange": (
        ("pbt.population.exchange", "wait", 1),
        1,
        2,
    ),  # states are on their way, not yet those that are saved
    "exchange, first rank": (("pbt.population.exchange", "wait", 2), 0, 2),
    "adopt": ((POPULATION, "adopt", 1), 2, 2),
    "explore": (("pbt.run", "explore", 1), 1, 2),
    "collect": (("pbt.run", "collect", 1), 1, 2),
    "write": (("os", "fsync", 1), 0, 2),
    "keep": (("os", "replace", 1), 0, 2),
    "rename": (("os", "replace", 2), 0, 2),
    "written": (("os", "fsync", 2), 0, 3),
}


def killed_and_resumed(launch, run, options, place, rank, generation):
    """Return which generation was saved when a rank of three died; two then led the run to its end."""
    died = launch(3, "-m", "tests.pbt.dying", *place, rank, generation, *options, "--run-dir", run, cwd=ROOT)
    assert died.returncode != 0
    saved = checkpoint.load(run)[0]["progress"]["generation"]
    done = launch(2, "-m", "pbt.train", "--resume", run, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return saved


@pytest.mark.parametrize(
    "phase", [pytest.param(phase, marks=[SLOW] * (phase != "exchange")) for phase in KILLED]
)
def test_killed_in_any_phase_of_a_generation_it_is_the_same_run(trained, launch, tmp_path, phase):
    options = (*SMALL, *SETTINGS["winner-takes-all"], "--max-iter", 5)
    trained(tmp_path / "unbroken", *options)
    quiet, (place, rank, saved) = TRAIN[2:], KILLED[phase]
    run = tmp_path / "broken"
    assert killed_and_resumed(launch, run, (*options, *quiet), place, rank, 3) == saved
    assert_same(exact(run), exact(tmp_path / "unbroken"))


TINY = ("--num-agents", 4, "--num-rollouts", 2, "--num-eval-rollouts", 2, "--max-iter", 4)
TINY += ("--checkpoint-interval", 0)
LEARNERS = {  # in the middle of a member's training: between two rollouts, two generations of the strategy
    "sb3": (
        ("--steps", 64, "--obs-norm", "--member-options", "n_steps=32", "batch_size=32"),
        ("stable_baselines3.common.on_policy_algorithm:OnPolicyAlgorithm", "collect_rollouts", 2),
    ),
    "es": (("--steps", 2, "--member-options", "hidden=4"), ("pbt.members.es:ES", "_one_generation", 2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("member", LEARNERS)
def test_killed_while_a_member_learns_it_is_the_same_run(trained, launch, tmp_path, member):
    more, place = LEARNERS[member]
    options = ("--member", member, *TINY, *more)
    trained(tmp_path / "unbroken", *options)
    run = tmp_path / "broken"
    assert killed_and_resumed(launch, run, (*options, *TRAIN[2:]), place, 1, 3) == 2
    assert_same(exact(run), exact(tmp_path / "unbroken"))


@pytest.mark.parametrize(
    ("number", "interval"),
    [
        (signal.SIGTERM, 0.2),
        pytest.param(signal.SIGKILL, 0, marks=SLOW),
        pytest.param(signal.SIGKILL, 0.2, marks=SLOW),
        pytest.param(signal.SIGUSR1, 0, marks=SLOW),
        pytest.param(signal.SIGINT, 0, marks=SLOW),
    ],
)
def test_a_signal_and_a_resume_change_nothing(trained, launch, tmp_path, number, interval):
    options = (*SMALL, "--steps", 2000, "--checkpoint-interval", interval)
    broken, resume = tmp_path / "broken", ("-m", "pbt.train", "--resume", tmp_path / "broken")
    begin = (*TRAIN, *options, "--max-iter", ENDLESS, "--run-dir", broken)
    end = interrupt(broken, number, (2, *begin), (3, *resume)) + 4
    done = launch(2, *resume, "--max-iter", end)
    assert done.returncode == 0, done.stderr
    trained(tmp_path / "unbroken", *options, "--max-iter", end)
    assert_same(exact(broken), exact(tmp_path / "unbroken"))

"""Members that are whole runs of OpenAI-ES."""

import re

import numpy as np
import pytest

from mpi_es.config.parts import every
from mpi_es.config.run import Config as RunConfig
from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint
from pbt import train
from pbt.config import Config
from pbt.members import space
from pbt.members.base import Diverged
from pbt.members.es import _OPTIONS, ES
from pbt.packing import pack, unpack
from tests.launching import ROOT, assert_same
from tests.pbt.runs import exact

OPTIONS = ("hidden=4", "num_rollouts=2")
SLOW = pytest.mark.slow
VALUES = {"sigma": 0.1, "learning_rate": 0.05, "pairs": 4.0}


def test_its_options_are_those_of_runs():
    of_runs = {one.name for one in every(RunConfig)}
    assert set(_OPTIONS) - {"policy_options"} <= of_runs


def member(index=0, **values):
    config = Config(member="es", member_options=OPTIONS, obs_norm=True)
    made = ES(config, index, SerialComm(), StopFlag())
    made.hyperparameters = VALUES | values
    return made


def test_the_step_sizes_take_effect():
    centre = member().strategy.centre
    steps = []
    for rate in (0.01, 0.05):
        one = member(learning_rate=rate, sigma=0.2)
        one.train(1)
        steps.append(np.abs(one.strategy.centre - centre).max())
        assert one.strategy.sigma == 0.2
    assert steps == pytest.approx([0.01, 0.05], rel=0.01)  # Adam's first step


def test_the_popsize_takes_effect_in_the_middle_of_a_run():
    one = member()
    one.train(1)
    one.hyperparameters = VALUES | {"pairs": 7.0}
    one.train(1)
    assert one.strategy.popsize == 14
    assert one.strategy.state.generation == 2


def test_a_member_continues_from_its_state_alone():
    one = member()
    one.train(2)
    state, other = unpack(pack(one.get_state())), member()
    other.train(1)
    other.set_state(state)
    one.train(2)
    other.train(2)
    assert pack(one.get_state()).tobytes() == pack(other.get_state()).tobytes()
    assert (one.score(np.arange(3)).returns == other.score(np.arange(3)).returns).all()


def test_evaluate_uses_the_held_out_environment():
    config = Config("es", "Pendulum-v1", ("g=9.0",), ("g=1.0",), member_options=OPTIONS)
    plain = Config("es", "Pendulum-v1", ("g=9.0",), member_options=OPTIONS)
    one, other = (ES(each, 0, SerialComm(), StopFlag()) for each in (config, plain))
    seeds = np.arange(3)
    assert (one.score(seeds).returns == other.score(seeds).returns).all()
    assert (other.evaluate(seeds).returns == other.score(seeds).returns).all()
    assert (one.evaluate(seeds).returns != other.evaluate(seeds).returns).any()


def test_members_begin_with_weights_of_their_own():
    assert (member(0).strategy.centre != member(1).strategy.centre).any()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("sigma=1", "--member-options, of es: expected one of .*got 'sigma'"),
        ("hidden", "--member-options: expected name=value, got 'hidden'"),
        ("hidden=x", "--hidden"),
        ("policy=mpl", "--policy: expected one of"),
        ("init_sigma=0.1", "--member-options: expected no tuned hyperparameter"),
        ("population_size=8", "--member-options: expected no tuned hyperparameter"),
        ("hidden=4 8|hidden=8", "--member-options: expected each name once, got 'hidden=8'"),
    ],
)
def test_mistakes_raise(given, complaint):
    with pytest.raises(UserError, match=complaint):
        space(Config(member="es", member_options=tuple(given.split("|"))))


def test_a_centre_that_is_not_finite_diverged():
    with pytest.raises(Diverged):
        member(learning_rate=1e300).train(1)


def test_options_set_what_is_not_tuned():
    options = (*OPTIONS, "init_sigma=0.3", "population_size=12")
    config = Config(member="es", member_options=options, tune=("learning_rate",))
    assert [one.name for one in space(config)] == ["learning_rate"]
    one = ES(config, 0, SerialComm(), StopFlag())
    one.hyperparameters = {"learning_rate": 0.05}
    one.train(1)
    assert (one.strategy.sigma, one.strategy.popsize) == (0.3, 12)


@pytest.mark.parametrize(
    ("ranks", "together", "env", "more"),
    [
        (3, 2, "CartPole-v1", ()),
        pytest.param(2, 1, "CartPole-v1", (), marks=SLOW),
        pytest.param(5, 2, "CartPole-v1", (), marks=SLOW),
        (2, 2, "mpi_es/CartPole-v1", ("dispatch=dynamic",)),
        pytest.param(3, 1, "mpi_es/MountainCarContinuous-v0", ("noise=low-rank", "noise_rank=2"), marks=SLOW),
        pytest.param(5, 2, "mpi_es/LunarLander-v3", ("dispatch=dynamic",), marks=SLOW),
        pytest.param(3, 3, "mpi_es/BipedalWalker-v3", ("policy=lstm",), marks=SLOW),
    ],
)
def test_results_do_not_depend_on_ranks_or_ranks_per_member(
    trained, launch, tmp_path, ranks, together, env, more
):
    small = ("--num-agents", 3, "--steps", 2, "--max-iter", 3, "--num-rollouts", 2, "--num-eval-rollouts", 2)
    options = ("--member", "es", "--env", env, "--member-options", *OPTIONS, *more, *small)
    trained(tmp_path / "serial", *options)
    split = ("--ranks-per-member", together, "--console", "silent", "--no-tensorboard")
    done = launch(ranks, "-m", "pbt.train", *options, *split, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "serial"))


GROUP = ("--member", "es", "--num-agents", 3, "--steps", 4, "--max-iter", 4, "--num-eval-rollouts", 2)
GROUP += ("--ranks-per-member", 2, "--console", "silent", "--no-tensorboard")


@pytest.mark.parametrize("rank", [0, 1])
def test_a_signal_to_one_rank_of_a_group_stops_all(trained, launch, tmp_path, rank):
    run, env = tmp_path / "run", "tests.faults.broken_envs:signalled"
    options = (*GROUP, "--env", env, "--env-options", f"rank={rank}", "--member-options", *OPTIONS)
    done = launch(2, "-m", "pbt.train", *options, "--run-dir", run, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    content = checkpoint.load(run)[0]
    assert content["life"]["reason"].startswith("stopped by ")
    assert content["progress"]["generation"] < 4
    trained(tmp_path / "serial", *options)
    assert train.main(SerialComm(), ["--resume", str(run)]) == 0
    assert_same(exact(run), exact(tmp_path / "serial"))


def test_an_episode_that_raises_ends_its_whole_group(launch, tmp_path):
    options = (*GROUP, "--env", "tests.faults.broken_envs:late", "--member-options", *OPTIONS)
    done = launch(2, "-m", "pbt.train", *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode == 2
    assert "ValueError: the simulator broke" in done.stderr
    assert re.match(r"rank 0 on \S+: member \d: \S.*", checkpoint.load(tmp_path / "run")[0]["life"]["reason"])


@pytest.mark.parametrize("trouble", ["", "fails=1"])
def test_every_environment_that_was_made_is_closed(launch, tmp_path, trouble):
    log = tmp_path / "log"
    env = ("--env", "tests.envs.user_envs:Counted", "--env-options", f"log={log}", *trouble.split())
    size = ("--num-agents", 2, "--max-iter", 2, "--steps", 1, "--num-eval-rollouts", 2)
    options = ("--member", "es", "--member-options", "hidden=2", *env, *size, "--run-dir", tmp_path / "run")
    done = launch(2, "-m", "pbt.train", *options, cwd=ROOT)
    assert done.returncode == (2 if trouble else 0), done.stderr
    words = log.read_text().split()
    assert words.count("made") == words.count("closed") > 2


def test_a_rank_that_does_not_lead_its_group_has_no_score(launch):
    script = """
import numpy as np
from mpi_es.parallel.start_mpi import connect
from mpi_es.parallel.stop_signal import StopFlag
from pbt.config import Config
from pbt.members.es import ES
import os
comm = connect(os.environ)
one = ES(Config(member="es", member_options=("hidden=4",)), 0, comm, StopFlag())
one.hyperparameters = {"sigma": 0.1, "learning_rate": 0.05, "pairs": 4.0}
score = one.score(np.arange(3))
line = f"{comm.rank} {len(score.returns)} {len(score.lengths)}\\n"
print(line, end="", flush=True)  # in one piece, however Python buffers
"""
    done = launch(2, "-c", script)
    assert sorted(done.stdout.split("\n")) == ["", "0 3 3", "1 0 0"]

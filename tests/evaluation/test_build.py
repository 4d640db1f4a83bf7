import numpy as np
import pytest

from mpi_es import train
from mpi_es.config.parts import suited
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError
from mpi_es.evaluation import build
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.strategies.base import Dense
from mpi_es.strategies.noise import ComputedNoise


@pytest.mark.parametrize(
    ("choice", "ranks", "directs"),
    [("auto", 127, False), ("auto", 128, True), ("yes", 2, True), ("no", 500, False)],
)
def test_rank_0_directs_where_it_is_told_to_and_on_many_ranks(choice, ranks, directs):
    config = configured(dedicated_root=choice)
    assert build.dedicated(config, ranks, dynamic=True) == directs
    assert build.dedicated(config, ranks, dynamic=False) == (choice == "yes")


@pytest.mark.parametrize(
    ("config", "dynamic"),
    [
        (configured(), True),
        (configured(function="tests.run_file.bases:sphere", env="envpool:CartPole-v1", x0=(1.0,)), True),
        (configured(env="envpool:CartPole-v1"), False),
        (configured(env="vector:mpi_es/CarRacing-v3", policy="attention"), False),
        (configured(env="envpool:CartPole-v1", dispatch="dynamic"), True),
        (configured(dispatch="static"), False),
        (configured(env="mpi_es/CartPole-v1"), True),
        (configured(env="mpi_es/LunarLander-v3"), False),
        (configured(env="mpi_es/LunarLander-v3", compiled=False), True),
    ],
)
def test_auto_gives_a_rank_all_its_episodes_at_once_where_one_call_steps_them(config, dynamic):
    if config.env.startswith("envpool:") and not config.function:
        pytest.importorskip("envpool")
    assert build.is_dynamic(config, build.make_rollout(config)) == dynamic


def test_an_evaluator_has_the_parts_that_the_config_names():
    config = configured(hidden=(4,), strategy="openai_es", envs_per_rank=5)
    evaluator = build.make_evaluator(SerialComm(), config, StopFlag())
    assert (evaluator.dim, evaluator.rollout.width, evaluator.rollout.limit) == (30, 5, 500)
    assert isinstance(evaluator.noise.noise, ComputedNoise)


def test_held_out_episodes_run_in_an_environment_of_their_own():
    config = configured(env="Pendulum-v1", env_options=("g=9.0",), held_out_env_options=("g=1.0",))
    evaluator = build.make_evaluator(SerialComm(), config, StopFlag())
    zeros, seeds = Dense(np.zeros((1, evaluator.dim))), np.array([[4]])
    returns = [
        evaluator.evaluate(zeros, seeds, rules).returns
        for rules in (EpisodeRules(), evaluator.held_out_rules(0, None))
    ]
    for expected, options in zip(returns, (config.env_options, config.held_out_env_options), strict=True):
        alone = build.make_evaluator(
            SerialComm(), configured(env="Pendulum-v1", env_options=options), StopFlag()
        )
        assert alone.evaluate(zeros, seeds, EpisodeRules()).returns == expected
    assert returns[0] != returns[1]


def test_a_held_out_environment_of_other_spaces_is_refused():
    config = configured(env="FrozenLake-v1", held_out_env_options=("map_name=8x8",))
    with pytest.raises(UserError, match=r"--held-out-env-options: expected the spaces .*Discrete\(16\)"):
        build.make_evaluator(SerialComm(), config, StopFlag())


def test_a_refused_evaluator_closes_its_environments(monkeypatch):
    def refused(*_):
        raise UserError("a kernel that does not compile")

    closed = []
    monkeypatch.setattr(build, "prepare", refused)
    monkeypatch.setattr(EnvRollout, "close", lambda rollout: closed.append(rollout))
    config = configured(env="Pendulum-v1", held_out_env_options=("g=1.0",))
    with pytest.raises(UserError, match="does not compile"):
        build.make_evaluator(SerialComm(), config, StopFlag())
    assert len(closed) == 2


def test_what_the_held_out_environment_refuses_bears_its_option():
    config = configured(env="Pendulum-v1", held_out_env_options=("gravitation=3",))
    with pytest.raises(UserError, match=r"^--held-out-env-options: Pendulum-v1 refuses them: .*gravitation"):
        build.make_evaluator(SerialComm(), config, StopFlag())


def test_pictures_are_not_normalised():
    with pytest.raises(UserError, match=r"--obs-norm: expected an environment that observes a vector"):
        build.make_policy(
            configured(env="CarRacing-v3", obs_norm=True, policy="tests.policies.user_policies:Pictures")
        )


def test_a_run_whose_previous_file_alone_is_left_is_not_overwritten(tmp_path):
    (tmp_path / "run.previous.h5").write_bytes(b"")
    with pytest.raises(UserError, match="holds a run already"):
        train.prepare(["--run-dir", str(tmp_path)])


def test_an_evaluation_needs_no_module_of_the_strategy():
    values = {"strategy": "nowhere_to_be_found:Strategy", "hidden": (4,)}
    config = suited(Config, values, imports=False)
    evaluator = build.make_evaluator(SerialComm(), config, StopFlag())
    assert evaluator.dim == 4 * 4 + 4 + 4 * 2 + 2

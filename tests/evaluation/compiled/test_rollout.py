from dataclasses import replace

import numpy as np
import pytest

from mpi_es.config.parts import changed
from mpi_es.config.run import configured
from mpi_es.errors import RolloutError
from mpi_es.evaluation import build
from mpi_es.evaluation.compiled.rollout import CompiledRollout, _results
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from mpi_es.parallel.stop_signal import Stopped

CONFIG = configured(env="mpi_es/CarRacing-v3", policy="attention", hidden=(16,), envs_per_rank=2)


@pytest.fixture(scope="module")
def compiled():
    return build.make_rollout(CONFIG)


def source(rollout, episodes=5, kind=StaticSource):
    """Candidates that drive badly, each on a seed of its own."""
    rows = np.random.default_rng(0).normal(0, 0.2, (episodes, rollout.policy.dim)).astype(np.float32)
    return kind(Episode(i, i, 100 + i, row) for i, row in enumerate(rows))


def in_order(rows):
    return rows[np.argsort(rows[:, 0])]


@pytest.mark.parametrize(
    "options", [(), ("picture=exact",), ("variant=bars",), ("domain_randomize=True",), ("grass_cost=0.5",)]
)
def test_returns_and_lengths_are_those_of_the_ordinary_path_to_the_bit(options):
    config = replace(CONFIG, env_options=options)
    rules = EpisodeRules(cap=60, early_stop=20)
    fast, plain = build.make_rollout(config), build.make_rollout(replace(config, compiled=False))
    assert isinstance(fast, CompiledRollout)
    assert isinstance(plain, EnvRollout)
    expected = in_order(plain.run(source(plain), rules))
    np.testing.assert_array_equal(in_order(fast.run(source(fast), rules)), expected)
    assert len(set(expected[:, 1])) > 1


def test_clipped_rewards_are_the_ordinary_path_s_to_the_bit(compiled):
    plain = build.make_rollout(replace(CONFIG, compiled=False))
    rules = EpisodeRules(cap=60, early_stop=20, clip=(-0.05, 2.0))
    found = in_order(compiled.run(source(compiled), rules))
    np.testing.assert_array_equal(found, in_order(plain.run(source(plain), rules)))
    whole = in_order(compiled.run(source(compiled), replace(rules, clip=None)))
    np.testing.assert_array_equal(found[:, 2], whole[:, 2])
    assert (found[:, 1] < whole[:, 1]).any()


def test_an_action_that_lasts_several_steps_is_the_ordinary_path_s_to_the_bit():
    config = replace(CONFIG, action_repeat=3)
    fast, plain = build.make_rollout(config), build.make_rollout(replace(config, compiled=False))
    assert isinstance(fast, CompiledRollout)
    assert (fast.limit, plain.limit) == (1000, 1000)
    whole, stopped = EpisodeRules(), EpisodeRules(cap=170, early_stop=7)
    for rules, episodes in ((whole, 2), (stopped, 5)):
        expected = in_order(plain.run(source(plain, episodes), rules))
        np.testing.assert_array_equal(in_order(fast.run(source(fast, episodes), rules)), expected)
    assert 7 * 3 < expected[:, 2].min() < 170


WORLDS = {
    "discrete": configured(env="mpi_es/CartPole-v1", hidden=(9, 7)),
    "box": configured(env="mpi_es/MountainCarContinuous-v0", hidden=(64, 64), activation="selu"),
    "clip": configured(env="mpi_es/Pendulum-v1", hidden=(), output="clip"),
    "lstm": configured(env="mpi_es/Pendulum-v1", policy="lstm", hidden=(10,)),
    "gru": configured(env="mpi_es/Acrobot-v1", policy="gru", hidden=(16,)),
    "rnn": configured(env="mpi_es/MountainCar-v0", policy="rnn", hidden=(33,), activation="relu"),
    "cyclic": configured(env="mpi_es/CyclicMDP-v0", hidden=(20,), activation="relu"),
    # In lanes
    "lander": configured(env="mpi_es/LunarLander-v3", hidden=(9, 7)),
    "walker": configured(env="mpi_es/BipedalWalker-v3", policy="lstm", hidden=(10,)),
    "hardcore": configured(env="mpi_es/BipedalWalkerHardcore-v3", hidden=(), output="clip"),
}
RULES = {
    "plain": lambda size: EpisodeRules(),
    "all": lambda size: EpisodeRules(
        cap=57,
        normalisation=np.stack([np.linspace(-0.1, 0.2, size), np.linspace(1, 9, size)]),
        collect=True,
        early_stop=20,
        clip=(-0.5, 0.7),
        first_candidate=5,
    ),
}


@pytest.mark.parametrize("repeat", [1, 3])
@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("name", WORLDS)
def test_episodes_of_a_world_are_those_of_the_ordinary_path_to_the_bit(name, kind, repeat):
    config = replace(WORLDS[name], action_repeat=repeat, threads_per_rank=2)
    fast, plain = build.make_rollout(config), build.make_rollout(replace(config, compiled=False))
    assert isinstance(fast, CompiledRollout)
    assert isinstance(plain, EnvRollout)
    noises = (0.0, 0.3) if fast.spaces[1].shape else (0.0,)
    for rules in (replace(RULES[kind](fast.size), action_noise=noise) for noise in noises):
        expected = in_order(plain.run(source(plain, 12), rules))
        np.testing.assert_array_equal(in_order(fast.run(source(fast, 12), rules)), expected)


@pytest.mark.parametrize(
    "changes",
    [{"controller": "rnn"}, {"controller": "mlp", "num_frames": 2}, {"top_k": 9, "patch_order": "column"}],
)
def test_a_part_of_an_agent_drives_as_the_whole_one(changes):
    config = changed(CONFIG, evolve="controller", **changes)
    whole = build.make_rollout(config)
    agent = np.random.default_rng(1).normal(0, 0.2, whole.policy.dim).astype(np.float32)
    partly = build.make_rollout(config, agent)
    assert isinstance(partly, CompiledRollout)
    assert partly.policy.dim == whole.policy.dim - 1184
    expected = whole.run(StaticSource([Episode(0, 0, 5, agent)]), EpisodeRules(cap=40))
    found = partly.run(StaticSource([Episode(0, 0, 5, agent[1184:])]), EpisodeRules(cap=40))
    np.testing.assert_array_equal(found, expected)


def test_threads_change_nothing(compiled):
    several = build.make_rollout(replace(CONFIG, threads_per_rank=3))
    assert len(several.threads) == 3
    rules = EpisodeRules(cap=80)
    expected = compiled.run(source(compiled, 7), rules)
    np.testing.assert_array_equal(in_order(several.run(source(several, 7), rules)), expected)


def test_the_early_stop_counts_losing_steps_in_a_row(compiled):
    rows = compiled.run(source(compiled), EpisodeRules(early_stop=20))
    assert rows[:, 2].min() >= 21
    assert (compiled.run(source(compiled), EpisodeRules(cap=300))[:, 2] == 300).any()


def test_an_episode_ends_at_the_environment_s_limit(compiled):
    assert compiled.limit == 1000
    assert compiled.run(source(compiled, 1), compiled.full_episode_rules(7, None))[0, 2] == 1000


class Slow(StaticSource):
    """Has a signal come while episodes are under way."""

    def poll(self):
        raise Stopped


def test_a_signal_ends_episodes_under_way_and_leaves_nothing_behind(compiled):
    with pytest.raises(Stopped):
        compiled.run(source(compiled, kind=Slow), EpisodeRules())
    rules = EpisodeRules(cap=30)
    first = compiled.run(source(compiled), rules)
    np.testing.assert_array_equal(compiled.run(source(compiled), rules), first)


def test_no_thread_is_at_work_once_a_signal_has_ended_the_episodes(compiled, monkeypatch):
    play, over = compiled._play, []

    def noted(*arguments):
        over.append(play(*arguments))

    monkeypatch.setattr(compiled, "_play", noted)
    with pytest.raises(Stopped):
        compiled.run(source(compiled, kind=Slow), EpisodeRules())
    assert len(over) == len(compiled.threads) == 1


def test_parameters_that_are_no_numbers_act_as_on_the_ordinary_path():
    """An argmax finds the first that is no number; a clipped one stays so, and environments refuse it."""
    lander = configured(env="mpi_es/LunarLander-v3", env_options=("continuous=True",), hidden=(4,))
    for config in (WORLDS["discrete"], WORLDS["clip"], lander):
        fast, plain = (build.make_rollout(replace(config, compiled=kind)) for kind in (True, False))
        row = np.random.default_rng(0).normal(0, 1, fast.policy.dim).astype(np.float32)
        row[-1] = np.nan
        found = []
        for rollout in (fast, plain):
            try:
                found.append(rollout.run(StaticSource([Episode(0, 0, 5, row)]), EpisodeRules()).tolist())
            except RolloutError as error:
                found.append(str(error).partition(", step")[0])
        assert found[0] == found[1]


def test_an_observation_that_is_not_finite_is_refused_where_it_is_added_up():
    fast = build.make_rollout(WORLDS["box"])
    fast.threads[0].episodes = [Episode(0, 3, 5, np.zeros(fast.policy.dim, np.float32))]
    fast._run(fast.threads[0], EpisodeRules(cap=2, collect=True))
    fast.threads[0].batch.sums[0, 0, 0] = np.nan
    with pytest.raises(RolloutError, match="candidate 3, episode seed 5, step 2: expected finite observ"):
        _results(fast.threads[0], EpisodeRules(collect=True))


@pytest.mark.parametrize("changes", [{"env_options": ("continuous=False",)}, {"output": "clip"}])
def test_other_actions_of_the_car_are_those_of_the_ordinary_path(changes):
    config = changed(CONFIG, **changes)
    fast, plain = build.make_rollout(config), build.make_rollout(replace(config, compiled=False))
    assert isinstance(fast, CompiledRollout)
    expected = in_order(plain.run(source(plain, 2), EpisodeRules(cap=50)))
    np.testing.assert_array_equal(in_order(fast.run(source(fast, 2), EpisodeRules(cap=50))), expected)


@pytest.mark.parametrize(
    "changes",
    [
        {"env": "CarRacing-v3"},
        {"stride": 3},
        {"policy": "mlp", "env": "CartPole-v1"},
        {
            "policy": "mlp",
            "env": "mpi_es/Pendulum-v1",
            "env_options": ("max_episode_steps=-1",),
            "action_noise": 0.1,
        },
    ],
)
def test_what_does_not_suit_takes_the_ordinary_path(changes):
    assert isinstance(build.make_rollout(changed(CONFIG, **changes)), EnvRollout)

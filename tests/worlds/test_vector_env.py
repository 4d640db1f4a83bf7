import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.wrappers import FrameStackObservation
from gymnasium.wrappers.vector import NormalizeReward, RecordEpisodeStatistics

from mpi_es.errors import UserError
from mpi_es.worlds.env import WorldEnv
from mpi_es.worlds.vector_env import WorldVectorEnv
from tests.launching import assert_same
from tests.worlds.lockstep import Repeat
from tests.worlds.user_worlds import Telling

SEEDS = [12, 13, 14]
MODES = ["NextStep", "SameStep", "Disabled"]


def pair(name, mode="NextStep", wrappers=(), **options):
    """Return our vector, and gymnasium's of its environments, which are stepped one after the other."""
    ours = gym.make_vec(f"mpi_es/{name}", num_envs=3, autoreset_mode=mode, **options)
    for only_ours in ("threads", "frame_skip", "frame_stack"):
        options.pop(only_ours, None)
    options["wrappers"] = wrappers
    alone = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": mode}}
    return ours, gym.make_vec(name, num_envs=3, **options | alone)


def play(ours, theirs, steps):
    """Compare all that two vectors return in steps of random actions; return how many episodes ended."""
    rng, ends, n = np.random.default_rng(1), 0, ours.num_envs
    for _ in range(steps):
        space = ours.single_action_space
        if space.shape:
            actions = rng.uniform(space.low, space.high, (n, *space.shape)).astype(np.float32)
        else:
            actions = rng.integers(space.n, size=n)
        got = ours.step(actions)
        assert_same(got, theirs.step(actions))
        over = got[2] | got[3]
        ends += over.sum()
        if over.any() and ours.metadata["autoreset_mode"].value == "Disabled":
            options = [{"reset_mask": over.copy()} for _ in range(2)]
            assert_same(ours.reset(options=options[0]), theirs.reset(options=options[1]))
    return ends


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_vector_does_what_gymnasium_s_does_for_every_number_of_threads(threads, mode):
    ours, theirs = pair("CartPole-v1", mode, threads=threads, max_episode_steps=30)
    assert_same(ours.reset(seed=SEEDS), theirs.reset(seed=SEEDS))
    assert play(ours, theirs, 120) > 10
    assert_same(ours.reset(seed=[5, None, 2**62]), theirs.reset(seed=[5, None, 2**62]))
    play(ours, theirs, 10)
    ours.close()


@pytest.mark.parametrize("name", ["Pendulum-v1", "MountainCarContinuous-v0", "Acrobot-v1", "MountainCar-v0"])
def test_other_worlds_are_gymnasium_s_too(name):
    ours, theirs = pair(name, max_episode_steps=9)
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    assert play(ours, theirs, 25) >= 6
    assert (ours.action_space, ours.observation_space) == (theirs.action_space, theirs.observation_space)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["mpi_es/LunarLander-v3", "mpi_es/BipedalWalker-v3"])
def test_environments_that_step_together_do_what_each_does_alone(name, mode):
    ours = gym.make_vec(name, num_envs=21, threads=2, autoreset_mode=mode, max_episode_steps=90)
    alone = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": mode}}
    theirs = gym.make_vec(name, num_envs=21, max_episode_steps=90, **alone)
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    assert play(ours, theirs, 250) > 40
    ours.close()


@pytest.mark.parametrize("mode", MODES)
def test_frames_are_skipped_and_stacked_as_by_gymnasium_s_wrappers(mode):
    wrappers = (lambda env: Repeat(env, 3), lambda env: FrameStackObservation(env, 2))
    options = {"frame_skip": 3, "frame_stack": 2, "max_episode_steps": 31}
    ours, theirs = pair("CartPole-v1", mode, wrappers, **options)
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    assert play(ours, theirs, 60) > 10
    assert ours.observation_space == theirs.observation_space


@pytest.mark.parametrize("mode", MODES)
def test_what_a_world_tells_of_an_episode_that_is_over_is_in_the_infos(mode):
    worlds = [Telling() for _ in range(4)]
    ours = WorldVectorEnv(worlds[0], num_envs=3, autoreset_mode=mode)
    theirs = gym.vector.SyncVectorEnv([lambda w=w: WorldEnv(w) for w in worlds[1:]], autoreset_mode=mode)
    assert_same(ours.reset(seed=1), theirs.reset(seed=1))
    actions = np.array([[5.0], [3.0], [6.0]], np.float32)
    got = ours.step(actions)
    assert_same(got, theirs.step(actions))
    infos = got[-1]["final_info"] if mode == "SameStep" else got[-1]
    assert infos["is_even"].tolist() == [True, False, False]
    assert infos["is_large"].tolist() == [True, False, True]


def test_a_mask_begins_some_episodes_and_leaves_the_others():
    ours, theirs = pair("Pendulum-v1")
    assert_same(ours.reset(seed=1), theirs.reset(seed=1))
    play(ours, theirs, 2)
    for seed in ([None, 9, None], None):
        options = [{"reset_mask": np.array([False, True, False])} for _ in range(2)]
        assert_same(ours.reset(seed=seed, options=options[0]), theirs.reset(seed=seed, options=options[1]))
        play(ours, theirs, 2)


def test_observations_stay_when_the_next_are_made():
    ours, _ = pair("Pendulum-v1")
    first, _ = ours.reset(seed=1)
    kept = first.copy()
    ours.step(np.ones((3, 1), np.float32))
    np.testing.assert_array_equal(first, kept)


def test_without_a_seed_episodes_differ_and_follow_the_vector_s_own_seed():
    first, second = (gym.make_vec("mpi_es/CartPole-v1", num_envs=2) for _ in range(2))
    seen = first.reset()[0]
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen, second.reset()[0])


@pytest.mark.parametrize("seed", [2**31 - 1, np.int64(2**31 - 1), np.int32(2**31 - 1)])
def test_a_seed_s_type_does_not_matter(seed):
    env = gym.make_vec("mpi_es/CartPole-v1", num_envs=2)
    seen = env.reset(seed=seed)[0]
    assert env.np_random_seed == 2**31 - 1
    np.testing.assert_array_equal(seen, env.reset(seed=[2**31 - 1, 2**31])[0])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda vector: pickle.loads(pickle.dumps(vector))])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_copy_goes_on_by_itself(threads, copied):
    vector = gym.make_vec("mpi_es/CartPole-v1", 3, threads=threads, render_mode="rgb_array")
    vector.reset(seed=3)
    vector.step(np.ones(3, int))
    vector.render()
    apart = copied(vector)
    copied(vector).reset(seed=5)
    for ours, theirs in zip(vector.step(np.zeros(3, int)), apart.step(np.zeros(3, int)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(apart.render()) == 3


def test_gymnasium_s_wrappers_take_it():
    ours, theirs = (
        NormalizeReward(RecordEpisodeStatistics(each)) for each in pair("CartPole-v1", max_episode_steps=5)
    )
    ours.reset(seed=1), theirs.reset(seed=1)
    for _ in range(5):
        got, expected = (each.step(np.ones(3, int)) for each in (ours, theirs))
        np.testing.assert_array_equal(got[1], expected[1])
    assert got[3].all()
    assert got[4]["episode"]["l"].tolist() == expected[4]["episode"]["l"].tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    ("name", "actions", "error"),
    [
        ("CartPole-v1", np.array([0, 1]), "expected actions of the shape"),
        ("CartPole-v1", np.array([0, 2, 1]), "expected actions in Discrete"),
        ("CartPole-v1", np.array([0.0, 1.0, 1.0]), "expected actions in Discrete"),
        ("Pendulum-v1", np.full((3, 1), np.nan), "expected finite numbers"),
        ("Pendulum-v1", np.full((3, 1), 1e39), "expected finite numbers"),  # infinite in float32
    ],
)
def test_what_is_no_action_is_refused(name, actions, error):
    ours, _ = pair(name)
    with pytest.raises(ResetNeeded, match="before the first step"):
        ours.step(np.zeros(3, int))
    ours.reset(seed=1)
    with pytest.raises(InvalidAction, match=error):
        ours.step(actions)


def test_the_action_of_an_environment_that_begins_an_episode_is_ignored():
    ours, _ = pair("Pendulum-v1", max_episode_steps=1)
    ours.reset(seed=1)
    ours.step(np.zeros((3, 1)))
    _, rewards, *_ = ours.step(np.full((3, 1), np.nan))
    assert not rewards.any()


def test_an_episode_that_is_over_waits_for_a_reset_where_nothing_else_begins_it():
    ours, _ = pair("CartPole-v1", "Disabled", max_episode_steps=1)
    ours.reset(seed=1)
    ours.step(np.zeros(3, int))
    with pytest.raises(ResetNeeded, match="whose episodes are over: 0, 1, 2"):
        ours.step(np.zeros(3, int))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_envs": 0}, "num_envs: expected a whole number from 1, got 0"),
        ({"frame_skip": 1.5}, "frame_skip: expected a whole number from 1, got 1.5"),
        ({"max_episode_steps": 0}, "max_episode_steps: expected a whole number from 1, or -1, got 0"),
        ({"threads": 1.5}, "threads: expected a whole number from 1, got 1.5"),
        ({"render_mode": "human"}, "render_mode: expected one of rgb_array, got 'human'"),
        ({"autoreset_mode": "never"}, "autoreset_mode: expected one of NextStep, SameStep, Disabled"),
        ({"g": None}, "g: expected a number, got None"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options, error):
    with pytest.raises(UserError, match=error):
        gym.make_vec("mpi_es/Pendulum-v1", **{"num_envs": 2} | options)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"seed": [1, 2]}, "seed: expected an integer or a list of 3"),
        ({"seed": 3.0}, "seed: expected an integer or a list of 3, got 3.0"),
        ({"seed": -1}, "seed: expected numbers from 0 to 9223372036854775807, got -1"),
        ({"seed": 2**63 - 2}, f"seed: expected numbers from 0 to {2**63 - 1}, got {2**63}"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, r"reset_mask: expected a bool array \(3,\)"),
        ({"options": {"low": 0}}, r"options: expected none, got \{'low': 0\}"),
    ],
)
def test_a_seed_a_mask_or_an_option_that_cannot_be_is_refused_at_a_reset(given, error):
    with pytest.raises(UserError, match=error):
        pair("Pendulum-v1")[0].reset(**given)


def test_each_environment_has_its_picture():
    env = gym.make_vec("mpi_es/CartPole-v1", num_envs=2, render_mode="rgb_array")
    env.reset(seed=[1, 2])
    pictures = env.render()
    assert [picture.shape for picture in pictures] == [(400, 600, 3)] * 2
    env.close()

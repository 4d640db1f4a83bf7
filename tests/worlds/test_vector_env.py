import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from mpi_es import envs
from mpi_es.errors import UserError
from tests.worlds.lockstep import assert_equal

SEEDS = [12, 13, 14]
MODES = ["NextStep", "SameStep", "Disabled"]


def pair(name, mode="NextStep", **options):
    """Return our vector, and gymnasium's of its environments, which are stepped one after the other."""
    ours = gym.make_vec(f"mpi_es/{name}", num_envs=3, autoreset_mode=mode, **options)
    options.pop("threads", None)
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
        assert_equal(got, theirs.step(actions))
        over = got[2] | got[3]
        ends += over.sum()
        if over.any() and ours.metadata["autoreset_mode"].value == "Disabled":
            options = [{"reset_mask": over.copy()} for _ in range(2)]
            assert_equal(ours.reset(options=options[0]), theirs.reset(options=options[1]))
    return ends


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_vector_does_what_gymnasium_s_does_for_every_number_of_threads(threads, mode):
    ours, theirs = pair("CartPole-v1", mode, threads=threads, max_episode_steps=30)
    assert_equal(ours.reset(seed=SEEDS), theirs.reset(seed=SEEDS))
    assert play(ours, theirs, 120) > 10
    assert_equal(ours.reset(seed=[5, None, 2**62]), theirs.reset(seed=[5, None, 2**62]))
    play(ours, theirs, 10)
    ours.close()


@pytest.mark.parametrize("name", ["Pendulum-v1", "MountainCarContinuous-v0", "Acrobot-v1", "MountainCar-v0"])
def test_other_worlds_are_gymnasium_s_too(name):
    ours, theirs = pair(name, max_episode_steps=9)
    assert_equal(ours.reset(seed=3), theirs.reset(seed=3))
    assert play(ours, theirs, 25) >= 6
    assert (ours.action_space, ours.observation_space) == (theirs.action_space, theirs.observation_space)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["mpi_es/LunarLander-v3", "mpi_es/BipedalWalker-v3"])
def test_environments_that_step_together_do_what_each_does_alone(name, mode):
    ours = gym.make_vec(name, num_envs=21, threads=2, autoreset_mode=mode, max_episode_steps=90)
    alone = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": mode}}
    theirs = gym.make_vec(name, num_envs=21, max_episode_steps=90, **alone)
    assert_equal(ours.reset(seed=3), theirs.reset(seed=3))
    assert play(ours, theirs, 250) > 40
    ours.close()


def test_without_a_seed_episodes_differ_and_follow_the_vector_s_own_seed():
    first, second = (gym.make_vec("mpi_es/CartPole-v1", num_envs=2) for _ in range(2))
    seen = first.reset()[0]
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen, second.reset()[0])


def test_gymnasium_s_wrappers_take_it():
    env = RecordEpisodeStatistics(gym.make_vec("mpi_es/CartPole-v1", num_envs=2, max_episode_steps=5))
    env.reset(seed=1)
    for _ in range(5):
        *_, truncated, infos = env.step(np.ones(2, int))
    assert truncated.all()
    assert infos["episode"]["l"].tolist() == [5, 5]


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        (np.array([0, 1]), "expected actions of the shape"),
        (np.array([0, 2, 1]), "expected actions in Discrete"),
        (np.array([0.0, 1.0, 1.0]), "expected actions in Discrete"),
    ],
)
def test_what_is_no_action_is_refused(actions, error):
    ours, _ = pair("CartPole-v1")
    with pytest.raises(ResetNeeded, match="before the first step"):
        ours.step(np.zeros(3, int))
    ours.reset(seed=1)
    with pytest.raises(InvalidAction, match=error):
        ours.step(actions)


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
        ({"threads": 1.5}, "threads: expected a whole number from 1, got 1.5"),
        ({"render_mode": "human"}, "render_mode: expected one of rgb_array, got 'human'"),
        ({"autoreset_mode": "never"}, "autoreset_mode: expected one of NextStep, SameStep, Disabled"),
        ({"g": None}, "g: expected a number, got None"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options, error):
    with pytest.raises(UserError, match=error):
        gym.make_vec("mpi_es/Pendulum-v1", **{"num_envs": 2} | options)


def test_each_environment_has_its_picture():
    env = gym.make_vec("mpi_es/CartPole-v1", num_envs=2, render_mode="rgb_array")
    env.reset(seed=[1, 2])
    pictures = env.render()
    assert [picture.shape for picture in pictures] == [(400, 600, 3)] * 2
    env.close()


def test_a_rollout_takes_the_vector():
    batch = envs.open_batch("vector:mpi_es/CartPole-v1", (), 2)
    _, observations = batch.begin([4, 5])
    for seen, seed in zip(observations, (4, 5), strict=True):
        np.testing.assert_array_equal(seen, envs.make("CartPole-v1")[0].reset(seed=seed)[0])
    batch.close()

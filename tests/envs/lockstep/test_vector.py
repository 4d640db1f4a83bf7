import gymnasium as gym
import numpy as np
import pytest

from mpi_es import envs
from mpi_es.errors import UserError


class OneGenerator(gym.vector.SyncVectorEnv):
    """Ignores the seeds of its environments."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=3, options=options)


def make_sync(num_envs, gravity=-10.0):
    return gym.vector.SyncVectorEnv([lambda: gym.make("LunarLander-v3", gravity=gravity)] * num_envs)


def make_unseeded(num_envs):
    return OneGenerator([lambda: gym.make("LunarLander-v3")] * num_envs)


def make_without_resets(num_envs):
    return gym.make_vec("mpi_es/CartPole-v1", num_envs, autoreset_mode="Disabled")


class Own(gym.vector.VectorEnv):
    """A user's VectorEnv, whose `envs` are no environments."""

    def __init__(self, num_envs):
        self.envs, self.inner = [object()] * num_envs, make_sync(num_envs)
        self.num_envs, self.metadata = num_envs, self.inner.metadata
        self.single_observation_space = self.inner.single_observation_space
        self.single_action_space = self.inner.single_action_space

    def reset(self, *, seed=None, options=None):
        return self.inner.reset(seed=seed, options=options)

    def step(self, actions):
        return self.inner.step(actions)


def test_a_vector_of_a_user_is_taken_as_it_is():
    batch = envs.open_batch(f"vector:{__name__}:Own", width=2)
    assert (batch.limit, batch.begin([4])[1].shape) == (0, (1, 8))


def make_single(num_envs):
    return gym.make("CartPole-v1")


class Parts(gym.Env):
    """Sees two numbers by name."""

    observation_space = gym.spaces.Dict({"a": gym.spaces.Box(0, 1), "b": gym.spaces.Box(0, 1)})
    action_space = gym.spaces.Discrete(2)


def make_parts(num_envs):
    return gym.vector.SyncVectorEnv([Parts] * num_envs)


class FromOne(gym.Env):
    """Takes actions 1 and 2 only."""

    observation_space, action_space = gym.spaces.Box(0, 1, (1,)), gym.spaces.Discrete(2, start=1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.random(1, np.float32), {}

    def step(self, action):
        assert self.action_space.contains(action)
        return self.np_random.random(1, np.float32), 1.0, False, False, {}


def make_from_one(num_envs):
    return gym.vector.SyncVectorEnv([FromOne] * num_envs)


def test_environments_without_an_episode_get_valid_actions():
    batch = envs.open_batch(f"vector:{__name__}:make_from_one", width=3)
    places, _ = batch.begin([4])
    assert batch.step(places, np.array([2]))[1].tolist() == [1.0]


class Rescaled(Own):
    """Divides pictures, and keeps their space."""

    def __init__(self, num_envs):
        super().__init__(num_envs)
        self.single_observation_space = gym.spaces.Box(0, 255, (8,), np.uint8)


class Widened(Own):
    """Has a float32 more than its space."""

    def __init__(self, num_envs):
        super().__init__(num_envs)
        self.single_observation_space = gym.spaces.Box(-9, 9, (7,))


class Doubles(Own):
    """Returns observations of float64, unlike its space."""

    def reset(self, *, seed=None, options=None):
        observations, infos = super().reset(seed=seed, options=options)
        return observations.astype(np.float64), infos


def test_observations_have_the_type_of_their_space():
    batch = envs.open_batch(f"vector:{__name__}:Doubles", width=2)
    assert batch.begin([4])[1].dtype == np.float32


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"vector:{__name__}:Rescaled", "the shape (8,) and uint8, got '(8,) and float32'"),
        (f"vector:{__name__}:Widened", "the shape (7,) and float32, got '(8,) and float32'"),
        (f"vector:{__name__}:make_unseeded", "the episode of a seed differed in another environment"),
        ("vector:CartPole-v1", "--env: expected a VectorEnv whose reset takes a seed for each environment"),
        (f"vector:{__name__}:make_single", "--env: expected a gymnasium.VectorEnv from vector:"),
        (f"vector:{__name__}:make_snyc", "did you mean 'make_sync'?"),
        ("vector:CartPole-v7", "use 'CartPole-v1'"),
        (f"vector:{__name__}:make_without_resets", "autoreset_mode is Disabled"),
        (f"vector:{__name__}:make_parts", "observations and actions are one array each, got Dict("),
    ],
)
def test_what_could_not_be_repeated_is_refused(name, words):
    with pytest.raises(UserError) as raised:
        envs.open_batch(name, width=2)
    assert words in str(raised.value)


def test_episodes_are_those_of_the_environment_alone():
    batch = envs.open_batch(f"vector:{__name__}:make_sync", ("gravity=-5.0",), 3)
    places, observations = batch.begin([4, 5])
    alone = gym.make("LunarLander-v3", gravity=-5.0)
    assert (alone.reset(seed=5)[0] == observations[1]).all()
    for _ in range(5):
        observations, rewards, _ = batch.step(places, np.array([0, 2]))
        expected = alone.step(2)
        assert (expected[0] == observations[1]).all()
        assert expected[1] == rewards[1]


class Keeping(gym.Env):
    """Rewards small changes of its action, which it keeps."""

    observation_space, action_space = gym.spaces.Box(-1, 1, (2,)), gym.spaces.Box(-1, 1, (2,))

    def reset(self, *, seed=None, options=None):
        self.last = np.zeros(2)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        change, self.last = float(np.abs(action - self.last).sum()), action
        return np.zeros(2, np.float32), -change, False, False, {}


def make_keeping(num_envs):
    return gym.vector.SyncVectorEnv([Keeping] * num_envs)


def test_an_environment_may_keep_its_action():
    batch = envs.open_batch(f"vector:{__name__}:make_keeping", width=2)
    places, _ = batch.begin([4, 5])
    for size in (0.5, -0.5):
        _, rewards, _ = batch.step(places, np.full((2, 2), size, np.float32))
    assert rewards.tolist() == [-2, -2]


@pytest.mark.parametrize(
    ("name", "options", "limit"),
    [
        (f"vector:{__name__}:make_sync", (), 1000),
        ("vector:ALE/Pong-v5", (), 27_000),
        ("vector:Pendulum-v1", ("max_episode_steps=50",), 50),
        ("vector:mpi_es/CartPole-v1", ("max_episode_steps=1000",), 1000),
        ("vector:mpi_es/CartPole-v1", ("max_episode_steps=-1",), 0),
    ],
)
def test_the_limit_is_found_where_gymnasium_counts_and_where_the_game_does(name, options, limit):
    batch = envs.open_batch(name, options, 2)
    batch.close()
    assert batch.limit == limit


def returns(batch, seed, steps=300):
    """Return an episode's rewards with random actions."""
    places, _ = batch.begin([seed])
    rng, found = np.random.default_rng(seed), []
    for _ in range(steps):
        _, rewards, ended = batch.step(places, rng.uniform(-1, 1, (1, 4)).astype(np.float32))
        found += rewards.tolist()
        if ended.any():
            break
    batch.end(places)
    return found


def test_an_episode_of_the_walker_does_not_depend_on_the_one_before():
    used, new = (envs.open_batch("vector:BipedalWalker-v3", width=1) for _ in range(2))
    for seed in (1, 2):
        returns(used, seed)
    assert returns(used, 3) == returns(new, 3)

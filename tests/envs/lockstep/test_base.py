"""What holds for every batch of environments: an episode depends on its seed and its actions only."""

import ctypes.util
import importlib.util

import gymnasium as gym
import numpy as np
import pytest

from mpi_es import envs


def make_vector(num_envs):
    return gym.vector.SyncVectorEnv([lambda: gym.make("LunarLander-v3")] * num_envs)


NEEDS = {
    "envpool": importlib.util.find_spec("envpool"),
    "envpool:Bigfish": importlib.util.find_spec("envpool") and ctypes.util.find_library("Qt5Gui"),
    "vector:ALE": importlib.util.find_spec("ale_py"),
}
BATCHES = [
    "CartPole-v1",
    "FrozenLake-v1",
    "BipedalWalker-v3",
    "mpi_es/CyclicMDP-v0",
    "envpool:CartPole-v1",
    "envpool:LunarLander-v3",
    "envpool:BipedalWalker-v3",
    "envpool:HalfCheetah-v5",
    "envpool:Pong-v5",
    "envpool:BigfishEasy-v0",
    "vector:ALE/Pong-v5",
    f"vector:{__name__}:make_vector",
]


@pytest.fixture(params=BATCHES)
def name(request):
    for begin, there in NEEDS.items():
        if request.param.startswith(begin) and not there:
            pytest.skip(f"{begin} is not installed")
    return request.param


def play(batch, seeds, steps, cuts=None):
    """Return what each seed's episode showed; `cuts` ends some before the batch does."""
    places, observations = batch.begin(seeds)
    space, left = batch.action_space, list(seeds)
    seen = {seed: [observations[i].tolist()] for i, seed in enumerate(seeds)}
    for step in range(steps):
        actions = np.array([action(space, seed, step) for seed in left])
        observations, rewards, ended = batch.step(places, actions)
        for i, seed in enumerate(left):
            ended[i] |= step + 1 == (cuts or {}).get(seed)
            seen[seed].append((observations[i].tolist(), float(rewards[i]), bool(ended[i])))
        batch.end(places[ended])
        left = [seed for seed, over in zip(left, ended, strict=True) if not over]
        places = places[~ended]
        if not left:
            break
    batch.clear()
    return seen


def action(space, seed, step):
    generator = np.random.default_rng([seed, step])
    if isinstance(space, gym.spaces.Discrete):
        return generator.integers(space.n)
    return generator.uniform(-1, 1, space.shape).astype(space.dtype)


def test_an_episode_does_not_depend_on_its_neighbours(name):
    batch = envs.open_batch(name, width=5)
    together = play(batch, [11, 22, 33, 44, 55], 40)
    reordered = play(batch, [55, 33, 11], 40)
    alone = play(batch, [33], 40)
    batch.close()
    assert {seed: together[seed] for seed in reordered} == reordered
    assert alone == {33: together[33]}


def test_an_episode_does_not_depend_on_when_others_begin_and_end(name):
    batch = envs.open_batch(name, width=3)
    expected = play(batch, [1, 2, 3], 12)
    play(batch, [7, 8, 9], 5)
    cut = play(batch, [1, 2, 3], 12, {2: 4})
    assert (cut[1], cut[3]) == (expected[1], expected[3])
    assert cut[2][:4] == expected[2][:4]
    early, first = batch.begin([1, 2])
    batch.end(early[:1])
    late, second = batch.begin([3, 1])
    assert (second[1] == first[0]).all()
    places = np.concatenate([late[1:], early[1:]])
    both = np.array([action(batch.action_space, seed, 0) for seed in (1, 2)])
    observations, rewards, _ = batch.step(places, both)
    for i, seed in enumerate((1, 2)):
        assert (observations[i].tolist(), rewards[i]) == expected[seed][1][:2]
    batch.close()


def test_observations_and_actions_fit_their_spaces(name):
    batch = envs.open_batch(name, width=2)
    places, observations = batch.begin([5, 6])
    space = batch.observation_space
    assert (observations.shape, observations.dtype) == ((2, *(space.shape or ())), space.dtype)
    observations, rewards, ended = batch.step(places, np.stack([batch.action_space.sample()] * 2))
    assert (observations.shape, observations.dtype) == ((2, *(space.shape or ())), space.dtype)
    assert (rewards.dtype, ended.dtype) == (np.float64, np.bool_)
    assert batch.limit >= 0
    batch.close()

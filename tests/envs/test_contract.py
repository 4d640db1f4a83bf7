import numpy as np
import pytest

from mpi_es import envs

NAMES = [
    "CartPole-v1",
    "Acrobot-v1",
    "Pendulum-v1",
    "LunarLander-v3",
    "LunarLanderContinuous-v3",
    "BipedalWalker-v3",
    "BipedalWalkerHardcore-v3",
    "mpi_es/CyclicMDP-v0",
    "mpi_es/TakeCover-v0",
    "mpi_es.papers.atari_frames:make_grey",
    "mpi_es.papers.atari_frames:make_colour",
    "mpi_es.papers.atari_frames:make_stacked",
    "ALE/Pong-v5",
]
NEEDS = {"mpi_es/TakeCover": "vizdoom", "mpi_es.papers.atari_frames": "ale_py", "ALE/": "ale_py"}


def play(env, seed, steps=250):
    """Return what an episode of random actions shows, byte for byte."""
    rng = np.random.default_rng(seed)
    space = env.action_space
    observation, _ = env.reset(seed=seed)
    seen = [observation.tobytes()]
    for _ in range(steps):
        action = rng.integers(space.n) if hasattr(space, "n") else rng.uniform(space.low, space.high)
        observation, reward, terminated, truncated, _ = env.step(np.asarray(action, space.dtype))
        seen += [observation.tobytes(), float(reward), bool(terminated)]
        if terminated or truncated:
            break
    return seen


@pytest.fixture(params=NAMES)
def name(request):
    for begin, package in NEEDS.items():
        if request.param.startswith(begin):
            pytest.importorskip(package)
    return request.param


def test_an_episode_depends_on_its_seed_and_actions_only(name):
    used, _ = envs.make(name)
    for seed in range(2 if name.startswith(tuple(NEEDS)) else 6):
        fresh, _ = envs.make(name)
        expected = play(fresh, seed)
        assert play(used, seed) == expected  # after the episodes before
        play(used, 1000 + seed, steps=40)  # left in its middle
        assert play(used, seed) == expected


def test_seeds_matter(name):
    env, _ = envs.make(name)
    first, second = env.reset(seed=1)[0], env.reset(seed=2)[0]
    alike = name == "mpi_es/CyclicMDP-v0" or name.startswith(tuple(NEEDS))  # games begin with one picture
    assert alike or not np.array_equal(first, second)


def test_observations_and_actions_have_the_types_of_their_spaces(name):
    env, _ = envs.make(name)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert env.observation_space.contains(env.step(env.action_space.sample())[0])

import importlib.util

import numpy as np
import pytest

from mpi_es import envs
from mpi_es.errors import UserError
from mpi_es.papers.atari_frames import Grey, _bilinear

atari = pytest.mark.skipif(not importlib.util.find_spec("ale_py"), reason="ale_py is not installed")
SIGHTS = {
    "make_grey": ((1, 42, 42), np.float32),
    "make_colour": ((128, 128, 3), np.uint8),
    "make_stacked": ((4, 84, 84), np.uint8),
}


@atari
@pytest.mark.parametrize("sight", SIGHTS)
def test_what_is_seen(sight):
    env, _ = envs.make(f"mpi_es.papers.atari_frames:{sight}", ("game=SpaceInvaders",))
    seen = env.reset(seed=1)[0]
    assert (seen.shape, seen.dtype) == SIGHTS[sight]
    assert env.observation_space.contains(np.asarray(env.step(2)[0]))
    assert env.action_space.n == 6


def test_a_game_is_one_name():
    with pytest.raises(UserError, match="--env-options game: expected the name of an Atari game"):
        envs.make("mpi_es.papers.atari_frames:make_grey", ("game=a:Pong",))


@atari
def test_an_action_lasts_four_frames_and_a_game_is_cut_after_108_000():
    env, limit = envs.make("ALE/Pong-v5")
    assert limit == 27000
    env, _ = envs.make("mpi_es.papers.atari_frames:make_grey")
    env.reset(seed=1)
    first = env.unwrapped.ale.getEpisodeFrameNumber()
    env.step(0)
    assert env.unwrapped.ale.getEpisodeFrameNumber() - first == 4


def test_shrinking_by_two_is_the_mean_of_pairs():
    pixels = np.arange(8.0) ** 2
    np.testing.assert_allclose(_bilinear(8, 4) @ pixels, pixels.reshape(4, 2).mean(axis=1))
    np.testing.assert_allclose(_bilinear(80, 42).sum(axis=1), 1)


@atari
def test_a_grey_frame_is_normalised_by_the_frames_of_its_episode():
    env, _ = envs.make("mpi_es.papers.atari_frames:make_grey")
    assert isinstance(env, Grey)
    first = env.reset(seed=1)[0]
    assert first.mean() == pytest.approx(0, abs=1e-5)
    assert first.std() == pytest.approx(1, abs=1e-5)
    env.step(0)
    assert (env.reset(seed=1)[0] == first).all()


@atari
def test_idle_frames_at_the_beginning_depend_on_the_seed():
    def frames(seed, *options, sight="make_colour"):
        env, _ = envs.make(f"mpi_es.papers.atari_frames:{sight}", options)
        env.reset(seed=seed)
        return env.unwrapped.ale.getEpisodeFrameNumber()

    idle = [frames(seed) for seed in range(12)]
    assert len(set(idle)) > 3
    assert 1 <= min(idle) <= max(idle) <= 30
    for sight in SIGHTS:
        assert {frames(seed, "noop_max=0", sight=sight) for seed in range(3)} == {0}

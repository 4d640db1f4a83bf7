"""Atari games as other systems see them: a grey frame of 42 x 42, or a colour frame of 128 x 128.

`--env mpi_es.papers.atari_frames:make_grey --env-options game=Pong`. make_stacked is gymnasium's own
preprocessing. Every action lasts four frames, none is repeated at random, and a game ends after 108,000
frames. The only randomness is the number of idle frames at the beginning, up to 30 as in the literature;
pytorch-es and PyTorch-ES have none (`noop_max=0`), so each of their agents always plays the same game.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mpi_es.errors import expected

FRAMES = 4  # that an action lasts
IDLE = 30  # idle frames at a game's beginning, at most; gymnasium's and DeepMind's number
CROP = (slice(34, 194), slice(0, 160))  # the field without score and edges, as pytorch-es cuts it
HALF, SMALL = 80, 42  # pixels of a side: a frame shrinks to 80, then to 42
FORGETTING = 0.9999  # of the running mean and deviation of pytorch-es
COLOUR = 128  # pixels of a side of PyTorch-ES's pictures


def make_grey(game: str = "Pong", noop_max: int = IDLE, render_mode: str | None = None) -> gym.Env[Any, Any]:
    """Return a game seen as pytorch-es sees it: (1, 42, 42), grey and normalised."""
    return Grey(IdleStart(_make(game, render_mode), noop_max))


def make_colour(
    game: str = "SpaceInvaders", noop_max: int = IDLE, render_mode: str | None = None
) -> gym.Env[Any, Any]:
    """Return a game seen as PyTorch-ES sees it: (128, 128, 3) bytes."""
    return Colour(IdleStart(_make(game, render_mode), noop_max))


def make_stacked(
    game: str = "Pong", noop_max: int = IDLE, render_mode: str | None = None
) -> gym.Env[Any, Any]:
    """Return a game with gymnasium's preprocessing: the last four frames, (4, 84, 84) bytes."""
    plain = _make(game, render_mode, frameskip=1)
    env = gym.wrappers.AtariPreprocessing(plain, noop_max=noop_max, frame_skip=FRAMES)
    return gym.wrappers.FrameStackObservation(env, FRAMES)


def _make(game: str, render_mode: str | None, frameskip: int = FRAMES) -> Any:
    from mpi_es import envs  # which registers Atari's ids, or says what to install

    if not game.isidentifier():  # a colon in an id would import a module
        raise expected("--env-options game", "the name of an Atari game, such as SpaceInvaders", game)
    options = (f"frameskip={frameskip}", "repeat_action_probability=0.0")
    env, limit = envs.make(f"ALE/{game}-v5", options, render_mode)
    return gym.wrappers.TimeLimit(env, limit)


class IdleStart(gym.Wrapper[Any, Any, Any, Any]):
    """A game that begins with idle steps, 1 to `noop_max` frames by the episode's seed."""

    def __init__(self, env: gym.Env[Any, Any], noop_max: int) -> None:
        super().__init__(env)
        self._most = noop_max

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin an episode, and idle."""
        observation, info = self.env.reset(seed=seed, options=options)
        ale: Any = self.env.unwrapped.ale
        if self._most:
            generator = np.random.default_rng(seed) if seed is not None else self.np_random
            for _ in range(int(generator.integers(1, self._most + 1))):
                ale.act(0)
            observation = ale.getScreenRGB()
        return observation, info


class Grey(gym.ObservationWrapper[NDArray[np.float32], Any, Any]):
    """A frame cut, shrunk, grey, and normalised by a running mean and deviation of its episode.

    pytorch-es keeps the running values across episodes; here they start again with each, since an episode
    would otherwise depend on earlier ones.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (1, SMALL, SMALL), np.float32)
        # Both resizing steps and the mean of the colours are linear: one matrix for each axis.
        self._shrink = (_bilinear(HALF, SMALL) @ _bilinear(160, HALF)).astype(np.float32)
        self._steps, self._mean, self._deviation = 0, 0.0, 0.0

    def reset(self, **options: Any) -> Any:
        """Begin an episode, and its running values."""
        self._steps, self._mean, self._deviation = 0, 0.0, 0.0
        return super().reset(**options)

    def observation(self, observation: Any) -> NDArray[np.float32]:
        """Return the frame (1, 42, 42)."""
        grey = observation[CROP].astype(np.float32) @ np.ones(3, np.float32)  # 25 times as fast as mean
        small = self._shrink @ grey @ self._shrink.T / np.float32(3 * 255)
        self._steps += 1
        self._mean = FORGETTING * self._mean + (1 - FORGETTING) * float(small.mean())
        self._deviation = FORGETTING * self._deviation + (1 - FORGETTING) * float(small.std())
        weight = 1 - FORGETTING**self._steps  # sum of all frames' weights, which corrects the bias
        normalised: NDArray[np.float32] = (small - np.float32(self._mean / weight)) / np.float32(
            self._deviation / weight + 1e-8
        )
        return normalised[None]


class Colour(gym.ObservationWrapper[NDArray[np.uint8], Any, Any]):
    """A frame shrunk to a square."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0, 255, (COLOUR, COLOUR, 3), np.uint8)

    def observation(self, observation: Any) -> NDArray[np.uint8]:
        """Return the frame (128, 128, 3)."""
        return np.array(Image.fromarray(observation).resize((COLOUR, COLOUR), Image.Resampling.BILINEAR))


def _bilinear(size: int, to: int) -> NDArray[np.float64]:
    """Return the matrix (to, size) that interpolates between the two nearest pixels, as OpenCV's resize."""
    centres = np.clip((np.arange(to) + 0.5) * size / to - 0.5, 0, size - 1)
    lower = np.minimum(centres.astype(int), size - 2)
    matrix = np.zeros((to, size))
    matrix[np.arange(to), lower] = 1 - (centres - lower)
    matrix[np.arange(to), lower + 1] = centres - lower
    return matrix

"""Record one episode of a policy, step by step, for `evaluate --video --frames`."""

import contextlib
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from mpi_es import envs
from mpi_es.config.run import Config
from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.errors import UserError, expected, one_line
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from mpi_es.jit.warm_up import prepare
from mpi_es.parallel.collectives import SerialComm
from mpi_es.policies.base import Attention, Policy

_FPS = 30.0  # frames per second, if the environment does not set it


@dataclass(frozen=True)
class Step:
    """A step of the episode, with all that is drawn and stored."""

    number: int  # the first is 1
    picture: Any  # (height, width, 3) uint8, rendered by the environment before the step
    observation: NDArray[Any]  # that the policy acted on
    attention: Attention | None
    action: Any
    reward: float
    score: float  # sum of rewards, including this step's


class StepRecorder(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps the newest steps of an environment that renders itself.

    Args:
        policy: acts on an observation right before the environment steps.
    """

    def __init__(self, env: Any, policy: Policy) -> None:
        super().__init__(env)
        self.policy = policy
        self.last: Step | None = None
        self.newest: list[Step] = []  # those of the last action

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin the episode."""
        observation, info = self.env.reset(**options)
        self.observation = np.array(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Make a step and keep it."""
        picture = self._draw()
        if not self.newest:
            self.seen = self.observation
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.observation = np.array(observation)
        number, score = (self.last.number, self.last.score) if self.last else (0, 0.0)
        gain = float(reward)
        look = self.policy.look(self.seen)
        self.last = Step(number + 1, picture, self.seen, look, action, gain, score + gain)
        self.newest.append(self.last)
        return observation, reward, terminated, truncated, info

    def _draw(self) -> Any:
        """Return the environment's picture, or the error as text."""
        try:
            return self.env.render()
        except Exception as error:
            return one_line(error)


class _Screening(StaticSource):
    """A source of one episode, whose steps are shown at once."""

    def __init__(self, episode: Episode, recorder: StepRecorder, show: Callable[[Step], None]) -> None:
        super().__init__([episode])
        self.recorder, self.show = recorder, show

    def poll(self) -> None:
        for step in self.recorder.newest:
            self.show(_checked(step))
        self.recorder.newest = []


class Recorder:
    """A policy in an environment that renders itself."""

    def __init__(self, config: Config, policy: Policy) -> None:
        self.batch = SeparateEnvs(lambda: make_env(config))
        self.rollout = EnvRollout(policy, self.batch, 1, config.action_repeat)
        self.env = self.batch.envs[0]
        self.fps = float(self.env.metadata.get("render_fps") or _FPS)

    def record(self, episode: Episode, rules: EpisodeRules, show: Callable[[Step], None]) -> Step:
        """Run the episode as an evaluation does, show each of its steps, and return the last."""
        prepare(SerialComm(), self.rollout.compile)
        recorder = StepRecorder(self.env, self.rollout.policy)
        self.batch.envs[0] = recorder
        with contextlib.closing(recorder):
            self.rollout.run(_Screening(episode, recorder, show), rules)
        assert recorder.last is not None
        return recorder.last


def make_env(config: Config) -> tuple[Any, int]:
    """Return the config's environment, which must render itself, and its step limit."""
    # Nothing is shown on a screen, and without one SDL fails otherwise.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    rule = "an environment that renders rgb_array"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gymnasium warns of a missing render mode, which is an error below
        try:
            env, limit = envs.make(config.env, config.env_options, "rgb_array")
        except UserError as error:
            raise expected("--video and --frames", rule, config.env, str(error)) from error
    if env.render_mode != "rgb_array" or "rgb_array" not in env.metadata.get("render_modes", ()):
        env.close()
        raise expected("--video and --frames", rule, config.env)
    return env, limit


def _checked(step: Step) -> Step:
    """Return the step; refuse one without a valid picture."""
    picture = step.picture
    if isinstance(picture, np.ndarray) and picture.dtype == np.uint8 and picture.shape[2:] == (3,):
        return step
    rule = "a picture (height, width, 3) of bytes from the environment's render"
    if isinstance(picture, np.ndarray):
        raise expected("--video and --frames", rule, f"{picture.dtype} {picture.shape}")
    found = picture if isinstance(picture, str) else type(picture).__name__
    raise expected("--video and --frames", rule, found)

"""Environments that fail in the ways in which a simulator does."""

import ctypes
import os
import signal
import sys

import gymnasium as gym
import numpy as np

from mpi_es.errors import UserError


class Broken(gym.Env):
    """Episodes of six steps; in every seventh, about, the third step fails."""

    observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, fail):
        self.fail = fail

    def reset(self, *, seed=None, options=None):
        self.steps, self.broken = 0, seed % 7 == 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.steps += 1
        reward = self.fail() if self.broken and self.steps == 3 else 1.0
        return np.zeros(2, np.float32), reward, self.steps > 5, False, {}


def _raise():
    raise ValueError("the simulator broke")


def raising():
    return Broken(_raise)


def nan():
    return Broken(lambda: float("nan"))


def leaving():
    sys.exit("set MY_SIM_HOME first")


def exiting():
    return Broken(lambda: sys.exit(3))


class Panic(BaseException):
    """What an environment in Rust raises."""


def _panic():
    raise Panic


def panicking():
    return Broken(_panic)


def lacking():
    if os.environ.get("PMI_RANK") == "1":
        raise UserError("--env: not on rank 1")
    return gym.make("CartPole-v1")


class Late(Broken):
    """Fails in an episode that is not among the first hundred of its process."""

    episodes = 0

    def reset(self, *, seed=None, options=None):
        Late.episodes += 1
        observation, info = super().reset(seed=seed)
        self.broken = Late.episodes > 100
        return observation, info


def late():
    return Late(_raise)


def signalled(rank):
    """A signal comes to a rank in its later episodes, which go on."""
    if os.environ.get("PMI_RANK") != str(rank):
        return Broken(lambda: 1.0)
    return Late(lambda: float(os.kill(os.getpid(), signal.SIGUSR1) is None))


class Hanging(Broken):
    """Hangs in an episode that is not among the first sixty of its process, unless it is told not to."""

    episodes = 0

    def reset(self, *, seed=None, options=None):
        Hanging.episodes += 1
        observation, info = super().reset(seed=seed)
        self.broken = Hanging.episodes > 60 and "NO_HANG" not in os.environ
        return observation, info


def hanging():
    # In C, without giving Python's lock back, as a simulator does.
    return Hanging(lambda: ctypes.PyDLL(None).sleep(1000))


def hanging_on_rank_2():
    return hanging() if os.environ.get("OMPI_COMM_WORLD_RANK") == "2" else Broken(lambda: 1.0)


class _Uneven(Broken):
    """Episodes that are shorter each time."""

    length = 3

    def step(self, action):
        self.length -= 1
        return np.zeros(2, np.float32), 0.0, self.length <= 0, False, {}


def uneven():
    return _Uneven(None)


def breaking():
    env = Broken(_raise)
    return gym.wrappers.TransformReward(_Always(env), float)


class _Always(gym.Wrapper):
    """Fails in the third step of each episode."""

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=7)

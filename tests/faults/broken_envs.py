"""Environments that fail in the ways in which a simulator does."""

import ctypes
import os
import signal
import sys

import gymnasium as gym
import numpy as np

from mpi_es.errors import UserError


class Broken(gym.Env):
    """Episodes of six steps; in the third of some, about every seventh, it fails.

    Args:
        fail: gives the reward of that step.
        breaks: tells of an episode's seed, and its number in this process, whether it is one of them.
    """

    observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)
    episodes = 0

    def __init__(self, fail, breaks=lambda seed, episode: seed % 7 == 0):
        self.fail, self.breaks = fail, breaks

    def reset(self, *, seed=None, options=None):
        Broken.episodes += 1
        self.steps, self.broken = 0, self.breaks(seed, Broken.episodes)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.steps += 1
        reward = self.fail() if self.broken and self.steps == 3 else 1.0
        return np.zeros(2, np.float32), reward, self.steps > 5, False, {}


def _raise():
    raise ValueError("the simulator broke")


def raising():
    return Broken(_raise)


def breaking():
    return Broken(_raise, lambda seed, episode: True)


def late():
    return Broken(_raise, lambda seed, episode: episode > 100)


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


def differing():
    env = Broken(lambda: 1.0)
    if os.environ.get("PMI_RANK") == "1":
        env.observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    return env


def signalled(rank):
    """A signal comes to a rank in its later episodes, which go on."""
    if os.environ.get("PMI_RANK") != str(rank):
        return Broken(lambda: 1.0)
    return Broken(
        lambda: float(os.kill(os.getpid(), signal.SIGUSR1) is None), lambda seed, episode: episode > 100
    )


def _hang():
    ctypes.PyDLL(None).sleep(1000)  # in C, without giving Python's lock back, as a simulator does


def hanging():
    """It hangs in an episode that is not among the first sixty of its process, unless it is told not to."""
    return Broken(_hang, lambda seed, episode: episode > 60 and "NO_HANG" not in os.environ)


def hanging_once():
    """It hangs on one rank that is not the root: whichever is the first to create the file HANG_ONCE."""
    return Broken(_hang, lambda seed, episode: episode > 60 and _is_first())


def _is_first():
    path = os.environ.get("HANG_ONCE")
    if not path or os.environ.get("OMPI_COMM_WORLD_RANK") == "0":
        return False
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


class _Uneven(Broken):
    """Episodes that are shorter each time."""

    length = 3

    def step(self, action):
        self.length -= 1
        return np.zeros(2, np.float32), 0.0, self.length <= 0, False, {}


def uneven():
    return _Uneven(None)

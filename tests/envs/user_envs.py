"""Environments as a user writes them, for the tests. Importing this registers one."""

import gymnasium as gym
import numpy as np
from gymnasium.envs.box2d import BipedalWalker

gym.register(
    "tests/Repeated-v0",
    "gymnasium.envs.classic_control.cartpole:CartPoleEnv",
    max_episode_steps=77,
    additional_wrappers=(gym.wrappers.ClipReward.wrapper_spec(max_reward=0.5),),
)


def make():
    return gym.make("CartPole-v1", max_episode_steps=5)


def make_rendered(render_mode=None):
    return gym.make("CartPole-v1", render_mode=render_mode)


def make_blind(render_mode=None):
    return gym.make("CartPole-v1")


class Screenless(gym.Wrapper):
    def render(self):
        raise OSError("no graphics\ncard")


def make_screenless(render_mode=None):
    return Screenless(gym.make("CartPole-v1", render_mode=render_mode))


def make_nothing():
    return 7


def make_without_spaces():
    return gym.Env()


class Raising(gym.Env):
    @property
    def observation_space(self):
        raise RuntimeError("no space yet")


def make_with(size):
    return size


not_a_function = 3


def choosy(**options):
    raise ValueError(f"not with {options}")


class Endless(gym.Env):
    """Episodes that nothing ends."""

    observation_space = gym.spaces.Box(-1, 1, (1,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), 0.0, False, False, {}


def make_unwrapped():
    return gym.make("CartPole-v1").unwrapped


def make_capped():
    return gym.wrappers.TransformReward(gym.wrappers.TimeLimit(Endless(), 9), float)


def make_specified():
    env = Endless()
    env.spec = gym.envs.registration.EnvSpec("own/Counting-v0", max_episode_steps=9)
    return env


class Unseeded(gym.Wrapper):
    """Rewards that no seed decides."""

    def step(self, action):
        observation, _, *rest = self.env.step(action)
        self.count = getattr(self, "count", 0) + 1  # goes on over episodes
        return observation, float(self.count), *rest


def make_unseeded():
    return Unseeded(gym.make("CartPole-v1"))


class Undefined(gym.ObservationWrapper):
    """Divides by zero where the pole stands straight."""

    def observation(self, observation):
        return np.where(np.abs(observation) < 0.01, np.nan, observation)


def make_undefined():
    return Undefined(make())


class Counted(gym.Wrapper):
    """Notes in a file that it was made, and that it was closed; may raise in a step, or at its close."""

    def __init__(self, log, fails=0, stuck=0):
        super().__init__(gym.make("CartPole-v1"))
        self.log, self.fails, self.stuck = log, fails, stuck
        self.note("made")

    def note(self, word):
        with open(self.log, "a") as file:
            file.write(f"{word}\n")

    def step(self, action):
        if self.fails:
            raise ValueError("broken")
        return self.env.step(action)

    def close(self):
        self.note("closed")
        if self.stuck:
            raise OSError("stuck")


def make_with_any(**options):
    return gym.make("CartPole-v1", **options)


class Walker(BipedalWalker):
    """A subclass of gymnasium's."""

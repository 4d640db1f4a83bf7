"""Environments as a user writes them, for the tests. Importing this registers one."""

import gymnasium as gym

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


def make_with(size):
    return size


not_a_function = 3


def choosy(**options):
    raise ValueError(f"not with {options}")

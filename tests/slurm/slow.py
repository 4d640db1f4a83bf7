"""An environment slow enough for a blow to come in time, and whose runs are short all the same."""

import time

import gymnasium as gym


class Slow(gym.Wrapper):
    def reset(self, **options):
        time.sleep(0.02)
        return super().reset(**options)


def make():
    return Slow(gym.make("CartPole-v1", max_episode_steps=20))

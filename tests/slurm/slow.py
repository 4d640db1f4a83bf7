"""An environment slow enough for a blow to come in time, and whose runs are short all the same."""

import time

import gymnasium as gym


class Slow(gym.Wrapper):
    def __init__(self, env, pause):
        super().__init__(env)
        self.pause = pause

    def reset(self, **options):
        time.sleep(self.pause)
        return super().reset(**options)


def make(pause=0.02):
    return Slow(gym.make("CartPole-v1", max_episode_steps=20), pause)

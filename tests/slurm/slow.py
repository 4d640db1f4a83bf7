"""Environments: one so slow that a blow comes in time in a run of seconds, and one that ends its process."""

import os
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


class Leaving(gym.Wrapper):
    def step(self, action):
        os._exit(0)


def leaving():
    return Leaving(gym.make("CartPole-v1"))

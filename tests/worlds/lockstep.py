"""What a vector that skips frames is compared with."""

import gymnasium as gym


class Repeat(gym.Wrapper):
    """Repeats an action and adds the rewards."""

    def __init__(self, env, times):
        super().__init__(env)
        self.times = times

    def step(self, action):
        total = 0.0
        for _ in range(self.times):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info

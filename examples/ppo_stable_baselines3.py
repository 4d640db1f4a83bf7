"""PPO of Stable-Baselines3 on CarRacing: all cars are stepped in one call of compiled code.

It needs Stable-Baselines3 (pip install 'mpi_es[pbt]'). From this folder:

    python ppo_stable_baselines3.py --steps 200000 --cars 8
"""

import argparse

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecFrameStack, VecMonitor

import mpi_es  # noqa: F401  (registers the environment)


class Cars(VecEnv):
    """The cars as Stable-Baselines3 wants them: grey pictures (48, 48, 1), an action lasts four steps."""

    def __init__(self, count, seed, threads=1):
        options = {"frame_skip": 4, "continuous": False, "autoreset_mode": "SameStep"}
        self.cars = gym.make_vec("mpi_es/CarRacing-v3", num_envs=count, threads=threads, **options)
        self.first_seed = seed
        super().__init__(count, gym.spaces.Box(0, 255, (48, 48, 1), np.uint8), self.cars.single_action_space)

    def reset(self):
        observations, _ = self.cars.reset(seed=self.first_seed)
        self.first_seed = None  # the next reset begins other tracks
        return small(observations)

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        observations, rewards, terminated, truncated, infos = self.cars.step(self.actions)
        over = terminated | truncated
        each: list[dict[str, object]] = [{} for _ in range(self.num_envs)]
        for car in np.flatnonzero(over):
            last = small(infos["final_obs"][car][None])[0]
            cut = bool(truncated[car] and not terminated[car])
            each[car] = {"terminal_observation": last, "TimeLimit.truncated": cut}
        return small(observations), rewards.astype(np.float32), over, each

    def close(self):
        self.cars.close()

    def get_attr(self, name, indices=None):
        if name != "render_mode":
            raise AttributeError(f"{name}: expected render_mode, which is all that the cars tell")
        return [None for _ in self._get_indices(indices)]

    def set_attr(self, name, value, indices=None):
        raise AttributeError(f"{name}: the cars are read-only")

    def env_method(self, name, *arguments, indices=None, **options):
        raise AttributeError(f"{name}: expected a call of the vector")

    def env_is_wrapped(self, wrapper, indices=None):
        return [False for _ in self._get_indices(indices)]


def small(pictures):
    """Return pictures (n, 96, 96, 3) in grey, with half the rows and columns."""
    return pictures[:, ::2, ::2].mean(axis=3, keepdims=True).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000, help="actions of all cars together")
    parser.add_argument("--cars", type=int, default=8)
    parser.add_argument("--rollout", type=int, default=256, help="actions of a car between two updates")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cars = VecFrameStack(VecMonitor(Cars(options.cars, options.seed)), n_stack=4)
    model = PPO(
        "CnnPolicy",
        cars,
        n_steps=options.rollout,
        batch_size=256,
        n_epochs=4,
        learning_rate=3e-4,
        ent_coef=0.01,
        seed=options.seed,
        device="cpu",
        verbose=1,
    )
    model.learn(options.steps, log_interval=4)
    model.save("ppo_car_racing")


if __name__ == "__main__":
    main()

"""A member that trains with Stable-Baselines3: PPO, A2C, SAC, TD3, DDPG, DQN, and those of sb3_contrib.

Each generation begins with new environments and all generators seeded, so that nothing lasts but the state.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from mpi_es import envs
from mpi_es.errors import UserError, expected
from mpi_es.plugins import one_line
from mpi_es.signals import Stopped
from pbt.config import Config
from pbt.explore import Hyperparameter
from pbt.members import sb3_settings, sb3_state
from pbt.members.base import Diverged, Member, Score, Values
from pbt.states import State

_HALF = 2**30  # training's half of the episode seeds (mpi_es.seeds)
_BESIDE = 16  # episodes that are scored side by side: one call of the policy serves them all


class SB3(Member):
    """An algorithm of Stable-Baselines3 with its environments."""

    def __init__(self, config: Config, index: int, *place: Any) -> None:
        super().__init__(config, index, *place)
        import torch
        from stable_baselines3.common.logger import Logger

        torch.set_num_threads(1)  # a rank is a core; and sums do not depend on how many there are
        self._values: Values = {}
        self.normalizer: Any = None
        environments = self._environments()
        options = _options(config)
        policy = options.pop("policy", _policy(environments.observation_space))
        make = sb3_settings.find(config.algorithm)
        seed = int(self.draw().integers(_HALF))
        try:
            self.model = make(policy, environments, seed=seed, device="cpu", **options)
        except (TypeError, ValueError, AssertionError) as error:
            raise UserError(
                f"--member-options: {config.algorithm} refuses them: {one_line(error)}"
            ) from error
        self.model.set_logger(Logger(None, []))
        environments.close()

    @classmethod
    def declared(cls, config: Config) -> Sequence[Hyperparameter]:
        """Return what the algorithm has; refuse options and environments that it cannot take."""
        sb3_settings.check_options(config.algorithm, _options(config))
        env, _ = envs.make(config.env, config.env_options)
        env.close()
        if not isinstance(env.observation_space, gym.spaces.Box | gym.spaces.Discrete):
            raise expected("--env", "one that observes a Box or a Discrete", config.env)
        return sb3_settings.declared(config.algorithm)

    @property
    def hyperparameters(self) -> Values:
        """The values that are tuned."""
        return self._values

    @hyperparameters.setter
    def hyperparameters(self, values: Values) -> None:
        self._values = dict(values)
        sb3_settings.apply(self.model, self._values)

    def train(self, steps: int) -> None:
        """Learn for so many steps of all environments, rounded up to whole rollouts."""
        environments = self._environments()
        self.model.set_env(environments)  # it resets them when it learns
        sb3_settings.apply(self.model, self._values)  # to the new normaliser too
        self.model.set_random_seed(int(self.draw().integers(_HALF)))
        try:
            self.model.learn(steps, callback=lambda *scope: not self.stop, reset_num_timesteps=False)
        except ValueError as error:  # torch's distributions refuse parameters that are no numbers
            if self._finite():
                raise
            raise Diverged from error
        finally:
            environments.close()
        if self.stop:
            raise Stopped
        if not self._finite():
            raise Diverged

    def score(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return how the policy does without exploring."""
        seeds = episode_seeds.tolist()
        parts = [self._episodes(seeds[begin : begin + _BESIDE]) for begin in range(0, len(seeds), _BESIDE)]
        returns, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Score(returns, lengths)

    def get_state(self) -> State:
        """Return weights, optimisers, counters, statistics and the replay buffer's filled part."""
        return sb3_state.read(self.model, self.normalizer)

    def set_state(self, state: State) -> None:
        """Go on from a state."""
        sb3_state.write(self.model, self.normalizer, state)

    def _environments(self) -> Any:
        """Return new environments, normalised by the statistics so far."""
        from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

        config = self.config
        environments: Any = DummyVecEnv([self._environment] * config.num_envs)
        if config.obs_norm or config.reward_norm:
            before = self.normalizer
            environments = VecNormalize(
                environments, norm_obs=config.obs_norm, norm_reward=config.reward_norm
            )
            for name in ("obs_rms", "ret_rms"):
                if hasattr(before, name):
                    setattr(environments, name, getattr(before, name))
            self.normalizer = environments
        return environments

    def _environment(self) -> Any:
        env, limit = envs.make(self.config.env, self.config.env_options)
        return gym.wrappers.TimeLimit(env, limit) if limit else env

    def _finite(self) -> bool:
        """Tell whether all weights are numbers."""
        return all(bool(weight.isfinite().all()) for weight in self.model.policy.parameters())

    def _episodes(self, seeds: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return returns and lengths (episodes,), played side by side."""
        environments = [self._environment() for _ in seeds]
        pairs = zip(environments, seeds, strict=True)
        observations = np.stack([env.reset(seed=seed)[0] for env, seed in pairs])
        returns, lengths = np.zeros(len(seeds)), np.zeros(len(seeds))
        running, starts, memory = set(range(len(seeds))), np.ones(len(seeds), bool), None
        while running:
            actions, memory = self.model.predict(self._seen(observations), memory, starts, deterministic=True)
            starts = np.zeros(len(seeds), bool)
            for place in sorted(running):
                observation, reward, over, cut, _ = environments[place].step(actions[place])
                observations[place] = observation
                returns[place] += float(reward)
                lengths[place] += 1
                if over or cut:
                    running.discard(place)
        for env in environments:
            env.close()
        return returns, lengths

    def _seen(self, observations: NDArray[Any]) -> NDArray[Any]:
        if not self.config.obs_norm:
            return observations
        normalized: NDArray[Any] = self.normalizer.normalize_obs(observations)
        return normalized


def _options(config: Config) -> dict[str, Any]:
    return envs.parsed(config.member_options, "--member-options")


def _policy(space: Any) -> str:
    """Return SB3's name of the network that suits what is observed."""
    return "CnnPolicy" if len(space.shape or ()) == 3 else "MlpPolicy"

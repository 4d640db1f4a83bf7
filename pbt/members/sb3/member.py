"""A member that trains with Stable-Baselines3: PPO, A2C, SAC, TD3, DDPG, DQN, and those of sb3_contrib.

Each generation begins with new environments and newly seeded generators, so that only the state is kept.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from mpi_es import envs
from mpi_es.config import user_objects
from mpi_es.config.run import Config as RunConfig
from mpi_es.envs.lockstep.base import EnvBatch, EpisodeFailed
from mpi_es.errors import UserError, expected, one_line
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.stop_signal import Stopped
from mpi_es.seeds import FIRST_HELD_OUT_SEED
from pbt.config import Config
from pbt.explore import Hyperparameter
from pbt.members.base import Diverged, Member, Player, Score, Values
from pbt.members.sb3 import environments, settings
from pbt.members.sb3 import state as sb3_state
from pbt.members.sb3.policy import ModelPolicy
from pbt.packing import State

_NO_DISTRIBUTION = re.compile(r"Expected (parameter|value) .* distribution ", re.DOTALL)
_TOGETHER = 16  # episodes of a score that are played together, with one policy call for all of them


class SB3(Member):
    """An algorithm of Stable-Baselines3 with its environments."""

    options: ClassVar[Mapping[str, Sequence[str]]] = {
        "exploration": ["exploration_fraction", "exploration_initial_eps", "exploration_final_eps"]
    }

    def __init__(self, config: Config, index: int, *arguments: Any) -> None:
        super().__init__(config, index, *arguments)
        import torch
        from stable_baselines3.common.logger import Logger

        torch.set_num_threads(1)  # a rank is one core, and sums must not depend on the number of cores
        self._values: Values = {}
        self.normalizer: Any = None
        environments = self._environments()
        options = _options(config)
        if "action_noise" in options:
            options["action_noise"] = settings.noise(environments.action_space, options["action_noise"])
        make = settings.find(config.algorithm)
        policy = options.pop("policy", _policy(make, environments.observation_space))
        seed = int(self.rng().integers(FIRST_HELD_OUT_SEED))
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
        """Return the algorithm's hyperparameters; refuse unsupported options and environments."""
        settings.check_options(config.algorithm, _options(config))
        trained = envs.spaces(config.env, config.env_options)
        if not isinstance(trained[0], gym.spaces.Box | gym.spaces.Discrete):
            raise expected("--env", "one with observations in a Box or Discrete", config.env)
        if config.obs_norm and not isinstance(trained[0], gym.spaces.Box):
            raise expected("--env", "one with observations in a Box, for --obs-norm", config.env)
        with envs.held_out():
            held_out = envs.spaces(config.env, _held_out_options(config))
        if held_out != trained:
            raise expected("--held-out-env-options", f"the spaces {trained}", held_out)
        return settings.declared(config.algorithm)

    @property
    def hyperparameters(self) -> Values:
        """The values of the tuned hyperparameters."""
        return self._values

    @hyperparameters.setter
    def hyperparameters(self, values: Values) -> None:
        self._values = dict(values)
        settings.apply(self.model, self._values)

    def in_effect(self) -> Values:
        """Return the values that the optimisers, schedules, buffers and model hold after their updates."""
        return {name: settings.read(self.model, name, value) for name, value in self._values.items()}

    def train(self, steps: int) -> None:
        """Train for this number of steps of all environments together, rounded up to whole rollouts."""
        environments = self._environments()
        self.model.set_env(environments)  # learn() resets them
        settings.apply(self.model, self._values)  # also to the new normaliser
        self.model.set_random_seed(int(self.rng().integers(FIRST_HELD_OUT_SEED)))
        try:
            with self._divergence(), self._stoppable():
                self.model.learn(steps, callback=lambda *scope: not self.stop, reset_num_timesteps=False)
        finally:
            environments.close()
        if self.stop:
            raise Stopped
        if not self._finite():
            raise Diverged
        sb3_state.end_episodes(self.model)  # the next generation begins new ones

    @classmethod
    def compile(cls, config: Config) -> None:
        """Compile the simulator, if it is one that numba compiles."""
        with closing(envs.open_batch(config.env, config.env_options)) as batch:
            batch.compile()

    def score(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return the score of the policy with deterministic actions."""
        return self._score(self.config.env_options, episode_seeds, 1)

    def evaluate(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return the score in the held-out environment;
        an episode does not depend on the number of episodes.
        """
        return self._score(_held_out_options(self.config), episode_seeds, _TOGETHER)

    def _score(self, options: Sequence[str], episode_seeds: NDArray[np.int64], rows: int) -> Score:
        """Return the score.

        Args:
            rows: the minimum batch size of the policy: torch may round a row differently in another batch
                size.
        """
        seeds = episode_seeds.tolist()
        groups = [seeds[begin : begin + _TOGETHER] for begin in range(0, len(seeds), _TOGETHER)]
        with self._divergence():
            parts = [self._episodes(options, group, max(rows, len(group))) for group in groups]
        returns, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Score(returns, lengths)

    def player(self) -> Player:
        """Return the model as a policy of mpi_es, without copying its weights."""
        config = RunConfig(env=self.config.env, env_options=_held_out_options(self.config))
        return Player(
            config, ModelPolicy(self.model, self._normalized), np.zeros(0, np.float32), EpisodeRules()
        )

    def get_state(self) -> State:
        """Return weights, optimisers, counters, statistics and the filled part of the replay buffer."""
        return sb3_state.read(self.model, self.normalizer)

    def set_state(self, state: State) -> None:
        """Continue from a state."""
        sb3_state.write(self.model, self.normalizer, state)

    def _environments(self) -> Any:
        """Return new environments, normalised with the current statistics."""
        from stable_baselines3.common.vec_env import VecNormalize

        config = self.config
        made: Any = environments.vectorised(config.env, config.env_options, config.num_envs)
        if config.obs_norm or config.reward_norm:
            before = self.normalizer
            made = VecNormalize(made, norm_obs=config.obs_norm, norm_reward=config.reward_norm)
            for name in ("obs_rms", "ret_rms"):
                if hasattr(before, name):
                    setattr(made, name, getattr(before, name))
            self.normalizer = made
        return made

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Also check for a signal before each optimiser step: updates after a rollout may take minutes."""

        def check(*_: Any) -> None:
            if self.stop:
                raise Stopped

        hooks = [one.register_step_pre_hook(check) for _, one in sb3_state.optimizers(self.model)]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    @contextmanager
    def _divergence(self) -> Iterator[None]:
        """Raise Diverged for an error that comes from weights or outputs that are not finite."""
        try:
            yield
        except Stopped:
            raise
        except Exception as error:
            if self._finite() and not _NO_DISTRIBUTION.match(str(error)):
                raise
            raise Diverged from error

    def _finite(self) -> bool:
        """Return whether all weights and statistics of the network are finite."""
        return all(bool(weight.isfinite().all()) for weight in self.model.policy.state_dict().values())

    def _episodes(
        self, options: Sequence[str], seeds: Sequence[int], rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return returns and lengths (episodes,) of episodes that are stepped together."""
        try:
            with closing(envs.open_batch(self.config.env, options, len(seeds))) as batch:
                return self._play(batch, seeds, rows)
        except EpisodeFailed as failed:
            raise failed.__cause__ or failed from None

    def _play(
        self, batch: EnvBatch, seeds: Sequence[int], rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return returns and lengths of episodes in these environments."""
        k = len(seeds)
        places, observations = batch.begin(seeds)
        padded = np.zeros((rows, *observations.shape[1:]), observations.dtype)
        padded[:k] = observations
        returns, lengths = np.zeros(k), np.zeros(k)
        running, starts, memory = np.ones(k, bool), np.ones(rows, bool), None
        while running.any() and not self.stop:
            seen = self._normalized(padded)
            actions, memory = self.model.predict(seen, memory, starts, deterministic=True)
            starts = np.zeros(rows, bool)
            on = np.flatnonzero(running)
            padded[on], rewards, over = batch.step(places[on], actions[on])
            returns[on] += rewards
            lengths[on] += 1
            running[on[over | (lengths[on] == (batch.limit or math.inf))]] = False
        if self.stop:
            raise Stopped
        return returns, lengths

    def _normalized(self, observations: NDArray[Any]) -> NDArray[Any]:
        if not self.config.obs_norm:
            return observations
        normalized: NDArray[Any] = self.normalizer.normalize_obs(observations)
        return normalized


def _options(config: Config) -> dict[str, Any]:
    """Return the algorithm's arguments; classes of the network are named as package.module:Class."""
    options = user_objects.parsed(config.member_options, "--member-options")
    if isinstance(options.get("policy_kwargs"), dict):
        options["policy_kwargs"] = {
            name: user_objects.load("--member-options policy_kwargs", value)
            if isinstance(value, str) and ":" in value
            else value
            for name, value in options["policy_kwargs"].items()
        }
    return options


def _held_out_options(config: Config) -> tuple[str, ...]:
    return config.held_out_env_options or config.env_options


def _policy(algorithm: Any, space: Any) -> str:
    """Return SB3's name of the algorithm's network for an observation space, such as MlpLstmPolicy."""
    from stable_baselines3.common.preprocessing import is_image_space

    kind = "Cnn" if is_image_space(space) else "Mlp"
    return next((name for name in algorithm.policy_aliases if name.startswith(kind)), f"{kind}Policy")

"""Experiment 2 of the attention agent: CarRacing as seen through a trained agent's attention.

`--env pbt.papers.centres:make --env-options base_from_pretrained=AGENT`
"""

from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es import envs
from mpi_es.agents import load
from mpi_es.agents.agent import Agent
from mpi_es.config.presets import preset
from mpi_es.errors import expected
from mpi_es.policies.attention_compiled.policy import AttentionPolicy

_OPTION = "--env-options base_from_pretrained"


class Centres(gym.ObservationWrapper[NDArray[np.float32], Any, NDArray[np.uint8]]):
    """Observes the centres (2 * top_k,) of the most important patches, in units of the picture's size."""

    def __init__(self, env: Any, agent: Agent) -> None:
        super().__init__(env)
        policy = agent.policy
        if not isinstance(policy, AttentionPolicy):
            raise expected(_OPTION, "an attention agent with the paper's patches", agent.config.policy.name)
        self.observation_space = spaces.Box(0, 1, (2 * policy.options.top_k,), np.float32)
        self.policy, self.weights = policy, policy.unpack(agent.parameters[None])
        self.memory = policy.initial_memory(1)

    def observation(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the input of the agent's controller."""
        self.policy.outputs(self.weights, observation[None], self.memory)
        return self.policy.scratch.activations.features.copy()


class Decisions(gym.Wrapper[Any, NDArray[np.float32], Any, NDArray[np.float32]]):
    """Repeats each action for some steps; an action is steering and a pedal, gas above zero and brake below.

    With two pedals, a policy that samples its actions brakes and accelerates at once, and hardly moves.
    """

    def __init__(self, env: Any, steps: int) -> None:
        super().__init__(env)
        self.steps = steps
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def step(self, action: NDArray[np.float32]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Repeat an action; return the last observation and the sum of the rewards."""
        steering, pedal = np.clip(action, -1, 1)
        controls = np.array([steering, max(pedal, 0), max(-pedal, 0)], np.float32)
        total = 0.0
        for _ in range(self.steps):
            observation, reward, ended, truncated, facts = self.env.step(controls)
            total += float(reward)
            if ended or truncated:
                break
        return observation, total, ended, truncated, facts


def make(
    base_from_pretrained: str = "",
    picture: str = "close",
    variant: str = "plain",
    steps_of_action: int = 4,
    frames: int = 4,
) -> Any:
    """Return an environment with episodes of 1000 steps and two actions in [-1, 1].

    Args:
        base_from_pretrained: a run or an npz file of an attention agent; bare parameters are in torch's
            order.
        picture: an option of mpi_es/CarRacing-v3.
        variant: an option of mpi_es/CarRacing-v3.
        steps_of_action: number of steps for which an action is repeated.
        frames: number of last observations that are stacked.
    """
    if not base_from_pretrained:
        raise expected(_OPTION, "a run or an npz file with an attention agent", "nothing")
    env, limit = envs.make("mpi_es/CarRacing-v3", (f"picture={picture}", f"variant={variant}"))
    driven = Decisions(gym.wrappers.TimeLimit(env, limit), steps_of_action)
    seen = gym.wrappers.FrameStackObservation(Centres(driven, _agent(base_from_pretrained)), frames)
    return gym.wrappers.FlattenObservation(seen)


@lru_cache(1)
def _agent(name: str) -> Agent:
    """Return the agent, read once for all environments.

    A file that names code is refused, since the file's name may come from an untrusted run file.
    """
    return load.load(name, preset("carracing"), _OPTION, load.Place(allow_imports=False))
